#include "service/engine/outcome/difference_facts.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "bisect/detection.hpp"
#include "storage/builds.hpp"
#include "storage/many_series.hpp"
#include "storage/model/domain.hpp"
#include "storage/nights.hpp"

namespace nightjar::service {
namespace {

using RunsOfSeries = std::map<SeriesId, std::vector<SeriesRun>>;

std::vector<double> values_of(const std::vector<SeriesRun>& runs, BuildId build) {
  std::vector<double> values;
  for (const SeriesRun& run : runs)
    if (run.build == build) values.push_back(run.value);
  return values;
}

RunsOfSeries runs_of_night(const storage::Database& db, NightId night, JobKind kind) {
  RunsOfSeries all;
  for (auto& [series, runs] : storage::series_measured_in(db, night, kind))
    all.emplace_hint(all.end(), series.id, std::move(runs));
  return all;
}

const std::vector<SeriesRun>& runs_of(const RunsOfSeries& all, SeriesId series) {
  static const std::vector<SeriesRun> none;
  const auto found = all.find(series);
  return found == all.end() ? none : found->second;
}

bool all_positive(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(), [](double value) { return value > 0; });
}

struct Sides {
  std::vector<double> good, bad;
  ComparisonSource source = ComparisonSource::screen;
  bool is_whole() const { return !good.empty() && !bad.empty(); }
};

ComparedSeries compared(Series series, const Sides& sides) {
  ComparedSeries made{std::move(series)};
  made.source = sides.source;
  made.before_runs = sides.good.size();
  made.after_runs = sides.bad.size();
  made.before = bisect::hodges_lehmann(sides.good);
  made.after = bisect::hodges_lehmann(sides.bad);
  if (all_positive(sides.good) && all_positive(sides.bad))
    made.change = bisect::shift(sides.good, sides.bad, .95);
  made.difference = bisect::difference(sides.good, sides.bad, .95);
  return made;
}

ReportBuild report_build(const storage::Database& db, BuildId id) {
  const auto build = storage::find_build(db, id);
  ReportBuild made;
  made.version = build->version;
  made.commit = build->commit;
  return made;
}

}  // namespace

std::vector<ComparedSeries> compared_series(const storage::Database& db, BuildId good,
                                            BuildId bad) {
  std::vector<ComparedSeries> made;
  const auto good_night = storage::find_night_of_build(db, good);
  const auto bad_night = storage::find_night_of_build(db, bad);
  if (!good_night || !bad_night) return made;
  const RunsOfSeries confirmed = runs_of_night(db, bad_night->id, JobKind::confirm);
  const RunsOfSeries before = runs_of_night(db, good_night->id, JobKind::screen);
  std::unordered_map<WorkloadId, std::string> domains;
  for (auto& [series, after] : storage::series_measured_in(db, bad_night->id, JobKind::screen)) {
    // Interleaved runs where the night confirmed, since drift meets both sides alike there.
    const auto& side_by_side = runs_of(confirmed, series.id);
    Sides sides{values_of(side_by_side, good), values_of(side_by_side, bad),
                ComparisonSource::confirm};
    if (!sides.is_whole())
      sides = {values_of(runs_of(before, series.id), good), values_of(after, bad),
               ComparisonSource::screen};
    if (!sides.is_whole()) continue;
    made.push_back(compared(std::move(series), sides));
    const auto [domain, is_new] = domains.try_emplace(made.back().series.workload);
    if (is_new) domain->second = domain_of(made.back().series.workload_name);
    made.back().domain = domain->second;
  }
  return made;
}

DifferenceInput difference_facts(const EngineView& view, BuildId reference, BuildId build,
                                 double least) {
  DifferenceInput input{view.config.repository.url,
                        report_build(view.db, reference),
                        report_build(view.db, build),
                        least,
                        {}};
  for (const ComparedSeries& one : compared_series(view.db, reference, build)) {
    if (!one.change) continue;
    const Series& series = one.series;
    input.rows.push_back(
        {{series.workload_name.str(), series.metric, one.before, one.after, one.change->ratio,
          one.change->low, one.change->high,
          "machine class " + std::to_string(series.machine.value)},
         one.domain,
         bisect::policy_of_metric(series.metric).direction == Direction::lower_is_better});
  }
  return input;
}

}  // namespace nightjar::service
