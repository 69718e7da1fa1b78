#include "service/engine/outcome/cost.hpp"

#include "storage/filtered.hpp"
#include "storage/model/lifecycle.hpp"
#include "storage/nights.hpp"
#include "storage/regressions.hpp"
#include "storage/runners.hpp"
#include "storage/session_counts.hpp"

namespace nightjar::service {
namespace {

constexpr storage::PageRequest most_counted{500, {}};

bool has_gpu(const storage::Database& db, MachineId id) {
  const auto machine = storage::find_machine(db, id);
  if (!machine) return false;
  const auto gpu = machine->facts.find("gpu");
  return gpu != machine->facts.end() && gpu->second != "none";
}

}  // namespace

MeasuringCosts costs_between(const storage::Database& db, Time from, Time until) {
  MeasuringCosts costs{from, until, 0, {}, {}};
  storage::NightFilter nights;
  nights.since = from;
  for (const Night& night : storage::list_nights(db, nights, most_counted).items) {
    if (night.started_at >= until || night.trigger == NightTrigger::imported) continue;
    const auto seconds = storage::session_time(db, night.id);
    costs.with_gpu.minutes += seconds.with_gpu / 60;
    costs.without.minutes += seconds.without / 60;
    ++costs.nights;
  }
  storage::RegressionFilter opened;
  opened.since = from;
  for (const Regression& one : storage::list_regressions(db, opened, most_counted).items)
    if (one.culprit && one.opened_at < until && lifecycle_of(one.state).is_counted)
      ++(has_gpu(db, one.machine) ? costs.with_gpu : costs.without).named;
  return costs;
}

}  // namespace nightjar::service
