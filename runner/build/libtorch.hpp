// Where a LibTorch lies that native workloads are compiled against.
#pragma once

#include <filesystem>
#include <string>

namespace nightjar::runner {

struct LibTorch {
  std::filesystem::path root;       // what a workload loads must come from below
  std::filesystem::path prefix;     // its include and lib are below
  std::filesystem::path libraries;  // for LD_LIBRARY_PATH
  bool of_build = false;            // a build's site-packages, whose RECORD has the hashes
};

LibTorch libtorch_of_build(const std::filesystem::path& site_packages);
// `prefix` is an unpacked archive of LibTorch, or where packages install it, such as /usr. Throws
// WrongUse if no libtorch_cpu.so is below its lib, lib64 or lib/<architecture>.
LibTorch libtorch_at(const std::filesystem::path& prefix);

// Returns sorted lines "path=hash" of its libraries and headers, and of a build's CMake files. The
// hashes of a build are those of its RECORD, if it has one.
std::string hashes_of(const LibTorch& libtorch);
// Returns such lines of the C++ and CMake files below `folder`.
std::string hashes_of_sources(const std::filesystem::path& folder);

}  // namespace nightjar::runner
