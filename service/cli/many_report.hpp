// What a search found for several benchmarks at once. Used by `bisect run` and `bisect versions`.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "service/cli/search_report.hpp"

namespace nightjar::cli {

struct ManyReport {
  std::vector<SearchReport> benchmarks;
  std::vector<std::pair<std::string, std::string>> left_out;  // a benchmark, and why
  int runs = 0, builds = 0;
};

// A benchmark that moved has its own report; those that did not are one line.
std::string many_text(const ManyReport& report);
// An object whose `benchmarks` has for each what the search of one has.
std::string many_json(const ManyReport& report);
bool has_culprit(const ManyReport& report);

}  // namespace nightjar::cli
