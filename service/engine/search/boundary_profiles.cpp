#include "service/engine/search/boundary_profiles.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "service/engine/jobs/priorities.hpp"
#include "service/engine/jobs/session_check.hpp"
#include "service/engine/jobs/session_plan.hpp"
#include "service/engine/search/commit_builds.hpp"
#include "storage/bisections.hpp"
#include "storage/jobs.hpp"
#include "storage/series.hpp"
#include "storage/sessions.hpp"

namespace nightjar::service {
namespace {
using namespace std::chrono_literals;

constexpr auto longest_patience =
    30min;                      // a report does not wait longer for what it could do without
constexpr int iterations = 20;  // profiled in each run
// What a profile explains.
constexpr std::string_view explained[] = {"latency",         "cuda_latency", "kernel_time",
                                          "peak_cpu_memory", "peak_memory",  "peak_gpu_memory"};

std::string key_of(RegressionId regression) {
  return "regression:" + std::to_string(regression.value) + "/profile";
}

// The series that was searched, if a profile can explain it.
std::optional<Series> profiled_series(const storage::Database& db, const Bisection& search) {
  auto series = storage::find_series(db, search.series);
  const bool explains = series && std::find(std::begin(explained), std::end(explained),
                                            series->metric) != std::end(explained);
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

// A wheel that serves both, so that nothing but the commits differs; nullopt: none does.
std::optional<BuildId> common_wheel(const EngineView& view, const Bisection& search, int good,
                                    int bad) {
  const auto of_bad = wheels_of_commit(view, search, bad);
  for (const Build& wheel : wheels_of_commit(view, search, good))
    for (const Build& other : of_bad)
      if (other.id == wheel.id) return wheel.id;
  return std::nullopt;
}

std::optional<BoundaryPlan> plan_for(const EngineView& view, const Regression& regression) {
  const auto search = storage::search_behind(view.db, regression.id);
  // A runner profiles builds of PyTorch only.
  const int runs = view.config.project.is_pytorch() ? view.config.report.profile_runs : 0;
  if (!search || !regression.culprit || runs == 0) return std::nullopt;
  const auto series = profiled_series(view.db, *search);
  const auto boundary = boundary_of(*search, *regression.culprit);
  if (!series || !boundary) return std::nullopt;
  const auto wheel = common_wheel(view, *search, boundary->first, boundary->second);
  BoundaryPlan plan{{},
                    find_commit_build(view, *search, boundary->first, wheel),
                    find_commit_build(view, *search, boundary->second, wheel)};
  const auto is_missing = [](const auto& build) { return std::holds_alternative<NoBuild>(build); };
  if (is_missing(plan.good) || is_missing(plan.bad)) return std::nullopt;
  Job& job = plan.job;
  job.key = key_of(regression.id);
  job.night = regression.night;
  job.machine = regression.machine;
  job.priority = priority::search;
  job.spec.kind = JobKind::profile;
  job.spec.workloads = {{series->workload, series->workload_name, series->workload_version}};
  for (int run = 0; run < runs; ++run)
    for (const int side : {run % 2, 1 - run % 2}) job.spec.order.push_back({side, 0});
  job.spec.limits = run_limits(view.config.night);
  job.spec.limits.min_iterations = iterations;
  return plan;
}

bool apply(EngineContext&, const ProfilesDone&) {
  return true;
}

bool apply(EngineContext&, const AwaitProfiles&) {
  return false;
}

bool apply(EngineContext& context, const AskForProfiles& step) {
  storage::write(context.db, [&](storage::Transaction& transaction) {
    Job job = step.plan.job;
    for (const CommitBuildState* side : {&step.plan.good, &step.plan.bad})
      job.spec.environments.push_back(made(context, transaction, *side).environment);
    queue_job(transaction, std::move(job), context.clock.now());
  });
  return false;
}

bool apply(EngineContext& context, const CancelProfiles& step) {
  storage::write(context.db, [&](storage::Transaction& transaction) {
    storage::cancel_job(transaction, step.job, "the report did not wait for profiles any longer");
  });
  return true;
}

}  // namespace

BoundaryFacts load_boundary(const EngineView& view, const Regression& regression) {
  BoundaryFacts facts{view.clock.now(), boundary_session(view.db, regression.id), {}};
  if (!facts.asked) facts.plan = plan_for(view, regression);
  return facts;
}

BoundaryStep decide(const BoundaryFacts& facts) {
  if (!facts.asked && facts.plan) return AskForProfiles{*facts.plan};
  if (!facts.asked) return ProfilesDone{};
  const Job& job = *facts.asked;
  if (job.state != JobState::queued && job.state != JobState::leased) return ProfilesDone{};
  if (facts.now - job.created_at < longest_patience) return AwaitProfiles{};
  return CancelProfiles{job.id};
}

bool apply(EngineContext& context, const BoundaryStep& step) {
  return std::visit([&](const auto& taken) { return apply(context, taken); }, step);
}

std::optional<Job> boundary_session(const storage::Database& db, RegressionId regression) {
  return storage::find_job(db, key_of(regression));
}

std::optional<std::pair<Profile, Profile>> boundary_profiles(const storage::Database& db,
                                                             const Job& session) {
  if (session.state != JobState::done) return std::nullopt;
  auto profiles = storage::profiles_of_job(db, session.id);
  const auto good = profiles.find(session.spec.environments[0].build);
  const auto bad = profiles.find(session.spec.environments[1].build);
  if (good == profiles.end() || bad == profiles.end()) return std::nullopt;
  return std::pair{std::move(good->second), std::move(bad->second)};
}

std::optional<bisect::ProfileDiff> boundary_difference(const EngineView& view,
                                                       const Regression& regression) {
  const auto session = boundary_session(view.db, regression.id);
  const auto sides = session ? boundary_profiles(view.db, *session) : std::nullopt;
  return sides ? std::optional(bisect::difference(sides->first, sides->second)) : std::nullopt;
}

}  // namespace nightjar::service
