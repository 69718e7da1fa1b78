// From the answer of one benchmark's search to its report. Used by `bisect run`.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "bisect/shared_search.hpp"
#include "service/cli/checkout.hpp"
#include "service/cli/search_report.hpp"

namespace nightjar::cli {

// What the reports of all benchmarks of a search have in common.
struct AnswerContext {
  const BisectOptions& options;
  const SourceRepository& repository;
  const std::vector<std::string>& commits;  // the good end first
  int builds = 0;
  std::filesystem::path kept;  // the file with what was measured; empty: none
};

// `part` has an answer.
SearchReport report_of(const bisect::SharedPart& part, const SearchSubject& subject,
                       const AnswerContext& context);

// The options with the direction of a benchmark: the user's word comes before the format's.
BisectOptions options_for(const SearchSubject& subject, BisectOptions options);

}  // namespace nightjar::cli
