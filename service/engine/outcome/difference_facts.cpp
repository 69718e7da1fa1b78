#include "service/engine/outcome/difference_facts.hpp"

#include <algorithm>
#include <map>

#include "bisect/detection.hpp"
#include "storage/model/domain.hpp"
#include "storage/builds.hpp"
#include "storage/many_series.hpp"
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
    all.emplace(series.id, std::move(runs));
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
  for (auto& [series, after] : storage::series_measured_in(db, bad_night->id, JobKind::screen)) {
    // Interleaved runs where the night confirmed, since drift meets both sides alike there.
    const auto& side_by_side = runs_of(confirmed, series.id);
    ComparedSeries one{series,
                       values_of(side_by_side, good),
                       values_of(side_by_side, bad),
                       ComparisonSource::confirm,
                       {}};
    if (one.good.empty() || one.bad.empty())
      one = {series,
             values_of(runs_of(before, series.id), good),
             values_of(after, bad),
             ComparisonSource::screen,
             {}};
    if (one.good.empty() || one.bad.empty()) continue;
    if (all_positive(one.good) && all_positive(one.bad))
      one.change = bisect::shift(one.good, one.bad, .95);
    made.push_back(std::move(one));
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
        {{series.workload_name.str(), series.metric, bisect::hodges_lehmann(one.good),
          bisect::hodges_lehmann(one.bad), one.change->ratio, one.change->low, one.change->high,
          "machine class " + std::to_string(series.machine.value)},
         domain_of(series.workload_name),
         bisect::policy_of_metric(series.metric).direction == Direction::lower_is_better});
  }
  return input;
}

}  // namespace nightjar::service
