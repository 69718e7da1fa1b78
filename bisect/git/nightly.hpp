// What PyTorch writes into commit messages: the main commit of a nightly, the pull request's number.
// Used by discovery and by reports.
#pragma once

#include <cstdint>
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

// Reads "YYYY-MM-DD nightly release (<40 hex>)" from a message's first line. nullopt otherwise: then
// the commit is itself one of main.
std::optional<NightlyRelease> parse_nightly_release(std::string_view message);

// 12345 of "Tidy the docs (#12345)"; of several the last, so a revert's own number comes before the
// one it quotes.
std::optional<std::int64_t> pull_request_number(std::string_view subject);

}  // namespace nightjar::git
