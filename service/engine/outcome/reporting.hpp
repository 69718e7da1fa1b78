// From blamed to reported to recovered: queues the issue when a night's searches are over, closes
// it when the level is back.
#pragma once

#include "service/engine/context.hpp"

namespace nightjar::service {

// One issue a cause, queued in the transaction that makes it `reported`; waits until all that this
// night saw on the machine class is explained, so that the issue names every series.
bool report_blamed(EngineContext& context);
// Closes what has been good for `recovered_nights` nights.
bool watch_recovery(EngineContext& context);

}  // namespace nightjar::service
