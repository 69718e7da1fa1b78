// Findings that are confirmed, and have neither a culprit nor a range. Such a finding joins the
// cause that another machine class found for the same change of that night, even if its own issue
// was filed before. Otherwise findings between the same builds, or of one week, share an issue.
// Used by the engine's tick, before named causes are reported.
#pragma once

#include <optional>
#include <string>
#include <variant>

#include "service/engine/context.hpp"
#include "service/engine/search/blame.hpp"
#include "storage/model/regression.hpp"

namespace nightjar::service {

struct UnattributedFacts {
  Regression regression;
  // All that this night saw on the machine class, and the same change on others.
  bool explained = false;
  std::string fingerprint;          // of the issue that it joins if no cause is named
  std::optional<Regression> known;  // the regression whose issue it joins
};
UnattributedFacts load_unattributed(const EngineView& view, const Regression& regression);

// It gets an issue, and whatever follows with the same fingerprint joins it.
struct GetIssue {
  Regression regression;
};
using UnattributedStep = std::variant<GetIssue, JoinKnown>;
// nullopt: it has its fingerprint, or its night is not explained yet.
std::optional<UnattributedStep> decide(const UnattributedFacts& facts);
bool gather_unattributed(EngineContext& context);

// The Monday of the week that a digest is about: "2026-08-17" for a night of 2026-08-20 (UTC).
std::string week_of(Time night);
// Why nobody could be named: what the change that made it unattributed says.
std::string why_unattributed(const storage::Database& db, RegressionId regression);

}  // namespace nightjar::service
