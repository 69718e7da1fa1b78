// What a runner is asked to do (a session of interleaved runs) and what it answers, with their
// JSON: this is the protocol between service and runner, and what storage keeps of a job.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "storage/model/accuracy.hpp"
#include "storage/model/control.hpp"
#include "storage/model/enum.hpp"
#include "storage/model/gpu.hpp"
#include "storage/model/hex.hpp"
#include "storage/model/id.hpp"
#include "storage/model/profile.hpp"
#include "storage/model/source_build.hpp"
#include "storage/model/time.hpp"
#include "storage/model/workload.hpp"

namespace nightjar {

// profile: nothing is measured, its runs say where an iteration's time goes. build: nothing is
// measured, a builder makes a wheel from source.
NIGHTJAR_ENUM(JobKind, screen, confirm, bisect, calibrate, profile, build);
NIGHTJAR_ENUM(JobState, queued, leased, done, failed, cancelled);

// Files laid over a copy of the wheel's environment: a tar archive whose members are paths below
// site-packages (regular files only), plus the paths to remove.
struct OverlaySpec {
  std::string url;  // absolute, or a path on the service
  Sha256 sha256;
  std::vector<std::string> removed;
};

// A requirements file: the packages that a build is installed with.
struct LockSpec {
  std::string url;  // absolute, or a path on the service
  Sha256 sha256;
};

// Everything a runner needs to make one build's environment. `build` comes back with each run. A
// wheel of PyTorch is the whole environment; that of another package comes before the PyTorch that
// the runner's own Python has.
struct EnvironmentSpec {
  BuildId build;
  std::string wheel_url;   // absolute, or a path on the service ("/api/v1/artifacts/<sha256>")
  std::string wheel_file;  // "torch-2.13.0.dev20260820+cpu-cp311-cp311-linux_x86_64.whl"
  Sha256 wheel_sha256;
  std::optional<OverlaySpec> overlay;
  // What torch.__version__ must say, or the METADATA of another package; empty: not checked.
  std::string version;
  std::string git_version;       // what torch.version.git_version must say; empty: not checked
  std::string module = "torch";  // what the wheel is for: its runs must load it from there
  // Its packages come before those of the runner's Python; nullopt: it has only the latter.
  std::optional<LockSpec> lock = {};

  // Names the environment in the runner's cache: the hashes of its wheel, overlay and lock.
  std::string key() const;
};

// One process of one workload on one build. `environment` and `workload` index the spec's lists;
// a control run has environment -1 and workload -1: it depends on the machine only.
// `slow`: a slow-down to plant, as a share of an iteration's own time; 0 but for calibration.
struct PlannedRun {
  int environment = -1;
  int workload = -1;
  double slow = 0;
  bool is_control() const { return workload < 0; }
};

struct RunLimits {
  double timeout_seconds = 300;   // of one run
  std::int64_t memory_bytes = 0;  // 0: none
  std::int64_t output_bytes =
      1 << 20;  // of stdout and stderr together; more ends the run as failed
  int threads = 1;
  double seconds = 2.0;  // measuring time after warm-up that a run aims at
  int min_iterations = 10;
  std::uint64_t seed = 0;
  // On a GPU: number of iterations profiled after the timed ones, for kernel_time; 0: none.
  int kernel_iterations = 0;
  // On a CPU, without a compiler: each run has a second process, for peak_memory.
  bool peak_memory = false;
};

// An uninterrupted session: `order` is run from first to last on one runner. A build job has
// `source` in place of a session.
struct JobSpec {
  JobKind kind = JobKind::screen;
  std::vector<EnvironmentSpec> environments;
  std::vector<Workload> workloads;
  std::vector<PlannedRun> order;
  RunLimits limits;
  std::optional<SourceSpec> source;

