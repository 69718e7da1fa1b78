#include "runner/run/profile.hpp"

#include <algorithm>

#include "runner/machine/fingerprint.hpp"
#include "runner/process/failure.hpp"
#include "runner/run/ceilings.hpp"
#include "runner/run/session.hpp"

namespace nightjar::runner {
namespace {

bool any_is(WorkloadKind kind, const std::vector<CatalogEntry>& workloads) {
  return std::any_of(workloads.begin(), workloads.end(),
                     [&](const auto& one) { return one.kind == kind; });
}

// Why a workload cannot be profiled; empty: it can.
std::string obstacle(const CatalogEntry& workload, const NativeProgram& native) {
  if (workload.kind == WorkloadKind::external) return no_profiler_inside;
  return workload.kind == WorkloadKind::native && native.library.empty() ? native.reason : "";
}

Profile blank_profile(const CatalogEntry& entry, const ReadyBuild& build,
                      const std::map<std::string, std::string>& facts, int threads) {
  Profile profile;
  profile.workload = entry.name.str();
  profile.version = entry.version;
  profile.torch_version = build.torch.version;
  profile.torch_commit = build.torch.git_version;
  profile.machine = facts;
  profile.threads = threads;
  return profile;
}

// A session of all runs, or of those until one failed. Throws Stopped.
void add_runs(Profile& profile, const CatalogEntry& entry, const ProfileConfig& config,
              Executor& executor, const std::stop_token& stop,
              const std::function<void(const std::string&)>& progress) {
  int begun = 0;
  SessionHooks hooks;
  hooks.wanted = [&](const PlannedRun&) {
    if (profile.status != "profiled") return false;
    progress("run " + std::to_string(++begun) + " of " + std::to_string(config.runs) + ": " +
             profile.workload);
    return true;
  };
  hooks.done = [&](const PlannedRun&, const ParsedRun& run) {
    if (run.result.profile) return append(profile, *run.result.profile);
    profile.status = name_of(run.result.status);
    profile.reason = run.result.reason;
    if (!run.details.empty()) progress(run.details);
  };
  const std::vector<std::size_t> order(static_cast<std::size_t>(config.runs), 0);
  const JobSpec job = local_job(JobKind::profile, {entry}, order, config.limits);
  run_session({}, job, executor, SystemClock(), stop, hooks);
}

}  // namespace

std::vector<Profile> profile(const ProfileConfig& config,
                             const std::vector<CatalogEntry>& workloads, std::stop_token stop,
                             const std::function<void(const std::string&)>& progress) {
  const bool natives = any_is(WorkloadKind::native, workloads);
  ReadyBuild build;
  if (natives || any_is(WorkloadKind::python, workloads))
    build = local_build(config.paths, natives, stop, progress);
  ProcessExecutor executor = local_executor(build, 0);
  const auto facts = machine_facts();
  std::vector<Profile> profiles;
  for (const CatalogEntry& entry : workloads) {
    ProfileConfig own = config;
    own.limits = limits_for(entry.name, config.limits);
    const Profile blank = blank_profile(entry, build, facts, own.limits.threads);
    Profile& one = profiles.emplace_back(blank);
    one.reason = obstacle(entry, build.native);
    try {
      if (one.reason.empty()) add_runs(one, entry, config, executor, stop, progress);
      if (one.reason.empty())
        one.ceilings =
            machine_ceilings(build.place, own, std::string(entry.name.device()), stop, progress);
    } catch (const Stopped&) {
      one = blank;
      one.reason = left_out_stopped;
    }
    if (one.status == "profiled" && !one.reason.empty()) one.status = "unavailable";
  }
  return profiles;
}

}  // namespace nightjar::runner
