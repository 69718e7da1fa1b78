#include "service/engine/verdict/affected_classes.hpp"

#include <algorithm>
#include <set>
#include <string_view>

#include "service/engine/verdict/levels.hpp"
#include "storage/runners.hpp"
#include "storage/series.hpp"

namespace nightjar::service {
namespace {

using Models = std::set<std::string_view>;

// Compared with earlier builds, on a machine that had not moved.
bool is_compared(const Observation& one) {
  return !one.same_build && !one.unclear() &&
         one.screen.verdict != bisect::ScreenVerdict::first_night;
}

double cost_of(const Observation& one) {
  return worsening(one.series, one.screen.reference, one.screen.level);
}

// What `all`, of one class, says of these models; nullopt: that is open.
std::optional<AffectedClass> verdict_of(const std::vector<Observation>& all, const Models& models,
                                        const std::vector<Regression>& night) {
  AffectedClass verdict;
  const Observation* worst = nullptr;
  for (const Observation& one : all) {
    if (!models.contains(one.series.workload_name.model()) || !is_compared(one)) continue;
    verdict.state = ClassState::not_seen;
    if (const Regression* own = suspicion_of(one, night)) {
      if (own->state != RegressionState::dismissed) return std::nullopt;
      continue;  // side by side the builds did not differ, whatever the night had said
    }
    if (one.worse() || one.suspicious) return std::nullopt;
    if (worst == nullptr || cost_of(*worst) < cost_of(one)) worst = &one;
  }
  if (worst != nullptr) verdict.ratio = 1 + worst->screen.change;
  return verdict;
}

}  // namespace

const Regression* suspicion_of(const Observation& one, const std::vector<Regression>& night) {
  const auto own = std::find_if(night.begin(), night.end(), [&](const Regression& known) {
    return known.series.front().series == one.series.id;
  });
  return own == night.end() ? nullptr : &*own;
}

std::vector<Series> series_shown(const EngineView& view, const Regression& regression) {
  std::vector<Series> shown;
  for (const AffectedSeries& one : regression.series)
    if (auto series = storage::find_series(view.db, one.series)) shown.push_back(*series);
  return shown;
}

std::vector<MachineClass> classes_to_ask(const EngineView& view, const std::vector<Job>& usable) {
  std::set<MachineId> ids;
  for (const Runner& runner : storage::all_runners(view.db)) ids.insert(runner.machine);
  for (const Job& session : usable) ids.insert(session.machine);
  std::vector<MachineClass> classes;
  for (const MachineId id : ids)
    if (auto machine = storage::find_machine(view.db, id)) classes.push_back(*std::move(machine));
  return classes;
}

std::vector<AffectedClass> classes_elsewhere(const std::vector<Series>& shown,
                                             const Observations& observed,
                                             const std::vector<Regression>& night,
                                             const std::vector<MachineClass>& asked) {
  if (shown.empty()) return {};
  const std::string& metric = shown.front().metric;
  Models models;
  std::set<MachineId> own;
  for (const Series& series : shown) {
    models.insert(series.workload_name.model());
    own.insert(series.machine);
  }
  std::vector<AffectedClass> classes;
  for (const MachineClass& machine : asked) {
    if (own.contains(machine.id)) continue;
    const auto measured = observed.find({machine.id, metric});
    auto verdict =
        measured == observed.end() ? AffectedClass{} : verdict_of(measured->second, models, night);
    if (!verdict) continue;
    verdict->machine = machine.id;
    verdict->gpu = gpu_models(machine.facts);
    classes.push_back(*std::move(verdict));
  }
  return classes;
}

}  // namespace nightjar::service
