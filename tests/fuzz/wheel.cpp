// A wheel as the service looks into it and as an agent unpacks it.
#include "service/builds/wheel.hpp"

#include <fstream>

#include "runner/build/unpack.hpp"
#include "tests/fuzz/targets.hpp"
#include "tests/support/scratch.hpp"

namespace nightjar::fuzz {
namespace fs = std::filesystem;
namespace {

void look_inside(const fs::path& file) {
  try {
    require(!service::read_wheel(file).metadata_version.empty(), "a wheel has no version");
  } catch (const service::BadWheel&) {
  }
}

std::size_t files_below(const fs::path& folder) {
  std::size_t count = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    require(!entry.is_symlink(), "a wheel makes a link");
    count += entry.is_regular_file();
  }
  return count;
}

// Throws BrokenArchive.
void unpack(const runner::Scratch& scratch, const fs::path& file) {
  const fs::path to = scratch / "unpacked";
  fs::create_directory(to);
  const Contents contents = runner::unpack_wheel(file, to);
  require(files_below(to) == contents.size(), "not every file of a wheel is known");
  std::vector<runner::Member> members;
  for (const auto& [path, content] : contents) {
    require(fs::file_size(to / path) == static_cast<std::uintmax_t>(content.bytes),
            "a file of a wheel has another size");
    members.push_back({"x.data/purelib/" + path, runner::slurp(to / path), ""});
  }
  runner::write_archive(file, true, members);
  fs::create_directory(scratch / "again");
  const Contents again = runner::unpack_wheel(file, scratch / "again");
  require(std::equal(contents.begin(), contents.end(), again.begin(), again.end(),
                     [](const auto& a, const auto& b) {
                       return a.first == b.first && a.second.sha256 == b.second.sha256;
                     }),
          "a wheel changes when it is written");
}

}  // namespace

void wheel(std::string_view input) {
  const runner::Scratch scratch;
  const fs::path file = scratch / "torch.whl";
  std::ofstream(file, std::ios::binary) << input;
  look_inside(file);
  try {
    unpack(scratch, file);
  } catch (const runner::BrokenArchive&) {
  }
  require(std::distance(fs::directory_iterator(scratch.path()), {}) <= 3,
          "a wheel leaves its folder");
}

}  // namespace nightjar::fuzz
