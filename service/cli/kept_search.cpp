#include "service/cli/kept_search.hpp"

#include "service/cli/failure.hpp"

namespace nightjar::cli {
namespace {

std::size_t runs_in(const Progress& progress) {
  std::size_t runs = 0;
  for (const auto& [ends, log] : progress) runs += log.runs.size();
  return runs;
}

}  // namespace

KeptSearch::KeptSearch(std::filesystem::path state, SearchName name, const GitFolders& repository)
    : is_named_(!state.empty()), name_(std::move(name)), file_(std::move(state)) {
  if (is_named_) {
    progress_ = load_progress(file_, name_);
    is_kept_ = runs_in(progress_) > 0;
    return;
  }
  file_ = usual_place(name_, repository);
  try {
    if (!file_.empty()) offered_ = runs_in(load_progress(file_, name_));
  } catch (const BadInput&) {  // whatever it is, the next save replaces it
  }
}

bisect::SearchLog KeptSearch::log(const SearchEnds& ends) const {
  const auto found = progress_.find(ends);
  return found == progress_.end() ? bisect::SearchLog() : found->second;
}

void KeptSearch::save(const SearchEnds& ends, const bisect::SearchLog& log) {
  progress_[ends] = log;
  if (is_named_) {
    save_progress(file_, name_, progress_);
    is_kept_ = true;
  } else if (!file_.empty() && runs_in(progress_) > offered_) {  // what was offered stays till then
    is_kept_ = save_if_possible(file_, name_, progress_);
    if (!is_kept_) file_.clear();
  }
}

void KeptSearch::forget() const {
  std::error_code ignored;
  if (!is_named_) std::filesystem::remove(file_, ignored);
}

std::string KeptSearch::offer() const {
  if (offered_ == 0) return "";
  return "an earlier search kept " + std::to_string(offered_) +
         " runs; to go on from there: --state " + file_.string();
}

std::string KeptSearch::words() const {
  if (runs_in(progress_) == 0) return "nothing was measured";
  if (!is_kept_) return "nothing was kept";
  return is_named_ ? "the same command goes on from --state " + file_.string()
                   : "the same command with --state " + file_.string() + " goes on";
}

}  // namespace nightjar::cli
