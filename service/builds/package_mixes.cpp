#include "service/builds/package_mixes.hpp"

#include <algorithm>
#include <chrono>
#include <map>

#include "service/builds/lock.hpp"
#include "storage/builds.hpp"
#include "storage/locks.hpp"
#include "storage/package_searches.hpp"
#include "storage/regressions.hpp"

namespace nightjar::service {
namespace {
using namespace std::chrono_literals;

constexpr int most_failures = 20;
constexpr auto asked_again_after = 60s;  // after which indexes that did not answer are asked again

// Added, changed, removed.
int place_of(const PackageChange& change) {
  if (change.before.empty()) return 0;
  return change.after.empty() ? 2 : 1;
}

std::optional<Lock> lock_of_build(const storage::Database& db, BuildId id) {
  const auto build = storage::find_build(db, id);
  return build && build->lock ? storage::find_lock(db, *build->lock) : std::nullopt;
}

std::string version_in(const std::vector<LockedPackage>& packages, const std::string& name) {
  const auto found = std::find_if(packages.begin(), packages.end(),
                                  [&](const LockedPackage& one) { return one.name == name; });
  return found == packages.end() ? "" : found->version;
}

std::optional<PackageTask> task_of(const storage::Database& db, const PackageSearch& search) {
  const auto regression = storage::find_regression(db, search.regression);
  const auto wheel = storage::find_build(db, search.wheel);
  const auto good = regression ? lock_of_build(db, regression->good) : std::nullopt;
  if (!good || !wheel) return std::nullopt;
  PackageTask task;
  task.search = search.id;
  task.needs = wheel->needs;
  if (search.state == PackageSearchState::listing) {
    task.name = search.mixes.back().changed.name;
    task.good = version_in(good->packages, task.name);
    task.bad = search.mixes.back().changed.version;
    return task;
  }
  for (std::size_t i = 0; i < search.mixes.size(); ++i) {
    if (search.mixes[i].state != MixState::wanted) continue;
    task.position = static_cast<int>(i);
    task.packages = packages_at(search, *task.position, *good);
    return task;
  }
  return std::nullopt;
}

// uv installs what is asked for and all that it needs; more than was asked for is another
// environment.
std::string beyond(const std::vector<LockedPackage>& wanted, const Lock& lock) {
  for (const LockedPackage& one : lock.packages)
    if (version_in(wanted, one.name).empty())
      return one.name + " " + one.version + " is needed besides";
  return {};
}

void give_up(PackageSearch& search, const PackageFinding& finding, Time now) {
  if (finding.task.position) {
    PackageMix& mix = search.mixes.at(static_cast<std::size_t>(*finding.task.position));
    mix.state = MixState::unavailable;
    mix.reason = finding.failure;
    return;
  }
  search.state = PackageSearchState::unclear;
  search.rule = "the versions in between could not be listed: " + finding.failure;
  search.finished_at = now;
}

void take_versions(PackageSearch& search, const PackageFinding& finding, Time now) {
  const PackageMix last = search.mixes.back();
  search.mixes.pop_back();
  for (const std::string& version : finding.versions)
    search.mixes.push_back({{last.changed.name, version}});
  search.mixes.push_back(last);
  search.state = PackageSearchState::open;
  if (!finding.versions.empty()) return;
  search.state = PackageSearchState::adjacent;
  search.rule = "the indexes have no version in between";
  search.finished_at = now;
}

void take_lock(storage::Transaction& transaction, PackageSearch& search,
               const PackageFinding& finding, Time now) {
  PackageMix& mix = search.mixes.at(static_cast<std::size_t>(*finding.task.position));
  if (!finding.lock) {
    mix.state = MixState::inconsistent;
    mix.reason = finding.inconsistent;
    return;
  }
  storage::add_lock(transaction, *finding.lock, now);
  mix.state = MixState::locked;
  mix.lock = finding.lock->sha256;
}

}  // namespace

std::vector<PackageMix> chain_between(const Lock& good, const Lock& bad) {
  auto changes = changes_between(good, bad);
  std::stable_sort(changes.begin(), changes.end(),
                   [](const auto& a, const auto& b) { return place_of(a) < place_of(b); });
  std::vector<PackageMix> chain{{{}, MixState::locked, good.sha256}};
  for (const PackageChange& change : changes) chain.push_back({{change.name, change.after}});
  chain.back().state = MixState::locked;
  chain.back().lock = bad.sha256;
  return chain;
}

std::vector<LockedPackage> packages_at(const PackageSearch& search, int position,
                                       const Lock& good) {
  std::map<std::string, std::string> packages;
  const auto put = [&](const LockedPackage& one) {
    if (one.version.empty())
      packages.erase(one.name);
    else
      packages[one.name] = one.version;
  };
  for (const LockedPackage& one : good.packages) put(one);
  if (search.held) put(*search.held);
  for (int i = 1; i <= position; ++i) put(search.mixes.at(static_cast<std::size_t>(i)).changed);
  std::vector<LockedPackage> list;
  for (const auto& [name, version] : packages) list.push_back({name, version});
  return list;
}

std::optional<PackageTask> next_package_task(const storage::Database& db, Time now) {
  for (const PackageSearch& search : storage::open_package_searches(db)) {
    if (search.not_before && *search.not_before > now) continue;
    if (auto task = task_of(db, search)) return task;
  }
  return std::nullopt;
}

PackageFinding look(const PackageTask& task, const Config::Environment& config,
                    std::stop_token stop) {
  PackageFinding finding{task};
  try {
    if (!task.position) {
      finding.versions = versions_between(task.name, task.good, task.bad, task.needs, config, stop);
      return finding;
    }
    std::vector<Requirement> wanted;
    for (const LockedPackage& one : task.packages) {
      auto requirement = exactly(one);
      if (!requirement) throw Unresolvable(unreadable_requirement(one.name + "==" + one.version));
      wanted.push_back(*std::move(requirement));
    }
    Lock lock = resolve(wanted, task.needs, config, stop);
    finding.inconsistent = beyond(task.packages, lock);
    if (finding.inconsistent.empty()) finding.lock = std::move(lock);
  } catch (const Unresolvable& error) {
    finding.inconsistent = error.what();
  } catch (const std::exception& error) {
    finding.failure = error.what();
  }
  return finding;
}

void apply(storage::Transaction& transaction, const PackageFinding& finding, Time now) {
  auto search = storage::find_package_search(transaction, finding.task.search);
  if (!search || !is_under_way(*search)) return;
  search->not_before.reset();
  if (!finding.failure.empty()) {
    search->not_before = now + asked_again_after;
    if (++search->failures >= most_failures) give_up(*search, finding, now);
  } else if (finding.task.position) {
    take_lock(transaction, *search, finding, now);
  } else {
    take_versions(*search, finding, now);
  }
  storage::update_package_search(transaction, *search);
}

}  // namespace nightjar::service
