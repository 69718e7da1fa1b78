#include "runner/run/scripted_executor.hpp"

#include <cmath>
#include <numbers>

#include "runner/build/unpack.hpp"
#include "runner/process/failure.hpp"
#include "runner/process/wait.hpp"
#include "storage/base/files.hpp"
#include "storage/base/foreign_number.hpp"

namespace nightjar::runner {
namespace {

// SplitMix64: the same numbers with every compiler and library, which std's distributions are not.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15ULL;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }
  double normal() {
    const double u = (static_cast<double>(next() >> 11) + 0.5) * 0x1p-53;
    const double v = static_cast<double>(next() >> 11) * 0x1p-53;
    return std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * v);
  }

 private:
  std::uint64_t state_;
};

Random random_of(const Script& script, const RunTask& task) {
  Random seed(script.seed);
  Random job(seed.next() ^ static_cast<std::uint64_t>(task.job.value));
  return Random(job.next() ^ static_cast<std::uint64_t>(task.order));
}

void pretend(double seconds, std::stop_token stop) {
  const std::chrono::milliseconds pause(clamped_integer<long>(seconds * 1000, 0, 1L << 40));
  if (pause.count() > 0 ? !wait_for(pause, stop) : stop.stop_requested()) throw Stopped();
}

void draw(const std::map<std::string, ScriptedLevel>& levels, int iterations, Random& random,
          RunResult& result) {
  for (const auto& [name, level] : levels) {
    const double location = level.value * std::exp(level.noise * random.normal());
    if (name != "latency") {
      result.samples[name] = {location};
      continue;
    }
    for (int i = 0; i < iterations; ++i) {
      result.samples[name].push_back(location * (1 + 0.001 * random.normal()));
      result.cpu_seconds.push_back(result.samples[name].back());
      result.wait_seconds.push_back(0);
      result.slowdown.push_back(1);
    }
  }
  result.warmup_iterations = 1;
}

ParsedRun without_profile() {
  ParsedRun run;
  run.result.status = RunStatus::unavailable;
  run.result.reason = "a script has no operators";
  return run;
}

}  // namespace

ScriptedExecutor::ScriptedExecutor(Script script, EnvironmentsConfig environments)
    : script_(std::move(script)) {
  environments.rights.reset();
  if (script_.download || script_.unpack)
    environments_ = std::make_unique<Environments>(std::move(environments));
}

std::map<std::string, std::string> ScriptedExecutor::facts() const {
  std::map<std::string, std::string> facts = machine_facts();
  for (const auto& [name, text] : script_.facts) facts[name] = text;
  return facts;
}

void ScriptedExecutor::begin_session(const JobSpec& spec) {
  site_packages_.clear();
  if (environments_) environments_->begin_session(spec.environments);
}

bool ScriptedExecutor::matches(const RunCondition& when, const EnvironmentSpec& environment,
                               const Workload* workload) const {
  const auto glob = [](const std::string& pattern, const std::string& text) {
    return pattern.empty() || glob_match(pattern, text);
  };
  if (!when.workload.empty() && !(workload && glob(when.workload, workload->name.str())))
    return false;
  if (!glob(when.version, environment.version) || !glob(when.wheel, environment.wheel_file) ||
      !environment.git_version.starts_with(when.commit) ||
      !environment.wheel_sha256.str().starts_with(when.wheel_sha256))
    return false;
  const std::string overlay = environment.overlay ? environment.overlay->sha256.str() : "none";
  if (!overlay.starts_with(when.overlay_sha256)) return false;
  if (when.build_from && environment.build.value < *when.build_from) return false;
  if (when.build_to && environment.build.value > *when.build_to) return false;
  if (when.file.empty()) return true;
  const auto folder = site_packages_.find(environment.key());
  if (folder == site_packages_.end()) return false;
  const auto text = read_file(folder->second / when.file);
  return text && text->find(when.contains) != std::string::npos;
}

Prepared ScriptedExecutor::prepare(const EnvironmentSpec& environment, bool, std::stop_token stop) {
  Prepared prepared{"", script_.prepare_seconds};
  if (script_.unpack) {
    const Environment made = environments_->make(environment, stop);
    site_packages_[environment.key()] = made.site_packages;
    prepared = {made.broken, made.seconds, made.status};
  } else if (script_.download) {
    try {
      environments_->download_only(environment, stop);
    } catch (const BrokenArchive& error) {
      prepared.broken = error.what();
      prepared.status = RunStatus::unavailable;
    }
  }
  pretend(script_.prepare_seconds, stop);
  for (const Rule& rule : script_.rules)
    if (rule.status == RunStatus::broken_environment && prepared.broken.empty() &&
        matches(rule.when, environment, nullptr))
      prepared.broken = rule.reason;
  return prepared;
}

ParsedRun ScriptedExecutor::run(const RunTask& task, std::stop_token stop) {
  pretend(script_.run_seconds, stop);
  if (task.profile) return without_profile();
  Random random = random_of(script_, task);
  ParsedRun run;
  run.result.seconds = script_.run_seconds;
  if (!task.workload) {
    draw({{"latency", script_.control}}, script_.iterations, random, run.result);
    return run;
  }
  std::map<std::string, ScriptedLevel> levels;
  double checksum = 1;
  for (const Rule& rule : script_.rules) {
    if (!matches(rule.when, *task.environment, task.workload)) continue;
    for (const auto& [name, level] : rule.metrics) levels[name] = level;
    for (const auto& [name, factor] : rule.factors)
      if (const auto found = levels.find(name); found != levels.end())
        found->second.value *= factor;
    checksum = rule.checksum.value_or(checksum);
    if (rule.status) run.result.status = *rule.status;
    if (rule.status) run.result.reason = rule.reason;
  }
  if (run.result.status == RunStatus::measured && !levels.contains("latency")) {
    run.result.status = RunStatus::unavailable;
    run.result.reason = "the script has no latency for " + task.workload->name.str();
  }
  if (run.result.status != RunStatus::measured) return run;
  if (const auto latency = levels.find("latency"); latency != levels.end())
    latency->second.value *= 1 + task.slow;
  draw(levels, script_.iterations, random, run.result);
  run.result.checksum = checksum;
  return run;
}

}  // namespace nightjar::runner
