// The messages between service and runner, field by field: what writes and reads them, and what
// openapi.json says of them. Brings json.hpp along: see SLOW in tests/star_test.py.
#pragma once

#include <utility>

#include "storage/model/described.hpp"
#include "storage/model/job.hpp"

namespace nightjar {

using SetupSeconds = std::pair<std::string, double>;  // environment key, seconds

inline Profile parse_json(const nlohmann::json& in, Parsed<Profile>) {
  return in.get<Profile>();
}

const Described<GpuProcess>& described(Parsed<GpuProcess>);
const Described<GpuState>& described(Parsed<GpuState>);
const Described<MachineState>& described(Parsed<MachineState>);
const Described<OverlaySpec>& described(Parsed<OverlaySpec>);
const Described<LockSpec>& described(Parsed<LockSpec>);
const Described<EnvironmentSpec>& described(Parsed<EnvironmentSpec>);
const Described<ExpectedResult>& described(Parsed<ExpectedResult>);
const Described<Workload>& described(Parsed<Workload>);
const Described<PlannedRun>& described(Parsed<PlannedRun>);
const Described<RunLimits>& described(Parsed<RunLimits>);
const Described<SourceSpec>& described(Parsed<SourceSpec>);
const Described<JobSpec>& described(Parsed<JobSpec>);
const Described<RunResult>& described(Parsed<RunResult>);
const Described<SetupSeconds>& described(Parsed<SetupSeconds>);
const Described<SessionResult>& described(Parsed<SessionResult>);
const Described<CacheCounts>& described(Parsed<CacheCounts>);
const Described<CacheStatistics>& described(Parsed<CacheStatistics>);
const Described<SourceResult>& described(Parsed<SourceResult>);

}  // namespace nightjar
