#include "runner/profile.hpp"

#include <algorithm>
#include <stdexcept>

#include "runner/ceilings.hpp"
#include "runner/failure.hpp"
#include "runner/fingerprint.hpp"
#include "runner/native_cache.hpp"
#include "runner/process_executor.hpp"
#include "runner/python.hpp"

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
  const ImportCheck check = natives || any_is(WorkloadKind::python, workloads) ? check_import(config.python, {}, {}, stop) : ImportCheck{};
  if (stop.stop_requested()) throw Stopped();
  if (!check.broken.empty())
    throw std::runtime_error(check.broken + " (with " + config.python.string() +
                             "; --python names another one)");
  const auto site_packages = std::filesystem::path(check.torch.path).parent_path().parent_path();
  RunPlace place{config.cache, config.python, config.workloads, site_packages, {}, config.torchbench, {}};
  place.program = kProfileProgram;
  NativeProgram native;
  if (natives) {
    progress("making the native workloads ready");
    native = NativeCache(config.cache, config.workloads / "native").make(libtorch_of_build(site_packages), stop);
    place.profiled = native.library;
  }
  const auto facts = machine_facts();
  UsualProbes probes;
  std::vector<Profile> profiles;
  for (const CatalogEntry& entry : workloads) {
    Profile& one = profiles.emplace_back();
    one.workload = entry.name.str();
    one.version = entry.version;
    one.torch_version = check.torch.version;
    one.torch_commit = check.torch.git_version;
    one.machine = facts;
    one.threads = config.limits.threads;
    const Workload workload{{}, entry.name, entry.version};
    one.reason = obstacle(entry, native);
    if (!one.reason.empty()) {
      one.status = "unavailable";
      continue;
    }
    for (int run = 0; run < config.runs && one.status == "profiled"; ++run) {
      progress("run " + std::to_string(run + 1) + " of " + std::to_string(config.runs) + ": " +
               one.workload);
      const auto process = run_workload(place, {}, &workload, config.limits, probes, stop);
      if (stop.stop_requested()) throw Stopped();
      double fastest = 0;
      add_run(one, process, {site_packages, "", ""}, fastest);
      probes.note(&workload, fastest);
    }
    if (one.status == "profiled")
      one.ceilings = machine_ceilings(place, config, std::string(entry.name.device()), stop, progress);
  }
  return profiles;
}

}  // namespace nightjar::runner
