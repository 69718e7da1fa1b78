// A search ended with culprits: the regression gets its name, or joins the one that has it already.
#pragma once

#include <string>

#include "bisect/search.hpp"
#include "service/engine/context.hpp"
#include "storage/model/regression.hpp"

namespace nightjar::service {

// Runs inside the caller's transaction. Each named step is one cause: the first is `regression`'s,
// the others become regressions of their own. Several small steps are one cause together. A cause
// that is blamed already takes the series over.
void blame(EngineContext& context, storage::Transaction& transaction, const Regression& regression,
           const Bisection& bisection, const bisect::Answer& answer, const std::string& evidence);

}  // namespace nightjar::service
