#include "runner/run/process_executor.hpp"

#include <chrono>
#include <optional>

#include "runner/catalog/variants.hpp"
#include "runner/process/cpu_quota.hpp"
#include "runner/process/failure.hpp"
#include "runner/run/batch_sweep.hpp"
#include "runner/run/batch_trial.hpp"
#include "storage/base/log.hpp"
#include "storage/base/machine_class.hpp"
#include "storage/model/workload_variant.hpp"

namespace nightjar::runner {
namespace {

ParsedRun refused(RunStatus status, std::string reason) {
  ParsedRun run;
  run.result.status = status;
  run.result.reason = std::move(reason);
  return run;
}

// Why the task cannot even be started in this build.
std::optional<ParsedRun> refusal(const RunTask& task, const ReadyBuild& build) {
  const WorkloadName& name = task.workload->name;
  const int threads = threads_of(name).value_or(1), cpus = usable_cpus();
  if (threads > cpus)
    return refused(RunStatus::unavailable,
                   std::to_string(threads) +
                       " threads need as many CPUs, and this runner has the time of " +
                       std::to_string(cpus));
  if (is_native(name) && build.native.path.empty())
    return refused(build.without_native, build.native.reason);
  if (task.profile && find_external(build.place.externals, name))
    return refused(RunStatus::unavailable, no_profiler_inside);
  if (task.profile && !build.expected.is_torch())
    return refused(RunStatus::unavailable, "only builds of PyTorch are profiled");
  return std::nullopt;
}

// What the process has to prove of the PyTorch, or other module, that it loaded.
ExpectedTorch expected_of(const RunTask& task, const ReadyBuild& build) {
  const auto* external = find_external(build.place.externals, task.workload->name);
  if (external && !external->torch) return {};
  ExpectedTorch expected = build.expected;
  // The native program has no torch/version.py; where its libraries come from is checked.
  if (is_native(task.workload->name)) expected.version = expected.git_version = "";
  return expected;
}

// A compiled workload would compile once more, and a device's driver maps memory of its own.
bool has_peak_memory(const RunTask& task, const ReadyBuild& build) {
  const WorkloadName& name = task.workload->name;
  return task.limits->peak_memory && !task.profile && task.slow == 0 && name.device() == "cpu" &&
         name.backend() == "eager" && !find_external(build.place.externals, name);
}

// Sizes are pinned for this class of machine.
std::string class_here() {
  return machine_class(machine_facts()).fingerprint.str();
}

void name_profile(Profile& profile, const RunTask& task, const ReadyTorch& torch) {
  profile.workload = task.workload->name.str();
  profile.version = task.workload->version;
  profile.torch_version = torch.version;
  profile.torch_commit = torch.git_version;
  profile.threads = limits_for(task.workload->name, *task.limits).threads;
}

}  // namespace

ProcessExecutor::ProcessExecutor(ProcessExecutorConfig config, std::unique_ptr<Builds> builds)
    : config_(std::move(config)), builds_(std::move(builds)) {}

std::vector<std::string> ProcessExecutor::workloads() const {
  std::vector<std::string> names;
  for (const auto& entry : config_.offered)
    names.push_back(entry.name.str() + "@" + std::to_string(entry.version));
  return names;
}

std::map<std::string, std::string> ProcessExecutor::facts() const {
  auto facts = machine_facts();
  const std::string here = machine_class(facts).fingerprint.str();
  const PinnedBatches pinned(config_.place.cache);
  for (const auto& entry : config_.offered)
    if (entry.name.batch() == best_batch_name)
      if (const auto batch = pinned.find(here, entry))
        facts["batch size of " + entry.name.str()] = std::to_string(*batch);
  return facts;
}

std::unique_ptr<MachineLock> ProcessExecutor::lock_machine(const std::string& purpose,
                                                           std::stop_token stop) {
  if (config_.machine_lock.empty()) return nullptr;
  const auto waiting = [](const std::string& holder) {
    log::info("waiting for the machine held_by=\"{}\"", holder);
  };
  return std::make_unique<MachineLock>(config_.machine_lock, purpose, std::move(stop), waiting);
}

void ProcessExecutor::begin_session(const JobSpec& spec) {
  ready_.clear();
  builds_->begin_session(spec);
}

Prepared ProcessExecutor::prepare(const EnvironmentSpec& spec, bool native, std::stop_token stop) {
  const auto start = std::chrono::steady_clock::now();
  ReadyBuild build = builds_->make(spec, native, std::move(stop));
  const Prepared prepared{
      build.broken, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(),
      build.broken_status};
  ready_.insert_or_assign(spec.key(), std::move(build));
  return prepared;
}

ProcessExecutor::Attempt ProcessExecutor::attempt(const RunTask& task, const RunPlace& place,
                                                  const ExpectedTorch& expected,
                                                  std::stop_token stop) {
  std::optional<GpuWatch> watch;  // what it sees is in the session's state afterwards, too
  if (task.workload && !task.profile && task.workload->name.device() == "cuda")
    watch.emplace(probe_.gpus());
  const ProcessResult process = run_workload(place, config_.control, task, probes_.of(task), stop);
  if (stop.stop_requested()) throw Stopped();
  Attempt made;
  made.run = task.workload && task.profile ? parse_profile(process, expected)
                                           : parse_run(process, expected);
  if (watch && made.run.result.status == RunStatus::measured) made.throttled = watch->end();
  return made;
}

// Sets the metric peak_memory of `run`, from a second process. A run without it is measured all the
// same, and its settings say why there is none.
void ProcessExecutor::weigh_blocks(ParsedRun& run, RunTask task, const ReadyBuild& build,
                                   std::stop_token stop) {
  task.blocks = true;
  const ParsedRun second = attempt(task, build.place, expected_of(task, build), stop).run;
  run.result.seconds += second.result.seconds;
  const auto peak = second.result.samples.find("peak_cpu_memory");
  if (second.result.status != RunStatus::measured)
    run.lacks("peak_memory", second.result.reason);
  else if (peak == second.result.samples.end())
    run.lacks("peak_memory", "its process gave no peak_cpu_memory");
  else
    run.result.samples["peak_memory"] = peak->second;
}

// Measures at the size that is pinned on this machine. The first such run finds the size out.
ParsedRun ProcessExecutor::run_at_best_batch(const RunTask& task, std::stop_token stop) {
  const std::string name = task.workload->name.str();
  const CatalogEntry entry{task.workload->name, task.workload->version};
  const auto run_sized = [&](const CatalogEntry& sized, const RunLimits& limits) {
    const Workload workload{task.workload->id, sized.name, sized.version};
    RunTask again = task;
    again.workload = &workload;
    again.limits = &limits;
    return run(again, stop);
  };
  const PinnedBatches pinned(config_.place.cache);
  auto batch = pinned.find(class_here(), entry);
  if (!batch) {
    const auto found = sweep_batches(entry, [&](const CatalogEntry& sized, int size) {
      log::info("trying batch size {} workload={}", size, name);
      return try_batch(sized, size, *task.limits, [&](const auto& tried, const auto& limits) {
        return run_sized(tried, limits).result;
      });
    });
    if (!found.batch) return refused(found.status, found.reason);
    pinned.pin(class_here(), entry, *found.batch);
    batch = found.batch;
  }
  ParsedRun done = run_sized(at_batch(entry, "b" + std::to_string(*batch)), *task.limits);
  done.settings["batch size of " + name] = std::to_string(*batch);
  done.result.checksum.reset();  // that of another size, once it is searched for again
  if (done.result.profile) done.result.profile->workload = name;
  return done;
}

ParsedRun ProcessExecutor::run(const RunTask& task, std::stop_token stop) {
  if (!task.workload) return attempt(task, config_.place, {}, stop).run;
  if (task.workload->name.batch() == best_batch_name) return run_at_best_batch(task, stop);
  const ReadyBuild& build = ready_.at(task.environment->key());
  if (auto refused_run = refusal(task, build)) return *refused_run;
  const ExpectedTorch expected = expected_of(task, build);
  Attempt made = attempt(task, build.place, expected, stop);
  for (int repeat = 0; repeat < config_.throttled_repeats && !made.throttled.empty(); ++repeat)
    made = attempt(task, build.place, expected, stop);
  ParsedRun& run = made.run;
  if (config_.throttled_repeats > 0 && !made.throttled.empty()) {
    run.result.status = RunStatus::failed;
    run.result.reason = "the GPU's clocks were held down in each of " +
                        std::to_string(config_.throttled_repeats + 1) + " runs (" + made.throttled +
                        "); see nightjar-runner doctor";
  }
  probes_.note(task, run.fastest_probe);
  if (run.result.status == RunStatus::measured && has_peak_memory(task, build))
    weigh_blocks(run, task, build, stop);
  if (run.result.profile) name_profile(*run.result.profile, task, build.torch);
  return std::move(run);
}

}  // namespace nightjar::runner
