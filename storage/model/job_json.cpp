// The protocol between service and runner: JobSpec one way, SessionResult the other.
#include <set>

#include "storage/model/job.hpp"
#include "storage/model/json_io.hpp"

namespace nightjar {

using nlohmann::json;

void to_json(json& out, const Workload& workload) {
  out = {{"id", workload.id}, {"name", workload.name}, {"version", workload.version}};
}

Workload parse_json(const json& in, Parsed<Workload>) {
  return {field<WorkloadId>(in, "id"), field<WorkloadName>(in, "name"), field<int>(in, "version")};
}

static void to_json(json& out, const OverlaySpec& overlay) {
  out = {{"url", overlay.url}, {"sha256", overlay.sha256}, {"removed", overlay.removed}};
}

static OverlaySpec parse_json(const json& in, Parsed<OverlaySpec>) {
  return {field<std::string>(in, "url"), field<Sha256>(in, "sha256"),
          field<std::vector<std::string>>(in, "removed")};
}

static void to_json(json& out, const EnvironmentSpec& environment) {
  out = {{"build", environment.build},
         {"wheel_url", environment.wheel_url},
         {"wheel_file", environment.wheel_file},
         {"wheel_sha256", environment.wheel_sha256},
         {"overlay", environment.overlay},
         {"version", environment.version},
         {"git_version", environment.git_version}};
}

static EnvironmentSpec parse_json(const json& in, Parsed<EnvironmentSpec>) {
  return {field<BuildId>(in, "build"),
          field<std::string>(in, "wheel_url"),
          field<std::string>(in, "wheel_file"),
          field<Sha256>(in, "wheel_sha256"),
          field<std::optional<OverlaySpec>>(in, "overlay"),
          field<std::string>(in, "version"),
          field<std::string>(in, "git_version")};
}

static void to_json(json& out, const PlannedRun& run) {
  out = {{"environment", run.environment}, {"workload", run.workload}};
  if (run.slow != 0) out["slow"] = run.slow;
}

static PlannedRun parse_json(const json& in, Parsed<PlannedRun>) {
  const double slow = in.contains("slow") ? field<double>(in, "slow") : 0;
  if (!(slow >= 0 && slow <= 10)) reject_json("in 'slow': it is a share from 0 to 10");
  return {field<int>(in, "environment"), field<int>(in, "workload"), slow};
}

static void to_json(json& out, const RunLimits& limits) {
  out = {{"timeout_seconds", limits.timeout_seconds},
         {"memory_bytes", limits.memory_bytes},
         {"output_bytes", limits.output_bytes},
         {"threads", limits.threads},
         {"seconds", limits.seconds},
         {"min_iterations", limits.min_iterations},
         {"seed", limits.seed}};
}

static RunLimits parse_json(const json& in, Parsed<RunLimits>) {
  return {field<double>(in, "timeout_seconds"),
          field<std::int64_t>(in, "memory_bytes"),
          field<std::int64_t>(in, "output_bytes"),
          field<int>(in, "threads"),
          field<double>(in, "seconds"),
          field<int>(in, "min_iterations"),
          field<std::uint64_t>(in, "seed")};
}

void to_json(json& out, const JobSpec& spec) {
  out = {{"kind", spec.kind},
         {"environments", spec.environments},
         {"workloads", spec.workloads},
         {"order", spec.order},
         {"limits", spec.limits}};
}

void from_json(const json& in, JobSpec& spec) {
  JobSpec read{field<JobKind>(in, "kind"), field<std::vector<EnvironmentSpec>>(in, "environments"),
               field<std::vector<Workload>>(in, "workloads"),
               field<std::vector<PlannedRun>>(in, "order"), field<RunLimits>(in, "limits")};
  for (const PlannedRun& run : read.order) {
    const bool control = run.environment == -1 && run.workload == -1;
    const bool listed = run.environment >= 0 && run.workload >= 0 &&
                        std::cmp_less(run.environment, read.environments.size()) &&
                        std::cmp_less(run.workload, read.workloads.size());
    if (!control && !listed)
      reject_json("in 'order': no such environment and workload: " + json(run).dump());
  }
  spec = std::move(read);
}

void to_json(json& out, const RunResult& run) {
  out = {{"order", run.order},
         {"status", run.status},
         {"reason", run.reason},
         {"samples", run.samples},
         {"cpu_seconds", run.cpu_seconds},
         {"wait_seconds", run.wait_seconds},
         {"slowdown", run.slowdown},
         {"checksum", run.checksum},
         {"warmup_iterations", run.warmup_iterations},
         {"started_at", run.started_at},
         {"seconds", run.seconds}};
  if (run.profile) out["profile"] = *run.profile;
}

static RunResult parse_json(const json& in, Parsed<RunResult>) {
  return {field<int>(in, "order"),
          field<RunStatus>(in, "status"),
          field<std::string>(in, "reason"),
          field<std::map<std::string, std::vector<double>>>(in, "samples"),
          field<std::vector<double>>(in, "cpu_seconds"),
          field<std::vector<double>>(in, "wait_seconds"),
          field<std::vector<double>>(in, "slowdown"),
          field<std::optional<double>>(in, "checksum"),
          field<int>(in, "warmup_iterations"),
          field<Time>(in, "started_at"),
          field<double>(in, "seconds"),
          in.contains("profile") ? std::optional(in["profile"].get<Profile>()) : std::nullopt};
}

void from_json(const json& in, RunResult& run) {
  run = parse_json(in, Parsed<RunResult>{});
}

void to_json(json& out, const MachineState& state) {
  out = {{"load1", state.load1},
         {"steal_share", state.steal_share},
         {"frequency_mhz", state.frequency_mhz},
         {"extra", state.extra},
         {"gpus", state.gpus}};
}

static MachineState parse_json(const json& in, Parsed<MachineState>) {
  return {field<double>(in, "load1"), field<double>(in, "steal_share"),
          field<double>(in, "frequency_mhz"),
          field<std::map<std::string, std::string>>(in, "extra"),
          field<std::vector<GpuState>>(in, "gpus")};
}

using SetupSeconds = std::pair<std::string, double>;

static SetupSeconds parse_json(const json& in, Parsed<SetupSeconds>) {
  return {field<std::string>(in, "environment"), field<double>(in, "seconds")};
}

void to_json(json& out, const SessionResult& result) {
  json setup = json::array();
  for (const auto& [environment, seconds] : result.setup_seconds)
    setup.push_back({{"environment", environment}, {"seconds", seconds}});
  out = {{"runs", result.runs},
         {"before", result.before},
         {"after", result.after},
         {"packages", result.packages},
         {"setup_seconds", std::move(setup)},
         {"settings", result.settings}};
}

void from_json(const json& in, SessionResult& result) {
  SessionResult read{field<std::vector<RunResult>>(in, "runs"),
                     field<MachineState>(in, "before"),
                     field<MachineState>(in, "after"),
                     field<std::map<std::string, std::string>>(in, "packages"),
                     field<std::vector<SetupSeconds>>(in, "setup_seconds"),
                     field<std::map<std::string, std::string>>(in, "settings")};
  std::set<int> orders;
  for (const RunResult& run : read.runs)
    if (run.order < 0 || !orders.insert(run.order).second)
      reject_json("in 'runs': order " + std::to_string(run.order) + " is negative or comes twice");
  result = std::move(read);
}

}  // namespace nightjar
