#include "service/engine/jobs/session_plan.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "storage/model/run_value.hpp"

namespace nightjar::service {
namespace {

constexpr PlannedRun control{};

std::vector<PlannedRun> with_controls(std::vector<PlannedRun> order) {
  std::vector<PlannedRun> all{control};
  const std::size_t middle = order.size() >= 8 ? order.size() / 2 : order.size() + 1;
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i == middle) all.push_back(control);
    all.push_back(order[i]);
  }
  all.push_back(control);
  return all;
}

// Which glob selects it first; the list's size if none does.
std::size_t place_of(const WorkloadName& name, const std::vector<std::string>& globs) {
  const auto found = std::find_if(globs.begin(), globs.end(), [&](const std::string& glob) {
    return glob_match(glob, name.str());
  });
  return static_cast<std::size_t>(found - globs.begin());
}

// Place among the configuration's globs, which is the order of measuring; name and version.
using Placed = std::tuple<std::size_t, std::string, int>;
using RunnableBy = std::map<Placed, std::set<RunnerId>>;

// Workloads that the configuration selects, with the live runners of the class that can run them.
// One runner stands for all that announce the same.
std::map<MachineId, RunnableBy> runnable(std::span<const Runner> live,
                                         const std::vector<std::string>& globs) {
  std::map<MachineId, RunnableBy> by_machine;
  std::set<std::pair<MachineId, const std::vector<std::string>*>> seen;
  for (const Runner& runner : live) {
    if (!seen.emplace(runner.machine, &runner.workloads.texts()).second) continue;
    for (const std::string& text : runner.workloads) {
      const auto workload = announced_workload(text);
      if (!workload) continue;
      const Placed placed{place_of(workload->name, globs), workload->name.str(), workload->version};
      if (std::get<0>(placed) < globs.size()) by_machine[runner.machine][placed].insert(runner.id);
    }
  }
  return by_machine;
}

// Sessions of at most `most` workloads that the same runners can run, by their first workload.
// Over all runners together there may be none that could run a session.
std::vector<std::vector<Placed>> sessions_of(const RunnableBy& workloads, int most) {
  std::vector<std::vector<Placed>> sessions;
  std::map<std::set<RunnerId>, std::size_t> open;  // the session that takes the next workload
  for (const auto& [placed, runners] : workloads) {
    auto [found, added] = open.try_emplace(runners, sessions.size());
    if (!added && std::cmp_equal(sessions[found->second].size(), most)) {
      found->second = sessions.size();
      added = true;
    }
    if (added) sessions.emplace_back();
    sessions[found->second].push_back(placed);
  }
  return sessions;
}

}  // namespace

bool can_run_any(const Runner& runner, const std::vector<std::string>& globs) {
  return std::any_of(runner.workloads.begin(), runner.workloads.end(), [&](const auto& text) {
    const auto workload = announced_workload(text);
    return workload && place_of(workload->name, globs) < globs.size();
  });
}

std::vector<PlannedRun> screen_order(std::span<const int> runs) {
  const int workloads = static_cast<int>(runs.size());
  const int rounds = runs.empty() ? 0 : *std::max_element(runs.begin(), runs.end());
  std::vector<PlannedRun> order;
  for (int round = 0; round < rounds; ++round)
    for (int i = 0; i < workloads; ++i) {
      const int workload = (i + round) % workloads;
      if (round < runs[static_cast<std::size_t>(workload)]) order.push_back({0, workload});
    }
  return with_controls(std::move(order));
}

std::vector<PlannedRun> turns_order(int environments, int rounds) {
  std::vector<PlannedRun> order;
  for (int round = 0; round < rounds; ++round)
    for (int i = 0; i < environments; ++i)
      order.push_back({round % 2 == 0 ? i : environments - 1 - i, 0});
  return with_controls(std::move(order));
}

std::vector<PlannedRun> given_order(std::span<const int> environments) {
  std::vector<PlannedRun> order{control};
  for (const int environment : environments) order.push_back({environment, 0});
  return order;
}

std::optional<Workload> announced_workload(std::string_view text) {
  const auto at = text.rfind('@');
  if (at == std::string_view::npos) return std::nullopt;
  const auto name = WorkloadName::parse(text.substr(0, at));
  int version = 0;
  const auto digits = text.substr(at + 1);
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), version);
  if (!name || read.ec != std::errc{} || read.ptr != digits.data() + digits.size() || version < 1)
    return std::nullopt;
  return Workload{{}, *name, version};
}

RunLimits run_limits(const Config::NightConfig& config) {
  RunLimits limits;
  limits.timeout_seconds = config.run_timeout_seconds;
  limits.memory_bytes = config.run_memory_bytes;
  limits.threads = config.threads;
  limits.seconds = config.run_seconds;
  const auto judged = [&](std::string_view metric) {
    return std::find(config.metrics.begin(), config.metrics.end(), metric) != config.metrics.end();
  };
  limits.kernel_iterations = judged("kernel_time") ? profiled_iterations : 0;
  limits.peak_memory = judged("peak_memory");
  return limits;
}

std::vector<Job> plan_screen(const Night& night, const EnvironmentSpec& environment,
                             std::span<const Runner> live, const Config::NightConfig& config,
                             const RunsOf& runs) {
  std::vector<Job> jobs;
  for (const auto& [machine, workloads] : runnable(live, config.workloads)) {
    int index = 0;
    for (const auto& session : sessions_of(workloads, config.session_workloads)) {
      Job job;
      job.key = "night:" + std::to_string(night.id.value) +
                "/machine:" + std::to_string(machine.value) + "/screen:" + std::to_string(index++);
      job.night = night.id;
      job.machine = machine;
      job.spec.kind = JobKind::screen;
      job.spec.environments = {environment};
      std::vector<int> counts;
      for (const auto& [place, name, version] : session) {
        job.spec.workloads.push_back({{}, *WorkloadName::parse(name), version});
        counts.push_back(runs(machine, name, version));
      }
      job.spec.order = screen_order(counts);
      job.spec.limits = run_limits(config);
      jobs.push_back(std::move(job));
    }
  }
  return jobs;
}

}  // namespace nightjar::service
