#include "service/engine/night/profile_turns.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "service/builds/overlay.hpp"
#include "service/engine/jobs/priorities.hpp"
#include "service/engine/jobs/session_plan.hpp"
#include "storage/jobs.hpp"

namespace nightjar::service {
namespace {

constexpr int runs_of_turn = 3;
constexpr int iterations_of_turn = 20;  // profiled in each run

// Begins the keys of this workload's sessions; the night's number follows.
std::string turn_key(MachineId machine, const Workload& workload) {
  return "profile/machine:" + std::to_string(machine.value) + "/" + workload.name.str() + "@" +
         std::to_string(workload.version) + "/night:";
}

Job turn_of(MachineId machine, const Workload& workload, const Night& night, const Build& build,
            const Config& config) {
  Job job;
  job.key = turn_key(machine, workload) + std::to_string(night.id.value);
  job.night = night.id;
  job.machine = machine;
  job.priority = priority::profile;
  job.spec.kind = JobKind::profile;
  job.spec.environments = {environment_of(build, config.project)};
  job.spec.workloads = {workload};
  job.spec.order.assign(runs_of_turn, {.environment = 0, .workload = 0});
  job.spec.limits = run_limits(config.night);
  job.spec.limits.min_iterations = iterations_of_turn;
  return job;
}

}  // namespace

ProfileTurns load_profile_turns(const EngineView& view, const std::vector<Job>& usable) {
  const int most = view.config.project.is_pytorch() ? view.config.night.profiles : 0;
  if (most == 0) return {};
  ProfileTurns turns;
  for (const Job& job : usable)
    for (const Workload& workload : job.spec.workloads) turns[job.machine].push_back(workload);
  for (auto& [machine, workloads] : turns) {
    std::map<std::string, std::optional<JobId>> last;  // by key
    for (const Workload& workload : workloads) {
      const std::string key = turn_key(machine, workload);
      last[key] = storage::last_job_with_key(view.db, key);
    }
    const auto turn = [&](const Workload& workload) {
      const std::string key = turn_key(machine, workload);
      return std::pair(last.at(key), key);  // nullopt is before any job
    };
    std::sort(workloads.begin(), workloads.end(),
              [&](const Workload& one, const Workload& other) { return turn(one) < turn(other); });
    const auto is_same = [](const Workload& one, const Workload& other) {
      return one.name == other.name && one.version == other.version;
    };
    workloads.erase(std::unique(workloads.begin(), workloads.end(), is_same), workloads.end());
    workloads.erase(workloads.begin() + std::min<std::ptrdiff_t>(most, std::ssize(workloads)),
                    workloads.end());
  }
  return turns;
}

std::vector<Job> plan_profiles(const ProfileTurns& turns, const Night& night, const Build& build,
                               const Config& config) {
  std::vector<Job> jobs;
  for (const auto& [machine, workloads] : turns)
    for (const Workload& workload : workloads)
      jobs.push_back(turn_of(machine, workload, night, build, config));
  return jobs;
}

}  // namespace nightjar::service
