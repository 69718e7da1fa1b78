// A badge for a README: the JSON that shields.io's endpoint reads. Used by `compare` and `detect`.
#pragma once

#include <filesystem>
#include <string>

namespace nightjar::cli {

struct Badge {
  std::string message, color;
};

// What a comparison of metrics, or a look at benchmarks, came to.
struct BadgeCounts {
  int all = 0;  // of them
  int worse = 0, better = 0, same = 0;
  int failed = 0;  // what no longer runs
};
// The worst of it: "2 of 12 worse". What nobody could judge is never called unchanged.
Badge badge_of(const BadgeCounts& counts);

// Before any work: throws BadInput if no badge can be written there. Empty: none is wanted.
void require_place_for_badge(const std::filesystem::path& file);
// https://shields.io/badges/endpoint-badge. Throws std::system_error that names the file.
void write_badge(const std::filesystem::path& file, const Badge& badge);

}  // namespace nightjar::cli
