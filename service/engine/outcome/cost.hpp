// What nights cost and what they found: machine time for each finding whose commit is named. Shown
// by digests, on the page and by REST.
#pragma once

#include "service/report/measuring_cost.hpp"
#include "storage/database.hpp"
#include "storage/model/time.hpp"

namespace nightjar::service {

struct MeasuringCosts {
  Time from{}, until{};
  int nights = 0;
  MeasuringCost with_gpu, without;
};
// Counts the nights that began from `from` on and before `until`, at most 500, and what was opened
// meanwhile. Imported nights cost nothing here.
MeasuringCosts costs_between(const storage::Database& db, Time from, Time until);

}  // namespace nightjar::service
