// A build from source: what a builder is asked for and what it answers, with their JSON. Part of
// the protocol between service and runner, and what storage keeps of such a build.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "storage/model/enum.hpp"
#include "storage/model/hex.hpp"

namespace nightjar {

// infrastructure: the machine, the network or the recipe was at fault, and not the commit, which is
// built again elsewhere or later.
NIGHTJAR_ENUM(SourceOutcome, built, does_not_compile, does_not_import, infrastructure);

// What to build. A builder that has built this recipe at this commit answers with that wheel.
struct SourceSpec {
  std::string repository;  // URL, or a folder that the builder can read
  CommitSha commit;
  std::string recipe;  // the text of the recipe's TOML file
  Sha256 recipe_sha256;
};

// Compilations that a cache answered, and those that it did not.
struct CacheCounts {
  std::int64_t hits = 0;
  std::int64_t misses = 0;
  bool operator==(const CacheCounts&) const = default;
};

// What the compiler cache did during one build. CUDA's units are counted by themselves: a cache may
// hit all C++ and still compile for hours.
struct CacheStatistics {
  std::string program;  // "ccache", "sccache"; empty: there was none
  CacheCounts cxx, cuda;
  bool operator==(const CacheStatistics&) const = default;
};

struct SourceResult {
  SourceOutcome outcome = SourceOutcome::infrastructure;
  std::string reason;            // why it is not built; empty: it is
  std::string wheel_file;        // name of the wheel; empty: there is none
  std::optional<Sha256> sha256;  // of the wheel
  double seconds = 0;            // all of it, fetching included
  double compile_seconds = 0;    // of the recipe's commands, every attempt together
  int attempts = 0;              // 2: it failed, and was tried again from a clean folder
  bool warm = false;             // the last attempt began from what an earlier build had left
  CacheStatistics cache;
};

void to_json(nlohmann::json& json, const SourceResult& result);
void from_json(const nlohmann::json& json, SourceResult& result);  // throws json::exception

}  // namespace nightjar
