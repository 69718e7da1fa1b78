// The native workloads, compiled against a build's LibTorch: the program that measures them and the
// library that profiles load. An unchanged LibTorch (headers and libraries) gives the same key, so
// half of all commits compile nothing.
#pragma once

#include <filesystem>
#include <map>
#include <stop_token>
#include <string>

#include "runner/build/libtorch.hpp"
#include "runner/process/confinement.hpp"

namespace nightjar::runner {

struct NativeProgram {
  std::filesystem::path path;     // empty: there is none, because of `reason`
  std::filesystem::path library;  // beside it
  bool tool_missing =
      false;  // this machine cannot compile; else this build cannot be compiled against
  std::string reason;
};

class NativeCache {
 public:
  // `sources` is the native CMake project; what is made goes to <cache>/native/<key>. A header may
  // include or embed any file that the compiler can read, so compiling has the rights of a build.
  NativeCache(std::filesystem::path cache, std::filesystem::path sources, BuildRights rights)
      : cache_(std::move(cache)), sources_(std::move(sources)), rights_(std::move(rights)) {}

  // Hashes what the program depends on: LibTorch (see hashes_of), the sources and the compiler.
  std::string key(const LibTorch& libtorch);

  // Compiles the program unless it is there. The first time takes minutes, so the caller holds the
  // MachineLock. Throws Stopped.
  NativeProgram make(const LibTorch& libtorch, std::stop_token stop);

 private:
  NativeProgram compile(const LibTorch& libtorch, const NativeProgram& target,
                        std::stop_token stop);
  void trim();

  const std::filesystem::path cache_, sources_;
  const BuildRights rights_;
  std::map<std::string, NativeProgram> failed_;  // by key, so as not to try again all night
};

}  // namespace nightjar::runner
