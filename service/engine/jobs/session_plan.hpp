// The order of runs in a session, as pure functions: what is compared is interleaved, so that a
// drift of the machine meets both sides alike; control runs stand at both ends and in the middle.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "service/config.hpp"
#include "storage/model/build.hpp"
#include "storage/model/job.hpp"
#include "storage/model/machine.hpp"
#include "storage/model/night.hpp"

namespace nightjar::service {

// Rounds over all workloads on environment 0, each round one workload further on; workload i takes
// part in the first runs[i] rounds.
std::vector<PlannedRun> screen_order(std::span<const int> runs);
// `rounds` over the first environments, workload 0: forwards and backwards in turn, so that two are
// run 0 1 and 1 0.
std::vector<PlannedRun> turns_order(int environments, int rounds);
// A control, then the given environments in this order, workload 0.
std::vector<PlannedRun> given_order(std::span<const int> environments);

// Whether one of its workloads is selected.
bool can_run_any(const Runner& runner, const std::vector<std::string>& globs);

// Splits "name@version" as runners announce it; nullopt for anything else.
std::optional<Workload> announced_workload(std::string_view text);

// One session for each machine class and group of workloads that the configuration selects, in the
// order of its globs: what the first one selects is measured first. The same live runners can run
// all workloads of a session.
// Keys depend on night and content only: planning twice changes nothing. `runs`: how many of a
// workload on a machine class.
using RunsOf = std::function<int(MachineId machine, const std::string& workload, int version)>;
std::vector<Job> plan_screen(const Night& night, const EnvironmentSpec& environment,
                             std::span<const Runner> live, const Config::NightConfig& config,
                             const RunsOf& runs);

RunLimits run_limits(const Config::NightConfig& config);

}  // namespace nightjar::service
