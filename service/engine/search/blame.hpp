// A search ended with culprits: the regression gets its name, or joins the one that has it already.
// Used by the search's last step.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "bisect/evidence/naming.hpp"
#include "bisect/search.hpp"
#include "service/engine/context.hpp"
#include "storage/model/regression.hpp"

namespace nightjar::service {

// The regression that stands for a cause already, on whatever machine class. nullopt: nothing but
// `joining` has this fingerprint, or what has it does not stand any more.
std::optional<Regression> load_known(const EngineView& view, const Regression& joining,
                                     const std::string& fingerprint);

// One cause that the search found, and what is known of it already.
struct CauseFacts {
  Culprit commits;
  bool is_range = false;  // which of them did it is not known
  std::string fingerprint;
  std::optional<Regression> known;
};
struct BlameFacts {
  Regression regression;
  std::vector<CauseFacts> causes;
};
// Each named step is one cause. Several small steps are one cause together.
BlameFacts load_blame(const EngineView& view, const Regression& regression,
                      const Bisection& bisection, const bisect::Answer& answer,
                      const evidence::Naming& naming);

// `regression` is blamed on its culprit, or has a range and nobody is blamed. The first cause is
// the searched regression's; the others become regressions of their own, whose `part` is above 0
// and which have no id yet.
struct NameCulprit {
  Regression regression;
};
// `known` takes over the series of `regression`. If it had recovered, it is open again: its issue
// is the only one that this cause has.
struct JoinKnown {
  Regression regression, known;
  bool is_filed = false;  // the issue gets a comment on it; one that is filed later has it itself
  bool reopens = false;
};
JoinKnown join(Regression regression, const Regression& known);
// In the caller's transaction.
void store(storage::Transaction& transaction, const JoinKnown& blame, const Evidence& evidence,
           Time now);
void announce(const EngineContext& context, const JoinKnown& blame);

using Blame = std::variant<NameCulprit, JoinKnown>;
std::vector<Blame> decide(const BlameFacts& facts);
// In the caller's transaction.
void store(storage::Transaction& transaction, const Regression& searched,
           std::vector<Blame>& blamed, const Evidence& evidence, Time now);
void announce(const EngineContext& context, const std::vector<Blame>& blamed);

}  // namespace nightjar::service
