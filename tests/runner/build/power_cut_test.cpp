// What a power cut leaves of environments, at each step of making them.
#include <cstdio>
#include <fcntl.h>
#include <map>
#include <optional>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "runner/build/environments.hpp"
#include "runner/build/marker.hpp"
#include "runner/build/native_cache.hpp"
#include "tests/runner/wheel.hpp"

using namespace nightjar;
using namespace nightjar::runner;
namespace fs = std::filesystem;

namespace {

// A disk whose power may be cut. While it lives, it is told of each sync and each renaming in this
// program, and keeps what a cut would leave then. Names are on the disk at once, bytes once they
// were synced: until then a file is there and empty, as a journal of names alone has it.
class CutDisk {
 public:
  CutDisk(fs::path folder, fs::path cuts) : folder_(std::move(folder)), cuts_(std::move(cuts)) {
    running = this;
  }
  ~CutDisk() { running = nullptr; }
  CutDisk(const CutDisk&) = delete;
  CutDisk& operator=(const CutDisk&) = delete;

  void file_synced(int file) {
    if (const auto what = stamp_of("/proc/self/fd/" + std::to_string(file)))
      synced_[what->first] = what->second;
    cut();
  }
  void all_synced() {
    for (const auto& entry : fs::recursive_directory_iterator(folder_))
      if (const auto what = stamp_of(entry.path())) synced_[what->first] = what->second;
    cut();
  }
  // Keeps what the disk has now.
  void cut() {
    const fs::path copy = cuts_ / std::to_string(count_++);
    fs::create_directories(copy);
    for (const auto& entry : fs::recursive_directory_iterator(folder_)) {
      const fs::path to = copy / entry.path().lexically_relative(folder_);
      if (entry.is_directory())
        fs::create_directory(to);
      else
        spit(to, is_synced(entry.path()) ? slurp(entry.path()) : "");
    }
  }
  // What each of the cuts left, oldest first.
  std::vector<fs::path> left() const {
    std::vector<fs::path> all;
    for (int i = 0; i < count_; ++i) all.push_back(cuts_ / std::to_string(i));
    return all;
  }

  static CutDisk* running;

 private:
  using Changed = std::pair<std::int64_t, std::int64_t>;  // s and ns

  // A regular file's number, and when it was written last.
  static std::optional<std::pair<ino_t, Changed>> stamp_of(const fs::path& path) {
    struct stat what {};
    if (::stat(path.c_str(), &what) != 0 || !S_ISREG(what.st_mode)) return std::nullopt;
    return std::pair(what.st_ino, Changed(what.st_mtim.tv_sec, what.st_mtim.tv_nsec));
  }
  bool is_synced(const fs::path& path) const {
    const auto what = stamp_of(path);
    const auto known = what ? synced_.find(what->first) : synced_.end();
    return known != synced_.end() && known->second == what->second;
  }

  fs::path folder_, cuts_;
  std::map<ino_t, Changed> synced_;
  int count_ = 0;
};

CutDisk* CutDisk::running = nullptr;

}  // namespace

// In place of the C library's.
extern "C" int syncfs(int) {
  if (CutDisk::running) CutDisk::running->all_synced();
  return 0;
}

extern "C" int fsync(int file) {
  if (CutDisk::running) CutDisk::running->file_synced(file);
  return 0;
}

extern "C" int rename(const char* from, const char* to) {
  const auto done =
      ::syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);  // sets errno as rename() does
  if (CutDisk::running) CutDisk::running->cut();
  return static_cast<int>(done);
}

TEST_CASE("After a power cut at any step, what is marked as complete has all its files") {
  const Scratch scratch;
  const fs::path cache = scratch / "cache";
  EnvironmentsConfig config;
  config.cache = cache;
  const EnvironmentSpec wheel = good_wheel(scratch);
  const EnvironmentSpec overlay =
      with_overlay(wheel, scratch / "overlay.tar", {{"torch/slow.py", "FACTOR = 3\n", ""}});
  Environments environments(config);
  CutDisk disk(cache, scratch / "cuts");
  environments.begin_session({overlay});
  REQUIRE(environments.make(overlay, {}).broken == "");
  disk.cut();

  std::size_t complete = 0;
  for (const fs::path& left : disk.left()) {
    complete = 0;
    for (const auto& made : fs::directory_iterator(cache / "env")) {
      const fs::path found = left / "env" / made.path().filename();
      if (!read_marker(found)) continue;
      ++complete;
      for (const auto& file : fs::recursive_directory_iterator(made.path() / "site-packages")) {
        if (!file.is_regular_file()) continue;
        INFO(left << ": " << file.path());
        CHECK(slurp(found / file.path().lexically_relative(made.path())) == slurp(file.path()));
      }
    }
  }
  CHECK(disk.left().size() > 6);
  CHECK(complete == 2);
}

TEST_CASE("After a power cut at any step, a native program is whole or not there") {
  const Scratch scratch;
  const fs::path cache = scratch / "cache", sources = scratch / "sources";
  spit(sources / "CMakeLists.txt",
       "cmake_minimum_required(VERSION 3.18)\nproject(tiny NONE)\n"
       "add_custom_target(programs ALL\n"
       "  COMMAND ${CMAKE_COMMAND} -E echo one > nightjar-native\n"
       "  COMMAND ${CMAKE_COMMAND} -E echo two > libnightjar-profiled.so)\n");
  const fs::path prefix = scratch / "libtorch";
  spit(prefix / "include/torch.h", "");
  spit(prefix / "lib/libtorch_cpu.so", "");
  NativeCache native(cache, sources, Unconfined("a test"));
  fs::create_directories(cache);
  CutDisk disk(cache, scratch / "cuts");
  const NativeProgram program = native.make({prefix, prefix, prefix / "lib"}, {});
  REQUIRE(program.reason == "");
  disk.cut();

  std::size_t found = 0;
  for (const fs::path& left : disk.left())
    for (const fs::path& file : {program.path, program.library}) {
      const fs::path then = left / file.lexically_relative(cache);
      if (!fs::exists(then)) continue;
      ++found;
      INFO(then);
      CHECK(slurp(then) == slurp(file));
    }
  CHECK(found >= 2);
}
