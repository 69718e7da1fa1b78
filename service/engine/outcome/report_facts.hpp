// Collects from the rows all that an issue says.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "service/engine/context.hpp"
#include "service/report/report.hpp"
#include "storage/model/regression.hpp"

namespace nightjar::service {

ReportInput report_facts(const EngineView& view, const Regression& regression);

// A commit as reports name it; without words where the repository does not have it.
ReportCommit commit_facts(const EngineView& view, const CommitSha& sha);

// A build's version, or words for a build that is no longer stored.
std::string version_of(const EngineView& view, BuildId id);

// Where the pins of its packages moved, the oldest first.
std::vector<ReportPin> pins_of(const EngineView& view, const Regression& regression);

// Commits between the last bad build and `good_again`, the first that was good; empty if unknown.
std::vector<ReportCommit> commits_that_may_have_repaired(
    const EngineView& view, BuildId last_bad, const std::optional<CommitSha>& good_again);

}  // namespace nightjar::service
