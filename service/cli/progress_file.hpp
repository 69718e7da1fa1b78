// What a search knows so far, as a file that outlives it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "bisect/search.hpp"

namespace nightjar::cli {

// What makes two searches the same one.
struct SearchName {
  std::string good, bad, measure, build, direction, find;
  double threshold = .07;
  bool operator==(const SearchName&) const = default;
};

// Before anything is measured: throws BadInput that says why no search can be kept in `file`.
void require_place_for(const std::filesystem::path& file);
// Fills `log`'s runs and untestable commits from `file`, if it exists. Throws BadInput if the file
// is broken or belongs to another search.
void load_progress(const std::filesystem::path& file, const SearchName& name,
                   bisect::SearchLog& log);
// Durably. Throws std::system_error that names the file.
void save_progress(const std::filesystem::path& file, const SearchName& name,
                   const bisect::SearchLog& log);

}  // namespace nightjar::cli
