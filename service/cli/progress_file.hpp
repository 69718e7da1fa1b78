// What a search knows so far, as a file that outlives it.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "service/cli/git_folder.hpp"

namespace nightjar::cli {

// What makes two searches the same one.
struct SearchName {
  std::string good, bad, measure, build, direction, find;
  double threshold = .07;
  std::vector<std::string> paths = {};
  std::string measure_file = {}, value = {}, measure_format = {};
  std::vector<std::string> only = {};
  std::string metric = "number";
  std::string package = {}, python = {};  // of a search over versions
  bool operator==(const SearchName&) const = default;
};

// Commits between which one line of commits is searched.
struct SearchEnds {
  std::string good, bad;
  auto operator<=>(const SearchEnds&) const = default;
};
// What the measure's format says of the number.
struct SearchSubject {
  std::string benchmark, unit;  // empty: the measure names none, or its format knows none
  bool more_is_better = false;
};

struct SavedPart {
  SearchSubject subject;
  std::size_t answered_after = 0;  // as SharedPart has it; 0: there is no answer yet
  int runs_for_others = 0;
};
struct SavedRun {
  int session = 0, commit = 0;
  std::vector<std::optional<double>> values;  // of each part
};
struct SavedSearch {
  std::vector<SavedPart> parts;
  std::vector<SavedRun> runs;
  std::vector<int> untestable;  // commits, for every part
};

// The runs and untestable commits of the search, and of those inside its merges.
using Progress = std::map<SearchEnds, SavedSearch>;

// Before anything is measured: throws BadInput that says why no search can be kept in `file`.
void require_place_for(const std::filesystem::path& file);
// What `file` has, if it exists. Throws BadInput if it is broken or belongs to another search.
Progress load_progress(const std::filesystem::path& file, const SearchName& name);
// The file for a search whose user named none, below $XDG_STATE_HOME/nightjar or the home's
// .local/state/nightjar. Empty if there is no such place, or if it is in the repository.
std::filesystem::path usual_place(const SearchName& name, const GitFolders& repository);
// Replaces the file, so that it outlives this process. `durably`: also the machine's power.
// Throws std::system_error that names the file.
void save_progress(const std::filesystem::path& file, const SearchName& name,
                   const Progress& progress, bool durably);

}  // namespace nightjar::cli
