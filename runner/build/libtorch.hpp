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
// An unpacked archive of LibTorch, or where packages install it, such as /usr. Throws WrongUse if
// no libtorch_cpu.so is below its lib, lib64 or lib/<architecture>.
LibTorch libtorch_at(const std::filesystem::path& prefix);

// "path=hash" lines, sorted, of its libraries and headers; of a build with its CMake files, as
// RECORD has them, or without RECORD from the files.
std::string hashes_of(const LibTorch& libtorch);
// Likewise of the C++ and CMake files below `folder`.
std::string hashes_of_sources(const std::filesystem::path& folder);

}  // namespace nightjar::runner
