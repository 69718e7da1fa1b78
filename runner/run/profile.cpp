#include "runner/run/profile.hpp"

#include <algorithm>

#include "runner/machine/fingerprint.hpp"
#include "runner/process/failure.hpp"
#include "runner/run/ceilings.hpp"

namespace nightjar::runner {
namespace {

bool any_is(WorkloadKind kind, const std::vector<CatalogEntry>& workloads) {
  return std::any_of(workloads.begin(), workloads.end(),
                     [&](const auto& one) { return one.kind == kind; });
}

// Why a workload cannot be profiled; empty: it can.
std::string obstacle(const CatalogEntry& workload, const NativeProgram& native) {
  if (workload.kind == WorkloadKind::external) return kNoProfilerInside;
  return workload.kind == WorkloadKind::native && native.library.empty() ? native.reason : "";
}

Profile blank_profile(const CatalogEntry& entry, const LocalBuild& build,
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

// All runs, or those until one failed. Throws Stopped.
void add_runs(Profile& profile, const CatalogEntry& entry, const ProfileConfig& config,
              const LocalBuild& build, UsualProbes& probes, const std::stop_token& stop,
              const std::function<void(const std::string&)>& progress) {
  const Workload workload{{}, entry.name, entry.version};
  for (int run = 0; run < config.runs && profile.status == "profiled"; ++run) {
    if (stop.stop_requested()) throw Stopped();
    progress("run " + std::to_string(run + 1) + " of " + std::to_string(config.runs) + ": " +
             profile.workload);
    const auto process = run_workload(build.place, {}, &workload, config.limits, probes, stop);
    if (stop.stop_requested()) throw Stopped();
    double fastest = 0;
    add_run(profile, process, {build.root, "", ""}, fastest);
    if (profile.status != "profiled" && !process.output.empty()) progress(process.end_of_output());
    probes.note(&workload, fastest);
  }
  if (profile.status == "profiled")
    profile.ceilings =
        machine_ceilings(build.place, config, std::string(entry.name.device()), stop, progress);
}

}  // namespace

std::vector<Profile> profile(const ProfileConfig& config,
                             const std::vector<CatalogEntry>& workloads, std::stop_token stop,
                             const std::function<void(const std::string&)>& progress) {
  const bool natives = any_is(WorkloadKind::native, workloads);
  LocalBuild build;
  if (natives || any_is(WorkloadKind::python, workloads))
    build = local_build(config.paths, natives, stop, progress);
  build.place.program = kProfileProgram;
  build.place.profiled = build.native.library;
  const auto facts = machine_facts();
  UsualProbes probes;
  std::vector<Profile> profiles;
  for (const CatalogEntry& entry : workloads) {
    const Profile blank = blank_profile(entry, build, facts, config.limits.threads);
    Profile& one = profiles.emplace_back(blank);
    one.reason = obstacle(entry, build.native);
    try {
      if (one.reason.empty()) add_runs(one, entry, config, build, probes, stop, progress);
    } catch (const Stopped&) {
      one = blank;
      one.reason = kLeftOutStopped;
    }
    if (one.status == "profiled" && !one.reason.empty()) one.status = "unavailable";
  }
  return profiles;
}

}  // namespace nightjar::runner
