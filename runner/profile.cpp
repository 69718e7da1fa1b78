#include "runner/profile.hpp"

#include <algorithm>

#include "runner/ceilings.hpp"
#include "runner/failure.hpp"
#include "runner/fingerprint.hpp"

namespace nightjar::runner {
namespace {

bool any_is(WorkloadKind kind, const std::vector<CatalogEntry>& workloads) {
  return std::any_of(workloads.begin(), workloads.end(), [&](const auto& one) { return one.kind == kind; });
}

// Why a workload cannot be profiled; empty: it can.
std::string obstacle(const CatalogEntry& workload, const NativeProgram& native) {
  if (workload.kind == WorkloadKind::external) return kNoProfilerInside;
  return workload.kind == WorkloadKind::native && native.library.empty() ? native.reason : "";
}

}  // namespace

std::vector<Profile> profile(const ProfileConfig& config, const std::vector<CatalogEntry>& workloads,
                             std::stop_token stop,
                             const std::function<void(const std::string&)>& progress) {
  const bool natives = any_is(WorkloadKind::native, workloads);
  LocalBuild build;
  if (natives || any_is(WorkloadKind::python, workloads)) build = local_build(config.paths, natives, stop, progress);
  build.place.program = kProfileProgram;
  build.place.profiled = build.native.library;
  const auto facts = machine_facts();
  UsualProbes probes;
  std::vector<Profile> profiles;
  for (const CatalogEntry& entry : workloads) {
    Profile& one = profiles.emplace_back();
    one.workload = entry.name.str();
    one.version = entry.version;
    one.torch_version = build.torch.version;
    one.torch_commit = build.torch.git_version;
    one.machine = facts;
    one.threads = config.limits.threads;
    const Workload workload{{}, entry.name, entry.version};
    one.reason = obstacle(entry, build.native);
    if (!one.reason.empty()) {
      one.status = "unavailable";
      continue;
    }
    for (int run = 0; run < config.runs && one.status == "profiled"; ++run) {
      progress("run " + std::to_string(run + 1) + " of " + std::to_string(config.runs) + ": " +
               one.workload);
      const auto process = run_workload(build.place, {}, &workload, config.limits, probes, stop);
      if (stop.stop_requested()) throw Stopped();
      double fastest = 0;
      add_run(one, process, {build.root, "", ""}, fastest);
      probes.note(&workload, fastest);
    }
    if (one.status == "profiled")
      one.ceilings = machine_ceilings(build.place, config, std::string(entry.name.device()), stop, progress);
  }
  return profiles;
}

}  // namespace nightjar::runner
