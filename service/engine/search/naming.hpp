// What tells a culprit from a range, from the rows of one search.
#pragma once

#include <vector>

#include "bisect/evidence/naming.hpp"
#include "service/engine/context.hpp"
#include "service/engine/search/search_log.hpp"
#include "storage/model/fix.hpp"
#include "storage/model/regression.hpp"

namespace nightjar::service {

evidence::Naming naming_of(const EngineView& view, const Bisection& bisection,
                           const SearchRuns& runs, const SearchProgress& progress);

// Returns each step that the answer names, whether it is a commit or a range. Empty: none.
std::vector<NamedCause> named_causes(const bisect::Answer& answer, const Bisection& bisection,
                                     const evidence::Naming& naming);

}  // namespace nightjar::service
