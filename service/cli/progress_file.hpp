// What a search knows so far, as a file that outlives it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "bisect/search.hpp"
#include "service/cli/git_folder.hpp"

namespace nightjar::cli {

// What makes two searches the same one.
struct SearchName {
  std::string good, bad, measure, build, direction, find;
  double threshold = .07;
  std::vector<std::string> paths = {};
  std::string measure_file = {}, value = {}, measure_format = {};
  std::vector<std::string> only = {};
  bool operator==(const SearchName&) const = default;
};

// What the measure's format says of the number.
struct SearchSubject {
  std::string benchmark, unit;  // no unit if the format knows none
  bool more_is_better = false;
};

// Before anything is measured: throws BadInput that says why no search can be kept in `file`.
void require_place_for(const std::filesystem::path& file);
// Fills `log`'s runs and untestable commits, and `subject`, from `file`, if it exists. Throws
// BadInput if the file is broken or belongs to another search.
void load_progress(const std::filesystem::path& file, const SearchName& name,
                   bisect::SearchLog& log, std::optional<SearchSubject>& subject);
// The file for a search whose user named none, below $XDG_STATE_HOME/nightjar or the home's
// .local/state/nightjar. Empty if there is no such place, or if it is in the repository.
std::filesystem::path usual_place(const SearchName& name, const GitFolders& repository);
// False if the file or its folder cannot be written.
bool save_if_possible(const std::filesystem::path& file, const SearchName& name,
                      const bisect::SearchLog& log, const std::optional<SearchSubject>& subject);
// Durably. Throws std::system_error that names the file.
void save_progress(const std::filesystem::path& file, const SearchName& name,
                   const bisect::SearchLog& log, const std::optional<SearchSubject>& subject);

}  // namespace nightjar::cli
