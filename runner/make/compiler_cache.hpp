// ccache or sccache, if this machine has one: how a build is made to use it, and what it did. Used
// by make_wheel().
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "storage/model/source_build.hpp"

namespace nightjar::runner {

struct CompilerCache {
  std::string program;         // "ccache", "sccache"; empty: none
  std::filesystem::path path;  // of the program
};

// `wanted` is "ccache", "sccache", "none", or "auto": the first of the two that PATH has. It
// is not known what a container has, so there "auto" is "none". Throws TransientFailure if PATH
// lacks the one that is wanted.
CompilerCache find_compiler_cache(const std::string& wanted, bool in_container);

struct CacheFolders {
  std::filesystem::path cache;     // what was compiled before; shared by all builds of a builder
  std::filesystem::path wrappers;  // programs named as compilers, for PATH
  std::filesystem::path log;       // ccache's log of results, or sccache's statistics; of one build
  std::filesystem::path tree;      // paths below it are hashed as relative ones
  std::int64_t bytes = 0;          // size limit
};

// Writes a wrapper for each C and C++ compiler that PATH has, and returns the variables that make a
// build use the cache: PATH begins with the wrappers. nvcc has none there, because CMake finds CUDA
// by where nvcc lies. It is wrapped by the variables that CMake and PyTorch's extensions read. In a
// container CMake's variables do it all.
std::map<std::string, std::string> use_cache(const CompilerCache& cache,
                                             const CacheFolders& folders, const std::string& path);

// The commands of a build in one script of sh. sccache's server lives as long as the script: it
// starts with empty counters, and `statistics` is written at its end.
std::string with_cache_server(const CompilerCache& cache, const std::filesystem::path& statistics,
                              const std::string& script);

// What CacheFolders::log says after a build.
CacheStatistics statistics_of(const CompilerCache& cache, const std::filesystem::path& log);

// What `log` says: the results of each unit, after a line "# <unit>".
CacheStatistics parse_ccache_log(std::string_view log);
// What `sccache --show-stats --stats-format=json` says; empty counts if that is no JSON.
CacheStatistics parse_sccache_statistics(std::string_view json);

}  // namespace nightjar::runner