  bool uses_gpu() const;
};

// unavailable: cannot run here (no CUDA device, missing module), or its environment could not be
// prepared from its archives; no commit is to blame. broken_environment: its build cannot be
// imported, or native workloads do not compile against it, which is the build's fault. A failure of
// the network or the disk ends the whole job instead.
NIGHTJAR_ENUM(RunStatus, measured, failed, crashed, timed_out, out_of_memory, wrong_result,
              unavailable, broken_environment);

// `samples` are iterations in order, by metric name (one value a run: a list of one).
// `cpu_seconds`, `wait_seconds` and `slowdown` go with the iterations of latency: CPU time, time
// spent waiting for a CPU, and how much slower than its best a fixed piece of work ran beside the
// iteration.
struct RunResult {
  int order = 0;  // index into JobSpec::order
  RunStatus status = RunStatus::measured;
  std::string reason;
  std::map<std::string, std::vector<double>> samples;
  std::vector<double> cpu_seconds;
  std::vector<double> wait_seconds;
  std::vector<double> slowdown;
  std::optional<double> checksum;
  int warmup_iterations = 0;
  Time started_at{};
  double seconds = 0;
  std::optional<Profile> profile;  // of this run, where the job asks for profiles
  // What the service expected of it. A runner does not say it.
  std::optional<ExpectedResult> expected = {};
  // What a compiled workload says itself; of a stored run also what its end stands for.
  std::optional<Accuracy> accuracy = {};
};

// What a result may have at most. A plan has some hundred runs.
inline constexpr std::size_t most_runs = 10'000;
inline constexpr std::size_t most_texts = 1'000;    // packages, settings
inline constexpr std::size_t longest_line = 4'000;  // bytes of such a text
// Characters of why something is so, as a person or a runner says it: a line of a list, of an issue
// and of the log.
inline constexpr int longest_reason = 2'000;

// What the machine did meanwhile, at a session's begin and end.
struct MachineState {
  double load1 = 0;
  double steal_share = 0;                    // of all CPU time since the session's begin
  double frequency_mhz = 0;                  // 0: unknown
  std::map<std::string, std::string> extra;  // throttle counts and temperature of the CPU
  std::vector<GpuState> gpus;                // those that workloads may use
};

struct SessionResult {
  std::vector<RunResult> runs;
  MachineState before, after;
  std::map<std::string, std::string> packages;  // resolved versions: "python", "numpy", ...
  std::vector<std::pair<std::string, double>> setup_seconds;  // environment key, seconds
  // How the runs were set up, as they said themselves: "threads", "cpus", "omp_wait_policy", ...
  std::map<std::string, std::string> settings;
};

// Where the control workload's kernels on a GPU lie, in seconds.
struct GpuControl {
  double compute = 0, bandwidth = 0, launch = 0;
};

// Was the machine itself while a session measured? One that was not is void.
struct SessionCheck {
  bool usable = true;
  std::string reason = {};  // why not
  double control = 0;       // the control workload's location, s; 0: none was measured
  std::optional<GpuControl> gpu = {};
  std::vector<ControlReading> readings = {};  // of a screening alone, one a gauge
};

// A job as stored and as claimed. A lease belongs to one attempt: a result for an older attempt is
// refused.
struct Job {
  JobId id;
  std::string key;  // unique: planning twice changes nothing
  NightId night;
  MachineId machine;
  JobSpec spec;
  JobState state = JobState::queued;
  int priority = 0;  // higher first
  int attempt = 0;
  std::optional<RunnerId> runner;    // who holds or held it
  std::optional<RunnerId> affinity;  // the only runner that may claim it
  std::optional<Time> lease_until;
  std::string reason;  // why failed
  Time created_at{};
  std::optional<JobId> repeats;  // the job whose void session this one measures again
  std::string nonce = {};        // of the latest claim; whoever answers for it must know it
};

void to_json(nlohmann::json& json, const JobSpec& spec);
void from_json(const nlohmann::json& json, JobSpec& spec);  // throws nlohmann::json::exception
void to_json(nlohmann::json& json, const SessionResult& result);
void from_json(const nlohmann::json& json, SessionResult& result);
void to_json(nlohmann::json& json, const RunResult& result);
void from_json(const nlohmann::json& json, RunResult& result);

}  // namespace nightjar
