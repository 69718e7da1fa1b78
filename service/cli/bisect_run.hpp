// `nightjar bisect run`: a noise-aware `git bisect run` for any repository.
#pragma once

#include <filesystem>
#include <stop_token>
#include <string>

namespace nightjar::cli {

struct BisectOptions {
  std::filesystem::path repository = ".";
  std::string good, bad;  // revisions
  std::string measure;    // prints one number as its last line; 125: untestable
  std::string build;      // once a commit; failure: untestable. Empty: nothing to build
  double threshold = .07;
  std::string direction = "lower";  // which number is better, or "higher"
  std::string find = "worse";       // what is searched for, or "better"
  int max_runs = 480;
  int jobs = 1;                   // builds at once; measuring stays one at a time
  double timeout_seconds = 3600;  // of one command
  std::filesystem::path state;    // empty: kept in a place of our own while it is not answered
  bool json = false;
  std::filesystem::path html;  // a picture of the search, see search_page.hpp; empty: none
};

// True if what is searched for makes the measured number smaller.
inline bool seeks_less(const BisectOptions& options) {
  return (options.direction == "higher") == (options.find == "worse");
}

// Searches and prints the answer; returns 0 for a culprit, 1 for none or after `stop`. Throws
// BadInput and Broken. Progress goes to standard error.
int bisect_run(const BisectOptions& options, std::stop_token stop);

}  // namespace nightjar::cli
