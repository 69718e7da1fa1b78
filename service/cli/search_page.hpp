// A search as a picture in one HTML file, which is written again after each round, so that a
// browser shows how it closes in. Used by `bisect run --html`.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "bisect/search.hpp"

namespace nightjar::cli {

struct SearchPage {
  std::string measure;               // the command
  std::vector<std::string> commits;  // the good end first
  std::vector<bisect::SearchRun> runs;
  bisect::Belief belief;
  std::string answer;  // as the terminal shows it; empty while the search runs
};

// Above, each run's number at its commit; below, how probable it is that each commit holds a step.
// Loads nothing. Until there is an answer a browser reads it again every two seconds.
std::string page_text(const SearchPage& page);
// Replaces the file by rename, so that nobody reads half of it. Throws BadInput that names it.
void write_page(const std::filesystem::path& file, const SearchPage& page);

}  // namespace nightjar::cli
