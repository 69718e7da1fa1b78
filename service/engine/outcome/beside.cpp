#include "service/engine/outcome/beside.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "service/report/quantity.hpp"
#include "storage/model/history.hpp"
#include "storage/model/metric.hpp"

namespace nightjar::service {
namespace {

using storage::SeriesPoint;
using Measurements = std::vector<MeasuredOnBuilds>;
// The newest version of each workload, by machine class, name and variant of its builds.
using Newest = std::map<std::tuple<MachineId, std::string, std::string>, const MeasuredOnBuilds*>;

bool is_release(const SeriesPoint& point) {
  return release_in_version(point.version).has_value();
}

template <class Counts>
Newest newest_versions(const Measurements& all, Counts counts) {
  Newest newest;
  for (const MeasuredOnBuilds& one : all) {
    if (!counts(one)) continue;
    const Series& series = one.series;
    auto& found = newest[{series.machine, series.workload_name.str(), series.variant}];
    if (!found || found->series.workload_version < series.workload_version) found = &one;
  }
  return newest;
}

bool is_measured(const MeasuredOnBuilds& one) {
  return !one.builds.empty() || !one.failure.empty();
}

const SeriesPoint* newest_nightly(const MeasuredOnBuilds& one) {
  const auto found = std::find_if_not(one.builds.begin(), one.builds.end(), is_release);
  return found == one.builds.end() ? nullptr : &*found;
}

void add_values(SeriesPoint& point, const SeriesPoint& from) {
  point.values.insert(point.values.end(), from.values.begin(), from.values.end());
}

// The nightly, and where it has a single run those before it that have the same level.
SeriesPoint nightly_of(const MeasuredOnBuilds& one, const SeriesPoint& nightly) {
  constexpr std::size_t most_runs = 5;
  SeriesPoint point = nightly;
  const auto is_first = [&](const SeriesPoint& build) { return build.build == one.level_since; };
  auto at = one.builds.begin() + (&nightly - one.builds.data());
  // Where none of those that are known is the first of the level, all of them have it.
  const bool is_older = std::any_of(one.builds.begin(), at, is_first);
  if (point.values.size() > 1 || !one.level_since || is_older) return point;
  for (; at + 1 != one.builds.end() && !is_first(*at) && point.values.size() < most_runs; ++at)
    if (!is_release(at[1])) add_values(point, at[1]);
  return point;
}

// By the numbers of its version, with the runs of all of its imports.
std::optional<SeriesPoint> last_release(const MeasuredOnBuilds& one) {
  std::optional<SeriesPoint> last;
  std::vector<int> numbers;
  for (const SeriesPoint& point : one.builds) {
    const auto release = release_in_version(point.version);
    if (!release || *release < numbers) continue;
    if (*release == numbers)
      add_values(*last, point);
    else
      last = point;
    numbers = *release;
  }
  return last;
}

// What one side of a row shows.
struct Shown {
  const MeasuredOnBuilds* of = nullptr;
  std::optional<SeriesPoint> point = {};
  std::string missing = {};  // the reason if there is no point
};

// A number of a night before a failure would hide the failure.
Shown shown_nightly(const MeasuredOnBuilds* one, const std::string& missing) {
  if (!one) return {nullptr, {}, missing};
  if (!one->failure.empty()) return {one, {}, missing + ": " + one->failure};
  const SeriesPoint* nightly = newest_nightly(*one);
  return {one, nightly ? std::optional(nightly_of(*one, *nightly)) : std::nullopt, missing};
}

void use_one_date(Shown& first, Shown& other) {
  if (!first.point || !other.point) return;
  for (const SeriesPoint& point : first.of->builds)
    for (const SeriesPoint& twin : other.of->builds)
      if (!is_release(point) && !is_release(twin) && point.date == twin.date) {
        first.point = nightly_of(*first.of, point);
        other.point = nightly_of(*other.of, twin);
        return;
      }
}

std::optional<BesideSide> side_of(const Shown& shown) {
  if (!shown.point) return std::nullopt;
  return BesideSide{shown.of->series, *shown.point, bisect::hodges_lehmann(shown.point->values)};
}

bool is_positive(const BesideSide& side) {
  const auto& values = side.point.values;
  return std::all_of(values.begin(), values.end(), [](double value) { return value > 0; });
}

std::string why_no_ratio(const BesideSide& first, const BesideSide& other) {
  const int before = first.series.workload_version, after = other.series.workload_version;
  if (before != after)
    return "version " + std::to_string(before) + " of the workload was measured here, version " +
           std::to_string(after) + " there";
  if (has_no_ratio(first.series.metric))
    return "values of " + first.series.metric + " have no ratio";
  if (!is_positive(first) || !is_positive(other)) return "a value is not positive";
  return {};
}

BesideRow row_of(const Shown& first, const Shown& other) {
  BesideRow row{first.of ? first.of->series : other.of->series};
  row.first = side_of(first);
  row.other = side_of(other);
  if (!row.first) row.reason = first.missing;
  if (!row.other) row.reason += (row.reason.empty() ? "" : "; ") + other.missing;
  if (row.first && row.other) row.reason = why_no_ratio(*row.first, *row.other);
  if (!row.reason.empty()) return row;
  const auto& here = row.first->point.values;
  const auto& there = row.other->point.values;
  const bisect::Ratio ratio = bisect::shift(there, here, .95);
  row.ratio = ratio.ratio;
  if (here.size() > 1 && there.size() > 1) row.interval = bisect::Interval{ratio.low, ratio.high};
  return row;
}

void sort_rows(std::vector<BesideRow>& rows) {
  const auto key = [](const BesideRow& row) {
    const double order = row.ratio ? -std::abs(std::log(*row.ratio)) : 1;
    return std::tuple(order, row.series.workload_name.str(), row.series.id);
  };
  std::sort(rows.begin(), rows.end(),
            [&](const BesideRow& a, const BesideRow& b) { return key(a) < key(b); });
}

// The one to compare with: of the same variant, or one that has no twin of its own.
const MeasuredOnBuilds* twin_of(const Series& series, const Newest& here, const Newest& there,
                                const std::set<SeriesId>& taken) {
  if (there.empty()) return nullptr;
  const MachineId machine = there.begin()->second->series.machine;
  const std::string name = series.workload_name.str();
  if (const auto same = there.find({machine, name, series.variant}); same != there.end())
    return same->second;
  for (auto at = there.lower_bound({machine, name, ""});
       at != there.end() && at->second->series.workload_name == series.workload_name; ++at) {
    const Series& one = at->second->series;
    if (!here.contains({series.machine, name, one.variant}) && !taken.contains(one.id))
      return at->second;
  }
  return nullptr;
}

}  // namespace

std::vector<BesideRow> machines_beside(const Measurements& first, const Measurements& other) {
  const std::string no_first = "the first machine has no value from its newest nightlies";
  const std::string no_other = "the other machine has no value from its newest nightlies";
  const Newest here = newest_versions(first, is_measured);
  const Newest there = newest_versions(other, is_measured);
  std::set<SeriesId> taken;
  std::vector<BesideRow> rows;
  for (const auto& [key, one] : here) {
    const MeasuredOnBuilds* twin = twin_of(one->series, here, there, taken);
    if (twin) taken.insert(twin->series.id);
    Shown left = shown_nightly(one, no_first), right = shown_nightly(twin, no_other);
    use_one_date(left, right);
    rows.push_back(row_of(left, right));
  }
  for (const auto& [key, one] : there)
    if (!taken.contains(one->series.id))
      rows.push_back(row_of(shown_nightly(nullptr, no_first), shown_nightly(one, no_other)));
  sort_rows(rows);
  return rows;
}

std::vector<BesideRow> release_beside(const Measurements& all) {
  // The release may have run an older version of the workload.
  const Newest released = newest_versions(all, last_release);
  std::vector<BesideRow> rows;
  for (const auto& [key, one] : newest_versions(all, is_measured)) {
    Shown release{one, {}, "no release was measured"};
    if (const auto found = released.find(key); found != released.end())
      release.of = found->second, release.point = last_release(*found->second);
    rows.push_back(row_of(release, shown_nightly(one, "no nightly was measured of late")));
  }
  sort_rows(rows);
  return rows;
}

}  // namespace nightjar::service
