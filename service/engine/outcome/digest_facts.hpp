// Collects from the rows all that a digest says.
#pragma once

#include "service/engine/context.hpp"
#include "service/report/digest.hpp"
#include "storage/marks.hpp"
#include "storage/model/time.hpp"

namespace nightjar::service {

// What one build made better. `improvements`: of that build, at least one.
DigestFix fix_of(const EngineView& view, const std::vector<storage::Improvement>& improvements);
// What happened from `from` on and before `to`.
DigestInput digest_facts(const EngineView& view, Time from, Time to);

}  // namespace nightjar::service
