// Collects from the rows all that a digest says.
#pragma once

#include "service/engine/context.hpp"
#include "service/report/digest.hpp"
#include "storage/model/time.hpp"

namespace nightjar::service {

// What happened from `from` on and before `to`.
DigestInput digest_facts(const EngineView& view, Time from, Time to);

}  // namespace nightjar::service
