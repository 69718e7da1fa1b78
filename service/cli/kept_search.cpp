#include "service/cli/kept_search.hpp"

#include <system_error>

#include "service/cli/failure.hpp"
#include "storage/base/files.hpp"

namespace nightjar::cli {
namespace {

constexpr std::chrono::seconds to_disk(1);

std::size_t runs_in(const Progress& progress) {
  std::size_t runs = 0;
  for (const auto& [ends, search] : progress) runs += search.runs.size();
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

KeptSearch::~KeptSearch() {
  if (is_on_disk_ || !is_kept_) return;
  try {
    sync(file_);
    sync(std::filesystem::absolute(file_).parent_path());
  } catch (const std::system_error&) {  // it was removed, or the disk is gone
  }
}

SavedSearch KeptSearch::search(const SearchEnds& ends) const {
  const auto found = progress_.find(ends);
  return found == progress_.end() ? SavedSearch() : found->second;
}

void KeptSearch::save(const SearchEnds& ends, const SavedSearch& search) {
  progress_[ends] = search;
  if (is_named_) return write();
  if (file_.empty() || runs_in(progress_) <= offered_) return;  // what was offered stays till then
  try {
    if (!is_kept_) std::filesystem::create_directories(file_.parent_path());
    write();
  } catch (const std::system_error&) {
    file_.clear();
    is_kept_ = false;
  }
}

void KeptSearch::write() {
  const auto now = std::chrono::steady_clock::now();
  const bool durably = now - written_ >= to_disk;
  save_progress(file_, name_, progress_, durably);
  is_kept_ = true;
  is_on_disk_ = durably;
  if (durably) written_ = now;
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
