#include "runner/profile.hpp"

#include <algorithm>
#include <stdexcept>

#include "runner/ceilings.hpp"
#include "runner/failure.hpp"
#include "runner/fingerprint.hpp"
#include "runner/process_executor.hpp"
#include "runner/python.hpp"

namespace nightjar::runner {
namespace {

// The native suite has no profiler inside; its twin has the same operators below.
bool can_be_profiled(Profile& profile, const CatalogEntry& workload) {
  if (workload.kind == WorkloadKind::python) return true;
  profile.status = "unavailable";
  profile.reason = "only Python workloads can be profiled; try its twin python/" +
                   workload.name.str().substr(workload.name.suite().size() + 1);
  return false;
}

}  // namespace

std::vector<Profile> profile(const ProfileConfig& config, const std::vector<CatalogEntry>& workloads,
                             std::stop_token stop,
                             const std::function<void(const std::string&)>& progress) {
  const bool any = std::any_of(workloads.begin(), workloads.end(),
                               [](const auto& one) { return one.kind == WorkloadKind::python; });
  const ImportCheck check = any ? check_import(config.python, {}, {}, stop) : ImportCheck{};
  if (stop.stop_requested()) throw Stopped();
  if (!check.broken.empty())
    throw std::runtime_error(check.broken + " (with " + config.python.string() +
                             "; --python names another one)");
  const auto site_packages = std::filesystem::path(check.torch.path).parent_path().parent_path();
  RunPlace place{config.cache, config.python, config.workloads, site_packages, {}, config.torchbench, {}};
  place.program = kProfileProgram;
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
    if (!can_be_profiled(one, entry)) continue;
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
