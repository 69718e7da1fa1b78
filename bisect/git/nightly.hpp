// What PyTorch writes into commit messages: the main commit of a nightly. Used by discovery.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "storage/model/hex.hpp"

namespace nightjar::git {

// A commit on the nightly branch: same tree as `main_commit`, released on `date` ("2026-08-20").
struct NightlyRelease {
  std::string date;
  CommitSha main_commit;
};

// Reads "YYYY-MM-DD nightly release (<40 hex>)" from a message's first line. nullopt otherwise:
// then the commit is itself one of main.
std::optional<NightlyRelease> parse_nightly_release(std::string_view message);

}  // namespace nightjar::git
