#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <utility>

#include "service/engine/outcome/beside.hpp"
#include "storage/many_series.hpp"
#include "storage/model/history.hpp"
#include "storage/model/metric.hpp"

namespace nightjar::service {
namespace {

using storage::MeasuredBuild;

// The newest nightlies of the class, and all of its releases.
std::vector<MeasuredBuild> wanted_builds(const storage::Database& db, MachineId machine) {
  constexpr int most_nightlies = 14;
  std::vector<MeasuredBuild> builds = storage::builds_measured_on(db, machine);
  int nightlies = 0;
  std::erase_if(builds, [&](const MeasuredBuild& build) {
    return !release_in_version(build.version) && ++nightlies > most_nightlies;
  });
  return builds;
}

std::vector<Series> every_series(const storage::Database& db, const storage::SeriesFilter& filter) {
  std::vector<Series> all;
  storage::PageRequest request{500, {}};
  do {
    auto page = storage::list_series(db, filter, request);
    std::move(page.items.begin(), page.items.end(), std::back_inserter(all));
    request.before = page.next;
  } while (request.before);
  return all;
}

std::vector<MeasuredOnBuilds> with_points(const storage::Database& db, std::vector<Series> series,
                                          const std::vector<MeasuredBuild>& builds) {
  std::vector<SeriesId> ids;
  for (const Series& one : series) ids.push_back(one.id);
  auto points = storage::points_of_builds(db, ids, builds);
  const NightId any{std::numeric_limits<std::int64_t>::max()};
  const auto levels = storage::newest_levels(db, ids, any, 1);
  std::vector<MeasuredOnBuilds> all;
  for (Series& one : series) {
    auto found = std::move(points[one.id]);
    const auto level = levels.find(one.id);
    const BuildId since = level == levels.end() ? BuildId{} : level->second.front().build;
    all.push_back({std::move(one), std::move(found), {}, since});
  }
  return all;
}

// What the newest nightly that ran it came to; empty: its last run passed.
std::string failure_in(const storage::Database& db, const MeasuredOnBuilds& failures) {
  const auto newest = std::find_if_not(
      failures.builds.begin(), failures.builds.end(),
      [](const auto& point) { return release_in_version(point.version).has_value(); });
  if (newest == failures.builds.end() || newest->values.back() < failed_value) return {};
  const Series& series = failures.series;
  const auto ending = storage::newest_failure(db, series.workload, newest->build, series.machine);
  if (!ending) return {};
  std::string word(name_of(ending->status));
  std::replace(word.begin(), word.end(), '_', ' ');
  return word + (ending->reason.empty() ? "" : ", " + ending->reason);
}

}  // namespace

std::vector<MeasuredOnBuilds> measured_on(const storage::Database& db, MachineId machine,
                                          const std::string& metric,
                                          const WorkloadFilter& workloads) {
  const auto builds = wanted_builds(db, machine);
  const auto read = [&](const std::string& name) {
    return with_points(db, every_series(db, {name, workloads, machine, {}}), builds);
  };
  std::vector<MeasuredOnBuilds> all = read(metric);
  std::map<std::pair<WorkloadId, std::string>, std::size_t> known;
  for (std::size_t i = 0; i < all.size(); ++i)
    known[{all[i].series.workload, all[i].series.variant}] = i;
  for (MeasuredOnBuilds& one : read(std::string(failures_metric))) {
    one.failure = failure_in(db, one);
    if (one.failure.empty()) continue;
    one.builds.clear();
    const auto found = known.find({one.series.workload, one.series.variant});
    if (found != known.end())
      all[found->second].failure = one.failure;
    else
      all.push_back(std::move(one));
  }
  return all;
}

}  // namespace nightjar::service
