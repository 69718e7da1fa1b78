// `nightjar bisect run`: a noise-aware `git bisect run` for any repository.
#pragma once

#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "service/cli/instructions.hpp"
#include "service/cli/measured_values.hpp"
#include "service/cli/progress_file.hpp"

namespace nightjar::cli {

struct BisectOptions {
  std::string package;  // versions of this one are searched; empty: commits of a repository
  std::filesystem::path repository = ".";
  std::string good, bad;  // revisions, or versions
  std::string measure;    // gives a number where `source` says, or fails; 125: untestable
  MeasureSource source;
  // Its instructions are the number, and what it prints is not read. Empty: it gives the number.
  std::optional<InstructionCounter> counter;
  std::vector<std::string> only;   // globs of the benchmarks that count; empty: all
  std::string build;               // once a commit; failure: untestable. Empty: nothing to build
  std::vector<std::string> paths;  // only commits that changed one of them; empty: all commits
  bool into_merges = false;        // a culprit that is a merge: go on in what it brought
  std::vector<SearchSubject> followed = {};  // inside merges: these benchmarks alone; empty: all
  double threshold = .07;
  // Which number is better, "lower" or "higher". Empty: as the measure's format says, or lower.
  std::string direction;
  std::string find = "worse";  // what is searched for, or "better", or "broken"
  int max_runs = 480;
  int jobs = 1;                   // builds at once; measuring stays one at a time
  double timeout_seconds = 3600;  // of one command
  std::filesystem::path state;    // empty: kept in a place of our own while it is not answered
  bool json = false;
  std::filesystem::path html;  // a picture of the search, see search_page.hpp; empty: none
};

// The usual threshold of a search for failures, in points of the rate.
inline constexpr double least_rise_of_failures = .02;

inline bool prefers_more(const BisectOptions& options) {
  return options.direction == "higher";
}
inline std::string direction_word(const BisectOptions& options) {
  return prefers_more(options) ? "higher" : "lower";
}
// What is measured, and how: the counts of two machines may differ in that.
inline std::string metric_word(const BisectOptions& options) {
  return options.counter ? "instructions by " + options.counter->way() : "number";
}
// True if what is searched for makes the measured number smaller.
inline bool seeks_less(const BisectOptions& options) {
  return prefers_more(options) == (options.find != "better");
}
// True if a run's exit status is what is observed, and no number.
inline bool seeks_failures(const BisectOptions& options) {
  return options.find == "broken";
}

// Before anything is done: throws BadInput for options that make no search.
void check_options(const BisectOptions& options);
// Searches and prints the answer; returns 0 for a culprit, 1 for none or after `stop`. Throws
// BadInput and Broken. Progress goes to standard error.
int bisect_run(const BisectOptions& options, std::stop_token stop);

}  // namespace nightjar::cli
