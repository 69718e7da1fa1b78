// The states of a regression in one table: who goes on with it, whether it is real and counted, and
// which states may follow. Whatever asks for the meaning of a state asks here.
#pragma once

#include <vector>

#include "storage/model/enum.hpp"

namespace nightjar {

// suspected: a night's screen, or a slow creep, shows it; nothing is confirmed.
// unconfirmed: its confirmation was cut short by lost jobs or void sessions. The next night takes
// it up again.
// confirmed: measured side by side, it is worse. bisecting: a search is under way.
// blamed: the search named a culprit. range: it could not be narrowed to a culprit, since commits
// in between have no build here. unattributed: neither a culprit nor a range could be named. Each
// of the three is about to be reported, and only the first blames anybody. reported: its issue is
// written. recovered: a later repair made it good again. inconclusive: every step is below the
// threshold, or nobody wants to hear of what could not be named (`report.unattributed`); it ends
// here. dismissed: it was not confirmed, or a person said that it is none. merged: another
// regression turned out to have the same cause (`merged_into`). historical: a step of the level in
// an imported history. It was not confirmed side by side, is not searched or reported, and nobody
// is blamed.
NIGHTJAR_ENUM(RegressionState, suspected, confirmed, bisecting, blamed, reported, recovered,
              dismissed, inconclusive, merged, unconfirmed, range, unattributed, historical);

// running: sessions are measured for it, and it may still name somebody. waiting: nobody looks at
// it but a person, or the outbox. told: nothing is left to do until a later night shows news. over:
// it has ended, and no admin decides on it any more.
NIGHTJAR_ENUM(Progress, running, waiting, told, over);

struct LifecycleRow {
  RegressionState state;
  Progress progress;
  bool may_begin;   // a regression may be stored in this state first
  bool is_real;     // it did get worse, whatever became of it then
  bool is_counted;  // real, measured here, and no part of another one
  std::vector<RegressionState> next;
};

// One row a state, in the enumeration's order.
const std::vector<LifecycleRow>& lifecycle();

const LifecycleRow& lifecycle_of(RegressionState state);
inline bool is_real(RegressionState state) {
  return lifecycle_of(state).is_real;
}
// Whether a change from one state to another is in the table. A change within a state is a row's
// `next` too.
bool may_follow(RegressionState before, RegressionState after);
// Those for which `condition` holds, in order.
std::vector<RegressionState> states_where(bool (*condition)(const LifecycleRow&));

}  // namespace nightjar
