#include "storage/base/files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "tests/support/scratch.hpp"

using namespace nightjar;
using runner::Scratch;
using runner::slurp;
using runner::spit;
namespace fs = std::filesystem;

namespace {

// Bare names belong to the folder that this process is in.
struct InFolder {
  explicit InFolder(const fs::path& folder) : before(fs::current_path()) {
    fs::current_path(folder);
  }
  ~InFolder() { fs::current_path(before); }
  fs::path before;
};

}  // namespace

TEST_CASE("A file is written durably under a bare name too") {
  const Scratch scratch;
  const InFolder inside(scratch.path());
  write_durably("before.json", "{}");
  CHECK(slurp("before.json") == "{}");
  CHECK_FALSE(fs::exists("before.json.part"));
}

TEST_CASE("A file and a folder are closed to others, and what is not there is closed") {
  const Scratch folder;
  const fs::path file = folder / "file";
  write_durably(file, "");
  for (const auto& path : {file, folder.path()}) {
    fs::permissions(path, fs::perms::owner_all | fs::perms::group_read | fs::perms::others_read);
    CHECK(close_to_others(path));
    CHECK(fs::status(path).permissions() == (fs::perms::owner_all | fs::perms::group_read));
  }
  CHECK(close_to_others(folder / "absent"));
}

TEST_CASE("An output that can be written has no problem, and asking writes nothing") {
  const Scratch scratch;
  const InFolder inside(scratch.path());
  spit(scratch / "old.json", "old");
  fs::create_symlink("old.json", "link.json");
  fs::create_symlink("made-later.json", "loose.json");
  for (const char* path :
       {"new.json", "./new.json", "old.json", "link.json", "loose.json", "/dev/null"}) {
    INFO(path);
    CHECK(output_problem(path) == "");
  }
  CHECK(output_problem(scratch / "new.json") == "");
  CHECK_FALSE(fs::exists("new.json"));
  CHECK(slurp("old.json") == "old");
}

TEST_CASE("An output that cannot be written is named with what to do") {
  const Scratch scratch;
  const InFolder inside(scratch.path());
  spit(scratch / "file", "");
  const auto says = [](const fs::path& path, const std::string& words) {
    INFO(path << ": " << output_problem(path));
    CHECK(output_problem(path).find("cannot write " + path.string() + ": ") == 0);
    CHECK(output_problem(path).find(words) != std::string::npos);
  };
  says("absent/new.json", "there is no folder absent; make it first");
  says(".", "it is a folder; name a file");
  says(scratch.path(), "it is a folder; name a file");
  says("absent/", "it names no file");
  says("file/new.json", "is no folder");
  if (::geteuid() == 0) return;  // root may write anywhere
  fs::permissions("file", fs::perms::owner_read);
  says("file", "may not be written");
  fs::create_directory("sealed");
  fs::permissions("sealed", fs::perms::owner_read | fs::perms::owner_exec);
  says("sealed/new.json", "nothing may be written in");
}

TEST_CASE("Writing an output keeps a link and what is no regular file") {
  const Scratch scratch;
  const InFolder inside(scratch.path());
  spit(scratch / "old.json", "old");
  fs::create_symlink("old.json", "link.json");
  write_output("link.json", "new");
  CHECK(fs::is_symlink("link.json"));
  CHECK(slurp("old.json") == "new");
  REQUIRE(::mkfifo("pipe", 0600) == 0);
  const int reader = ::open("pipe", O_RDONLY | O_NONBLOCK);
  write_output("pipe", "through it");
  char text[32] = {};
  CHECK(::read(reader, text, sizeof text) == 10);
  ::close(reader);
  CHECK(fs::is_fifo("pipe"));
}
