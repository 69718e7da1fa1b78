#include "storage/base/file_lock.hpp"

#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <system_error>

#include <catch2/catch.hpp>

#include "storage/base/files.hpp"
#include "tests/support/scratch.hpp"

using namespace nightjar;
namespace fs = std::filesystem;

TEST_CASE("a lock is a plain file of one name, and nothing that somebody else put there") {
  const nightjar::runner::Scratch scratch;
  const fs::path victim = scratch / "victim", lock = scratch / "lock";
  std::ofstream(victim) << "precious";
  SECTION("a symbolic link") {
    fs::create_symlink(victim, lock);
  }
  SECTION("a hard link") {
    fs::create_hard_link(victim, lock);
  }
  SECTION("a pipe") {
    REQUIRE(::mkfifo(lock.c_str(), 0666) == 0);
  }
  SECTION("a folder") {
    fs::create_directory(lock);
  }
  CHECK_THROWS_AS(FileLock(lock), std::system_error);
  CHECK(read_file(victim) == "precious");
}
