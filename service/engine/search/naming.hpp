// What tells a culprit from a range, from the rows of one search.
#pragma once

#include "bisect/evidence/naming.hpp"
#include "service/engine/context.hpp"
#include "service/engine/search/search_log.hpp"
#include "storage/model/regression.hpp"

namespace nightjar::service {

evidence::Naming naming_of(const EngineView& view, const Bisection& bisection,
                           const SearchRuns& runs, const SearchProgress& progress);

}  // namespace nightjar::service
