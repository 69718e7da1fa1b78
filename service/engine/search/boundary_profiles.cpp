#include "service/engine/search/boundary_profiles.hpp"

#include <algorithm>

#include "service/engine/jobs/session_plan.hpp"
#include "service/engine/jobs/sessions.hpp"
#include "service/engine/search/commit_builds.hpp"
#include "storage/bisections.hpp"
#include "storage/jobs.hpp"
#include "storage/series.hpp"
#include "storage/sessions.hpp"

namespace nightjar::service {
namespace {
using namespace std::chrono_literals;

constexpr int kPriority = 10;
constexpr auto kPatience = 30min;  // a report does not wait longer for what it could do without
constexpr int kIterations = 20;    // profiled in each run

std::string key_of(const Regression& regression) {
  return "regression:" + std::to_string(regression.id.value) + "/profile";
}

// The series that was searched, if a profile can explain it.
std::optional<Series> profiled_series(EngineContext& context, const Bisection& search) {
  auto series = storage::find_series(context.db, search.series);
  const bool explains =
      series && (series->metric == "latency" || series->metric == "peak_cpu_memory");
  return explains ? series : std::nullopt;
}

// Positions in the search of the last good build and of the first bad one; nullopt: the search is
// another's.
std::optional<std::pair<int, int>> boundary_of(const Bisection& search, const Culprit& culprit) {
  const auto& all = search.commits;
  const auto first = std::find(all.begin(), all.end(), culprit.commits.front());
  const auto last = std::find(all.begin(), all.end(), culprit.commits.back());
  if (first == all.begin() || first == all.end() || last == all.end()) return std::nullopt;
  return std::pair{static_cast<int>(first - all.begin()) - 1, static_cast<int>(last - all.begin())};
}

std::optional<Job> planned(EngineContext& context, const Regression& regression) {
  const auto search = storage::search_behind(context.db, regression.id);
  const int runs = context.config.report.profile_runs;
  if (!search || !regression.culprit || runs == 0) return std::nullopt;
  const auto series = profiled_series(context, *search);
  const auto boundary = boundary_of(*search, *regression.culprit);
  if (!series || !boundary) return std::nullopt;
  Job job;
  for (const int commit : {boundary->first, boundary->second}) {
    const auto made = build_of_commit(context, *search, commit);
    if (std::holds_alternative<NoBuild>(made)) return std::nullopt;
    job.spec.environments.push_back(std::get<CommitBuild>(made).environment);
  }
  job.key = key_of(regression);
  job.night = regression.night;
  job.machine = regression.machine;
  job.priority = kPriority;
  job.spec.kind = JobKind::profile;
  job.spec.workloads = {{series->workload, series->workload_name, series->workload_version}};
  for (int run = 0; run < runs; ++run)
    for (const int side : {run % 2, 1 - run % 2}) job.spec.order.push_back({side, 0});
  job.spec.limits = run_limits(context.config.night);
  job.spec.limits.min_iterations = kIterations;
  return job;
}

}  // namespace

bool boundary_is_profiled(EngineContext& context, const Regression& regression) {
  const auto job = storage::find_job(context.db, key_of(regression));
  if (!job) {
    auto wanted = planned(context, regression);
    if (!wanted) return true;
    queue_job(context, *std::move(wanted));
    return false;
  }
  if (job->state != JobState::queued && job->state != JobState::leased) return true;
  if (context.clock.now() - job->created_at < kPatience) return false;
  storage::write(context.db, [&](storage::Transaction& transaction) {
    storage::cancel_job(transaction, job->id, "the report did not wait for profiles any longer");
  });
  return true;
}

std::optional<bisect::ProfileDiff> boundary_difference(EngineContext& context,
                                                       const Regression& regression) {
  const auto job = storage::find_job(context.db, key_of(regression));
  if (!job || job->state != JobState::done) return std::nullopt;
  const auto profiles = storage::profiles_of_job(context.db, job->id);
  const auto good = profiles.find(job->spec.environments[0].build);
  const auto bad = profiles.find(job->spec.environments[1].build);
  if (good == profiles.end() || bad == profiles.end()) return std::nullopt;
  return bisect::difference(good->second, bad->second);
}

}  // namespace nightjar::service
