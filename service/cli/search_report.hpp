// What a search found, as a terminal and as scripts want it. Used by `bisect run`.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "bisect/search.hpp"
#include "service/cli/bisect_run.hpp"
#include "service/cli/checkout.hpp"
#include "service/cli/ends.hpp"
#include "service/cli/progress_file.hpp"

namespace nightjar::cli {

struct ReportedStep {
  bisect::NamedStep named;                     // of the measured number
  std::vector<std::string> commits;            // of the cell
  std::vector<CommitFacts> facts;              // of each
  std::optional<LevelEstimate> before, after;  // on both sides of the cell
};

struct MergeFinding;

struct SearchReport {
  BisectOptions options;
  bisect::SearchOutcome outcome;
  std::vector<ReportedStep> named, smaller;  // culprits or contributors; steps below the threshold
  std::string rule;                          // one sentence: why it ended so
  std::optional<Ends> ends;
  std::string good, bad;  // commits
  std::size_t runs = 0;
  int builds = 0;
  struct Share {
    std::vector<std::string> commits;
    double probability = 0;
  };
  std::vector<Share> posterior;
  std::filesystem::path kept;               // the file with what was measured; empty: none
  std::optional<SearchSubject> subject;     // if the measure's format names it
  std::vector<MergeFinding> inside_merges;  // the outer ones first
};

// Who is to blame for the step at a merge, after its branches were searched by themselves.
struct MergeFinding {
  enum class Blamed {
    branch,  // commits of the branch, or a merge inside it
    merge,   // the merge itself
    nobody,  // a merge inside a branch brought what the outer history had already
  };
  std::string merge;
  Blamed blamed = Blamed::merge;
  std::string reason;                  // a sentence
  std::vector<SearchReport> branches;  // a search for each parent that brought commits
};

nlohmann::json report_object(const SearchReport& report);
std::string report_json(const SearchReport& report);
std::string report_text(const SearchReport& report);

// A sentence if the ends show the opposite of what was searched for, of at least half the
// threshold; else empty.
std::string opposite_change(const Ends& ends, const BisectOptions& options);

}  // namespace nightjar::cli
