// Collects from the rows all that an issue says.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "service/engine/context.hpp"
#include "service/report/report.hpp"
#include "storage/model/build.hpp"
#include "storage/model/regression.hpp"

namespace nightjar::service {

ReportInput report_facts(const EngineView& view, const Regression& regression);

// A commit as reports name it; without words where the repository does not have it.
ReportCommit commit_facts(const EngineView& view, const CommitSha& sha);

// A build's version, or words for a build that is no longer stored.
std::string version_of(const EngineView& view, BuildId id);

// Where the pins of its packages moved, the oldest first.
std::vector<ReportPin> pins_of(const EngineView& view, const Regression& regression);

// What is new in `build` since `before`, oldest first; empty if it is not known.
std::vector<ReportCommit> commits_between(const EngineView& view, BuildId before,
                                          const Build& build);

}  // namespace nightjar::service
