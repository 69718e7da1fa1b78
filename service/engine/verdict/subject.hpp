// What a confirmation and the searches after it are about. If that is a failure, it is of one kind:
// a build that fails in another way is not informative about it.
#pragma once

#include <set>

#include "storage/database.hpp"
#include "storage/model/fix.hpp"
#include "storage/model/job.hpp"
#include "storage/model/series.hpp"

namespace nightjar::service {

class Subject {
 public:
  // Reads how the bad build failed in the confirmation's sessions, if `series` counts failures. A
  // run that was measured and gave another result has the status `measured`.
  Subject(const storage::Database& db, const SearchedChange& change, const Series& series);

  bool is_failure() const { return failures_; }
  // Whether the run says something of the subject.
  bool is_informative(const RunResult& run) const;

 private:
  bool failures_;
  std::set<RunStatus> kinds_;  // of the bad build's failures
};

}  // namespace nightjar::service
