// From blamed to reported to recovered: queues the issue when a night's searches are over, closes
// it when the level is back. Used by the engine's tick.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "service/engine/context.hpp"
#include "service/engine/search/boundary_profiles.hpp"
#include "service/report/report.hpp"
#include "storage/model/outbox.hpp"
#include "storage/model/regression.hpp"
#include "storage/model/series.hpp"

namespace nightjar::service {

// Whether its confirmation or its search goes on, so that a commit may still be named.
bool may_be_named(const Regression& regression);
// Whether each other regression that the night saw on the machine class has its end.
bool night_is_explained(const storage::Database& db, const Regression& regression);

struct ReportingFacts {
  Regression regression;
  Time now{};
  bool explained = false;            // all that this night saw on the machine class
  BoundaryFacts boundary;            // not read before
  std::optional<ReportInput> issue;  // not read before the boundary is profiled
  bool is_filed = false;             // before its search went on
  bool is_widened = false;           // it went on because a person asked for it
  bool tells_chat = false;           // a chat is configured
  int times_taken_back = 0;          // verdicts of it that the export was given
  std::string records;               // for the export; empty: there is none
};
ReportingFacts load_reporting(const EngineView& view, const Regression& regression);

// Another regression of the night is still open: the issue will name its series, too.
struct AwaitExplanation {};
struct OpenIssue {
  OutboxMessage message;
  std::optional<OutboxMessage> chat;     // tells the same, once a finding
  std::optional<OutboxMessage> verdict;  // the same for the export
  std::vector<AffectedClass> classes;    // as the issue has them
};
using ReportingStep = std::variant<AwaitExplanation, BoundaryStep, OpenIssue>;
ReportingStep decide(const ReportingFacts& facts);
// One issue a cause, or a range, queued in the transaction that makes it `reported`.
bool report_blamed(EngineContext& context);

struct RecoveryFacts {
  struct SeriesLevels {
    AffectedSeries affected;
    Series series;
    double threshold = .07;
    std::vector<Level> later;  // of the nights that a recovery takes, newest first
  };
  Regression regression;
  Time now{};
  std::vector<SeriesLevels> series;
  // Neither is read unless every series is back.
  bool has_untold = false;  // the issue has not heard of all findings that joined
  RecoveredComment comment;
};
RecoveryFacts load_recovery(const EngineView& view, const Regression& regression);

struct CloseIssue {
  OutboxMessage message;
};
// nullopt: it has not been good on each of the last `recovered_nights` nights, or its issue must
// get a comment about another finding first.
std::optional<CloseIssue> decide(const RecoveryFacts& facts, const Config& config);
bool watch_recovery(EngineContext& context);

}  // namespace nightjar::service
