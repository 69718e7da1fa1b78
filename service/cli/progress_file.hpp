// What a search knows so far, as a file that outlives it.
#pragma once

#include <filesystem>
#include <map>
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
  std::string package = {}, python = {};  // of a search over versions
  bool operator==(const SearchName&) const = default;
};

// Commits between which one line of commits is searched.
struct SearchEnds {
  std::string good, bad;
  auto operator<=>(const SearchEnds&) const = default;
};
// The runs and untestable commits of the search, and of those inside its merges.
using Progress = std::map<SearchEnds, bisect::SearchLog>;

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
