#include "service/cli/result_file.hpp"

#include <algorithm>
#include <stdexcept>
#include <system_error>

#include "service/cli/failure.hpp"
#include "storage/base/files.hpp"

namespace nightjar::cli {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t most_result_bytes = std::size_t{256} << 20;

bool lies_below(const fs::path& folder, const fs::path& inner) {
  const auto relative = inner.lexically_relative(folder);
  return !relative.empty() && *relative.begin() != ".." && *relative.begin() != ".";
}

bool is_of_this_run(const fs::path& path) {
  const std::string folder = path.parent_path().filename().string();
  if (folder == "base" || folder == "change") return false;
  return path.filename() != "estimates.json" || !fs::exists(path.parent_path() / "sample.json");
}

ResultText text_of(const fs::path& path) {
  if (!fs::is_regular_file(path)) throw std::runtime_error("is no regular file");
  auto text = read_file(path, most_result_bytes);
  if (!text) throw std::runtime_error("cannot be read, or is over 256 MiB");
  return {path, std::move(*text)};
}

}  // namespace

void require_result_place(const fs::path& file) {
  const std::string attempt =
      "cannot read the measure's numbers from --measure-file " + file.string() + ": ";
  std::error_code ignored;
  if (file.is_absolute()) {
    if (fs::exists(fs::symlink_status(file, ignored)))
      throw BadInput(attempt +
                     "it exists already, and every run replaces it; remove it, or name a file in "
                     "the work tree by a relative path");
    return;
  }
  const fs::path name = file.lexically_normal();
  if (name.empty() || name == "." || *name.begin() == ".." || *name.begin() == ".git")
    throw BadInput(attempt + "a relative path must lead to a file in the commit's work tree");
}

void remove_result(const fs::path& file, const fs::path& tree) {
  const fs::path path = tree / file;
  std::error_code error;
  const fs::path parent = fs::weakly_canonical(path.lexically_normal().parent_path(), error);
  if (file.is_relative() && parent != tree && !lies_below(tree, parent))
    throw Broken("cannot measure: --measure-file " + file.string() +
                 " leads out of the work tree, "
                 "to " +
                 parent.string() + "; name that place by its absolute path");
  fs::remove_all(path, error);
  if (error || fs::exists(fs::symlink_status(path)))
    throw Broken("cannot remove what an earlier run left in " + path.string() + ": " +
                 (error ? error.message() : "it is still there"));
}

std::vector<ResultText> read_result(const fs::path& file, const fs::path& tree) {
  const fs::path path = tree / file;
  if (!fs::exists(path)) return {};
  if (!fs::is_directory(path)) return {text_of(path)};
  std::vector<fs::path> found;
  for (const auto& entry : fs::recursive_directory_iterator(path))
    if (entry.is_regular_file() && entry.path().extension() == ".json" &&
        is_of_this_run(entry.path()))
      found.push_back(entry.path());
  std::sort(found.begin(), found.end());
  std::vector<ResultText> texts;
  for (const fs::path& one : found) texts.push_back(text_of(one));
  return texts;
}

}  // namespace nightjar::cli
