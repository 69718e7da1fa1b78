// Findings that joined a cause whose issue is filed: one comment on the issue has all that a night
// adds. Used by the engine's tick, after the searches and before named causes are reported.
#pragma once

#include <optional>
#include <variant>
#include <vector>

#include "service/engine/context.hpp"
#include "service/report/report.hpp"
#include "storage/model/outbox.hpp"
#include "storage/model/regression.hpp"

namespace nightjar::service {

// One issue, and what it has not heard of.
struct UntoldCause {
  RegressionId id;                     // the regression that has the issue
  std::vector<RegressionId> findings;  // in the order in which they joined
  Time joined_at{};                    // the first of them
};
std::vector<UntoldCause> load_untold(const EngineView& view);
bool has_untold(const EngineView& view, RegressionId cause);

struct JoinedFacts {
  Regression cause;
  std::vector<Regression> findings;
  Time now{};
  bool may_grow = false;  // what runs on that date may still show the same cause
  // Not read before it is time. Its key is unique for its first finding.
  std::optional<JoinedComment> comment;
  std::string key;
};
JoinedFacts load_joined(const EngineView& view, const UntoldCause& untold);

// Further findings may follow, and the first has not waited for `report.gather_hours`.
struct AwaitFindings {};
// What is reported next of the cause names all its series.
struct NamedByReport {};
struct TellFindings {
  OutboxMessage message;
};
using JoinedStep = std::variant<AwaitFindings, NamedByReport, TellFindings>;
JoinedStep decide(const JoinedFacts& facts);
// A comment is queued in the transaction that forgets its findings.
bool tell_joined(EngineContext& context);

}  // namespace nightjar::service
