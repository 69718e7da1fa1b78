// Keeps a search, and those inside its merges, in the file that outlives it: that of --state, or a
// place of our own while there is no answer. Used by `bisect run`.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>

#include "service/cli/progress_file.hpp"

namespace nightjar::cli {

class KeptSearch {
 public:
  // Goes on from `state`. Empty: finds a place of our own, and what an earlier search kept there.
  // Throws BadInput if `state` cannot be read or belongs to another search.
  KeptSearch(std::filesystem::path state, SearchName name, const GitFolders& repository);
  ~KeptSearch();
  KeptSearch(const KeptSearch&) = delete;
  KeptSearch& operator=(const KeptSearch&) = delete;

  // What earlier starts measured between these ends.
  SavedSearch search(const SearchEnds& ends) const;
  // The file outlives a killed process at once, and a loss of power a second later: to wait for the
  // disk after each run takes as long as a short run.
  void save(const SearchEnds& ends, const SavedSearch& search);
  // There is an answer, so a place of our own keeps nothing.
  void forget() const;

  bool is_kept() const { return is_kept_; }
  // The file with what was measured; empty: none.
  std::filesystem::path file() const { return is_kept_ ? file_ : std::filesystem::path(); }
  // How to go on from what an earlier search left, as a sentence; empty: it left nothing.
  std::string offer() const;
  // What is left of the search, for whoever was interrupted.
  std::string words() const;

 private:
  void write();

  const bool is_named_;  // by --state
  const SearchName name_;
  std::filesystem::path file_;  // empty: there is no place
  Progress progress_;
  bool is_kept_ = false;     // the file has what was measured
  std::size_t offered_ = 0;  // runs that an earlier search left in the place of our own
  bool is_on_disk_ = true;   // or the disk may not have the file's last text yet
  std::chrono::steady_clock::time_point written_ = {};  // when the disk had it
};

}  // namespace nightjar::cli
