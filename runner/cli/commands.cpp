#include "runner/cli/commands.hpp"

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "runner/catalog/source_tree.hpp"
#include "runner/cli/selection.hpp"
#include "runner/format/measure_output.hpp"
#include "runner/format/profile_output.hpp"
#include "runner/process/failure.hpp"
#include "runner/process/stop_on_signal.hpp"
#include "runner/run/confined_place.hpp"
#include "runner/run/profile.hpp"
#include "storage/base/files.hpp"
#include "storage/base/terminal.hpp"
#include "storage/model/json.hpp"
#include "storage/model/run_value.hpp"

namespace nightjar::runner {
namespace fs = std::filesystem;
namespace {

void say(const std::string& progress) {
  put_text(stderr, shown_lines(progress) + "\n");
}

LocalPaths local_paths(const Options& options) {
  return {python_of(options), options.libtorch, default_workloads(options.workloads),
          cache_folder(options.cache), options.torchbench};
}

RunLimits limits_of(const Options& options) {
  RunLimits limits;
  limits.threads = options.threads;
  limits.timeout_seconds = options.timeout_seconds;
  limits.seed = options.seed;
  limits.kernel_iterations = profiled_iterations;
  limits.peak_memory = options.peak_memory;
  return limits;
}

// Returns 0 only if every workload was measured or profiled.
int exit_status(bool all, const StopOnSignal& stop) {
  return all && !stop.token().stop_requested() ? 0 : 1;
}

void refuse_all_but_native(const Options& options, const std::vector<ChosenWorkload>& chosen) {
  if (options.libtorch.empty()) return;
  for (const auto& one : chosen)
    if (!is_native(one.workload.name))
      throw WrongUse("--libtorch measures native workloads only, and " + one.workload.name.str() +
                     " is none; name them by 'native/**'");
}

}  // namespace

fs::path cache_folder(const fs::path& asked) {
  if (!asked.empty()) return fs::absolute(asked);
  const fs::path ours = source_tree() / ".cache";
  if (ours.is_absolute() && fs::is_directory(ours)) return ours / "runner";
  const char* home = std::getenv("HOME");
  return fs::path(home ? home : "/var/cache") / ".cache/nightjar-runner";
}

std::unique_ptr<MachineLock> lock_this_machine(const std::string& purpose, std::stop_token stop) {
  const auto waiting = [](const std::string& holder) {
    nightjar::say(stderr, "waiting for %s: one job at a time measures or compiles on a machine\n",
                  holder.c_str());
  };
  return std::make_unique<MachineLock>(machine_lock_path(), purpose, std::move(stop), waiting);
}

int run_list(const Options& options) {
  const auto catalog = catalog_of(options, options.globs);
  auto items = nlohmann::ordered_json::array();
  for (const auto& [workload, priority, here] :
       chosen_by(options, suite_of(options, catalog), catalog)) {
    if (options.json)
      items.push_back({{"workload", workload.name.str()},
                       {"version", here ? nlohmann::ordered_json(workload.version)
                                        : nlohmann::ordered_json(nullptr)},
                       {"kind", here ? nlohmann::ordered_json(std::string(name_of(workload.kind)))
                                     : nlohmann::ordered_json(nullptr)}});
    else
      nightjar::say(stdout, "%s\n", workload.name.str().c_str());
  }
  if (options.json) put_text(stdout, nlohmann::ordered_json{{"items", items}}.dump(2) + "\n");
  return 0;
}

int run_measure(const Options& options) {
  const std::string format = options.json ? "json" : options.format;
  if (options.globs.empty() && options.suite.empty())
    throw WrongUse("measure what? Name a workload or a glob, or --suite NAME");
  const auto listed = catalog_of(options, options.globs);
  const Suite suite = suite_of(options, listed);
  const auto chosen = chosen_by(options, suite, listed);
  refuse_all_but_native(options, chosen);
  const StopOnSignal stop;
  MeasureConfig config;
  config.paths = local_paths(options);
  config.externals = read_externals(options.commands);
  config.runs = options.runs.value_or(suite.runs.value_or(5));
  config.minutes = options.minutes ? options.minutes : suite.minutes;
  config.limits = limits_of(options);
  config.limits.seconds = options.seconds.value_or(suite.seconds.value_or(2));
  const auto lock =
      lock_this_machine("measures " + chosen.front().workload.name.str(), stop.token());
  const Measurement measurement = measure(config, chosen, stop.token(), say);
  put_text(stdout, format == "json" ? measurement_json(measurement)
                                    : formatted(suite_result(measurement), format));
  return exit_status(
      std::ranges::all_of(measurement.workloads,
                          [](const auto& one) { return one.status == RunStatus::measured; }),
      stop);
}

int run_convert(const Options& options) {
  const std::string attempt = "cannot convert " + options.measurement.string() + ": ";
  const auto text = read_file(options.measurement);
  if (!text) throw WrongUse(attempt + "no such file, or not readable");
  try {
    const SuiteResult result = read_suite_result(*text);
    if (result.items.empty()) throw std::invalid_argument("the file holds no workload");
    put_text(stdout, formatted(result, options.format));
  } catch (const std::invalid_argument& error) {
    throw WrongUse(attempt + error.what() + "; it must be what `measure --json` wrote");
  }
  return 0;
}

int run_profile(const Options& options) {
  if (options.globs.empty()) throw WrongUse("profile what? Name a workload or a glob");
  if (const auto problem = output_problem(options.out); !options.out.empty() && !problem.empty())
    throw WrongUse(problem);
  const StopOnSignal stop;
  std::vector<CatalogEntry> selected;
  for (const auto& one : chosen_by(options, {}, catalog_of(options, options.globs)))
    selected.push_back(one.workload);
  ProfileConfig config{local_paths(options), options.runs.value_or(5), limits_of(options),
                       options.remeasure};
  config.limits.min_iterations = options.iterations;
  const auto lock = lock_this_machine("profiles " + selected.front().name.str(), stop.token());
  const auto profiles = profile(config, selected, stop.token(), say);
  const std::string json = profiles_json(profiles);
  if (!options.out.empty()) write_output(options.out, json);
  if (options.json) put_text(stdout, json);
  for (const Profile& one : profiles)
    if (!options.json)
      put_text(stdout, shown_lines(profile_table(one)) + (&one == &profiles.back() ? "" : "\n"));
  return exit_status(
      std::ranges::all_of(profiles, [](const auto& one) { return one.status == "profiled"; }),
      stop);
}

std::vector<Finding> examine_here(const Options& options, std::stop_token stop) {
  const RunPlace place{.cache = cache_folder(options.cache),
                       .python = python_of(options),
                       .workloads = default_workloads(options.workloads),
                       .torchbench = {}};
  Health health = observe_machine(place.cache, place.python);
  if (const auto why = why_not_confined(place, {}, std::move(stop))) {
    health.unconfined = why->problem;
    health.to_confine = why->remedy;
  }
  return examine(health);
}

int run_doctor(const Options& options) {
  const StopOnSignal stop;
  const auto findings = examine_here(options, stop.token());
  put_text(stdout, options.json ? findings_json(findings) : shown_lines(findings_text(findings)));
  return any_harmful(findings) ? 1 : 0;
}

int run_prepare_native(const Options& options) {
  const StopOnSignal stop;
  const auto lock = lock_this_machine("compiles native workloads", stop.token());
  const NativeProgram native = local_build(local_paths(options), true, stop.token(), say).native;
  if (native.path.empty()) throw std::runtime_error(native.reason);
  nightjar::say(stdout, "%s\n", native.path.c_str());
  return 0;
}

}  // namespace nightjar::runner
