// The protocol between service and runner: JobSpec one way, SessionResult the other.
#include <set>

#include "storage/model/protocol.hpp"

namespace nightjar {
using nlohmann::json;

BOOST_DESCRIBE_STRUCT(GpuProcess, (), (pid, name, memory_bytes))
BOOST_DESCRIBE_STRUCT(GpuState, (),
                      (name, uuid, pci_bus, driver, used, sm_mhz, memory_mhz, power_watts,
                       temperature_celsius, ecc_errors, persistence, memory_bytes, pcie_traffic,
                       nvlink_traffic, mig, sliced, clock_events, others))
BOOST_DESCRIBE_STRUCT(MachineState, (), (load1, steal_share, frequency_mhz, extra, gpus))
BOOST_DESCRIBE_STRUCT(OverlaySpec, (), (url, sha256, removed))
BOOST_DESCRIBE_STRUCT(LockSpec, (), (url, sha256))
BOOST_DESCRIBE_STRUCT(EnvironmentSpec, (),
                      (build, wheel_url, wheel_file, wheel_sha256, overlay, version, git_version))
BOOST_DESCRIBE_STRUCT(ExpectedResult, (), (checksum, tolerance))
BOOST_DESCRIBE_STRUCT(Workload, (), (id, name, version, expected))
BOOST_DESCRIBE_STRUCT(PlannedRun, (), (environment, workload, slow))
BOOST_DESCRIBE_STRUCT(RunLimits, (),
                      (timeout_seconds, memory_bytes, output_bytes, threads, seconds,
                       min_iterations, seed, kernel_iterations, peak_memory))
BOOST_DESCRIBE_STRUCT(JobSpec, (), (kind, environments, workloads, order, limits, source))
BOOST_DESCRIBE_STRUCT(RunResult, (),
                      (order, status, reason, samples, cpu_seconds, wait_seconds, slowdown,
                       checksum, warmup_iterations, started_at, seconds, profile, expected,
                       accuracy))
BOOST_DESCRIBE_STRUCT(SessionResult, (), (runs, before, after, packages, setup_seconds, settings))

namespace {

constexpr std::int64_t most_in_javascript = 9007199254740991;

Schema from_to(std::int64_t least, std::int64_t most) {
  return {{"minimum", least}, {"maximum", most}};
}

void check_slow(const PlannedRun& run) {
  if (!(run.slow >= 0 && run.slow <= 10)) reject_json("in 'slow': it is a share from 0 to 10");
}

void check_order(const JobSpec& spec) {
  for (const PlannedRun& run : spec.order) {
    const bool control = run.environment == -1 && run.workload == -1;
    const bool listed = run.environment >= 0 && run.workload >= 0 &&
                        std::cmp_less(run.environment, spec.environments.size()) &&
                        std::cmp_less(run.workload, spec.workloads.size());
    if (!control && !listed)
      reject_json("in 'order': no such environment and workload: " +
                  described(Parsed<PlannedRun>{}).write(run).dump());
  }
}

void check_spec(const JobSpec& spec) {
  check_order(spec);
  if ((spec.kind == JobKind::build) != spec.source.has_value())
    reject_json("in 'source': a build job has one, and no other job has");
}

void check_orders(const SessionResult& result) {
  std::set<int> orders;
  for (const RunResult& run : result.runs)
    if (run.order < 0 || !orders.insert(run.order).second)
      reject_json("in 'runs': order " + std::to_string(run.order) + " is negative or comes twice");
}

}  // namespace

const Described<GpuProcess>& described(Parsed<GpuProcess>) {
  static const auto made =
      aggregate<GpuProcess>("", "",
                            {{"pid", "", from_to(0, most_in_javascript)},
                             {"memory_bytes", "", from_to(0, most_in_javascript)}});
  return made;
}

const Described<GpuState>& described(Parsed<GpuState>) {
  static const auto made = aggregate<GpuState>(
      "GpuState",
      "What a GPU did, as NVIDIA's management library tells it; null: this device does not tell.",
      {{"used", "By workloads: the first that they see."},
       {"memory_bytes", "That the device has.", from_to(0, most_in_javascript), true},
       {"pcie_traffic", "Bytes a second, in and out, while no run of ours went on.", {}, true},
       {"nvlink_traffic", "Bytes a second, in and out, while no run of ours went on.", {}, true},
       {"mig", "It is cut into parts that share memory and buses.", {}, true},
       {"sliced", "A hypervisor shares it among machines in time slices.", {}, true},
       {"ecc_errors", "Uncorrected, since the driver was loaded.", from_to(0, most_in_javascript)},
       {"clock_events", "Why the clocks were not what they could be, since the state before."},
       {"others", "Processes of others on the device."}});
  return made;
}

const Described<MachineState>& described(Parsed<MachineState>) {
  static const auto made = aggregate<MachineState>("MachineState", "What the machine did.");
  return made;
}

const Described<OverlaySpec>& described(Parsed<OverlaySpec>) {
  static const auto made =
      aggregate<OverlaySpec>("Overlay", "Files laid over a copy of the wheel's environment.");
  return made;
}

const Described<LockSpec>& described(Parsed<LockSpec>) {
  static const auto made = aggregate<LockSpec>(
      "Lock", "A requirements file with hashes: the packages that a build is installed with.");
  return made;
}

// Module and lock are left out where they are the usual ones: jobs that were stored before they
// were there have none.
const Described<EnvironmentSpec>& described(Parsed<EnvironmentSpec>) {
  using Spec = EnvironmentSpec;
  const auto module_of = [](const Spec& spec) {
    return Maybe<std::string>{spec.module == "torch" ? std::nullopt : std::optional(spec.module)};
  };
  static const auto lock_of = [](const Spec& spec) { return Maybe<LockSpec>{spec.lock}; };
  static const auto without_both = aggregate<Spec>("", "");
  static const Described<Spec> made{
      "EnvironmentSpec", "What a runner needs to make one build's environment.",
      Described<Spec>::Fields{
          {"build", &Spec::build},
          {"wheel_url", &Spec::wheel_url},
          {"wheel_file", &Spec::wheel_file},
          {"wheel_sha256", &Spec::wheel_sha256},
          {"overlay", &Spec::overlay},
          {"version", &Spec::version},
          {"git_version", &Spec::git_version},
          {"module", module_of, "What its runs must load from the wheel; torch if absent."},
          {"lock", lock_of, "Its packages come before those of the runner's Python."}},
      [](const json& in) {
        Spec spec = without_both.read(in);
        if (in.contains("module")) spec.module = field<std::string>(in, "module");
        if (in.contains("lock")) spec.lock = field<LockSpec>(in, "lock");
        return spec;
      }};
  return made;
}

const Described<ExpectedResult>& described(Parsed<ExpectedResult>) {
  static const auto made = aggregate<ExpectedResult>(
      "ExpectedResult", "The checksum of the last build that passed.",
      {{"tolerance", "A share of it. A run that differs by more gives another result."}});
  return made;
}

const Described<Workload>& described(Parsed<Workload>) {
  static const auto made = aggregate<Workload>(
      "SpecWorkload", "A workload of a job.",
      {{"expected", "What its runs must give; absent if no build before says.", {}, true}});
  return made;
}

const Described<PlannedRun>& described(Parsed<PlannedRun>) {
  static const auto made = aggregate<PlannedRun>(
      "PlannedRun", "Indices into the spec's lists; -1 both: a control run.",
      {{"slow", "A slow-down to plant, as a share of an iteration; 0 if absent.", {}, true}},
      check_slow);
  return made;
}

const Described<RunLimits>& described(Parsed<RunLimits>) {
  static const auto made =
      aggregate<RunLimits>("RunLimits", "Limits of each run.",
                           {{"kernel_iterations",
                             "Profiled on a GPU after the timed iterations; 0 if absent.",
                             {},
                             true},
                            {"peak_memory",
                             "Whether runs on a CPU have a second process, whose blocks are mapped "
                             "one by one; false if absent.",
                             {},
                             true}});
  return made;
}

const Described<JobSpec>& described(Parsed<JobSpec>) {
  static const auto made = aggregate<JobSpec>(
      "JobSpec",
      "An uninterrupted session: order is run from first to last on one runner. A build job has "
      "'source' instead.",
      {{"source", "Only of a build job.", {}, true}}, check_spec);
  return made;
}

const Described<RunResult>& described(Parsed<RunResult>) {
  constexpr int most = std::numeric_limits<int>::max();
  static const auto made = aggregate<RunResult>(
      "RunResult",
      "A run with its raw samples. In a job of profiles it also has 'profile', as nightjar-runner "
      "profile writes it.",
      {{"order", "", from_to(0, most)},
       {"warmup_iterations", "", from_to(0, most)},
       {"started_at", "",
        named("UtcTime", schema_of<Time>().with({{"description", "It ends with Z."}}))},
       {"profile", "Only of a profile's job.", {}, true},
       {"expected", "What the service expected; it takes no notice of a runner's.", {}, true},
       {"accuracy", "For a compiled workload that reports it itself.", {}, true}});
  return made;
}

const Described<SessionResult>& described(Parsed<SessionResult>) {
  static const auto made = aggregate<SessionResult>(
      "SessionResult", "What a runner measured.",
      {{"settings", "How the runs were set up: threads, CPUs, allocator."}}, check_orders);
  return made;
}

const Described<SetupSeconds>& described(Parsed<SetupSeconds>) {
  static const Described<SetupSeconds> made(
      "SetupSeconds", "How long an environment took to set up.",
      {{"environment", &SetupSeconds::first}, {"seconds", &SetupSeconds::second}},
      [](const json& in) {
        return SetupSeconds{field<std::string>(in, "environment"), field<double>(in, "seconds")};
      });
  return made;
}

void to_json(json& out, const MachineState& state) {
  out = write_value(state);
}
void to_json(json& out, const JobSpec& spec) {
  out = write_value(spec);
}
void to_json(json& out, const RunResult& run) {
  out = write_value(run);
}
void to_json(json& out, const SessionResult& result) {
  out = write_value(result);
}
void from_json(const json& in, JobSpec& spec) {
  spec = parse_json(in, Parsed<JobSpec>{});
}
void from_json(const json& in, RunResult& run) {
  run = parse_json(in, Parsed<RunResult>{});
}
void from_json(const json& in, SessionResult& result) {
  result = parse_json(in, Parsed<SessionResult>{});
}

}  // namespace nightjar
