#include "runner/commands.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <memory>

#include "runner/agent.hpp"
#include "runner/doctor.hpp"
#include "runner/failure.hpp"
#include "runner/files.hpp"
#include "runner/machine_lock.hpp"
#include "runner/measure_output.hpp"
#include "runner/profile.hpp"
#include "runner/profile_output.hpp"
#include "runner/process_executor.hpp"
#include "runner/python.hpp"
#include "runner/scripted_executor.hpp"
#include "runner/selection.hpp"
#include "runner/stop_on_signal.hpp"

namespace nightjar::runner {
namespace fs = std::filesystem;
namespace {

std::string host_name() {
  char name[256] = "runner";
  ::gethostname(name, sizeof name - 1);
  return name;
}

std::string read_token(const std::string& path) {
  const auto text = read_file(path);
  if (!text) throw WrongUse("cannot read the token file " + path);
  const auto begin = text->find_first_not_of(" \t\r\n");
  if (begin == std::string::npos) throw WrongUse("the token file " + path + " is empty");
  const auto token = text->substr(begin, text->find_last_not_of(" \t\r\n") - begin + 1);
  if (token.find_first_of(" \t\r\n") != std::string::npos)
    throw WrongUse("the token file " + path + " holds more than one word");
  return token;
}

std::map<std::string, std::string> labels_of(const std::vector<std::string>& texts) {
  std::map<std::string, std::string> labels;
  for (const auto& text : texts) {
    const auto equals = text.find('=');
    if (equals == 0 || equals == std::string::npos)
      throw WrongUse("--label " + text + " is not of the form k=v");
    labels[text.substr(0, equals)] = text.substr(equals + 1);
  }
  return labels;
}

std::string service_address(std::string url) {
  while (url.ends_with('/')) url.pop_back();
  if (!url.starts_with("http://") && !url.starts_with("https://"))
    throw WrongUse("--service " + url + " is no http:// or https:// address");
  return url;
}

std::unique_ptr<MachineLock> lock_machine(const std::string& purpose, std::stop_token stop) {
  const auto waiting = [](const std::string& holder) {
    std::cerr << "waiting for " << holder << ": one job at a time measures or compiles on a machine\n";
  };
  return std::make_unique<MachineLock>(machine_lock_path(), purpose, std::move(stop), waiting);
}

std::vector<std::string> control_command() {
  std::error_code error;
  return {fs::read_symlink("/proc/self/exe", error).string(), "control"};
}

std::unique_ptr<Executor> make_executor(const Options& options, const AgentConfig& agent) {
  EnvironmentsConfig environments;
  environments.cache = agent.cache;
  environments.python = default_python(options.python);
  environments.limit_bytes = options.cache_bytes;
  environments.download.service = agent.service;
  environments.download.token = agent.token;
  if (!options.scripted.empty())
    return std::make_unique<ScriptedExecutor>(read_script(options.scripted), environments);
  ProcessExecutorConfig config{.environments = environments,
                               .workloads = default_workloads(options.workloads),
                               .control = control_command(),
                               .torchbench = options.torchbench};
  config.externals = read_externals(options.commands);
  const auto listed = catalog_of(options, {});
  if (const Suite suite = suite_of(options, listed); !suite.workloads.empty())
    for (const auto& chosen : chosen_by(options, suite, listed))
      if (chosen.listed) config.offered.push_back(chosen.workload);
  if (config.offered.empty()) config.offered = listed;
  return std::make_unique<ProcessExecutor>(std::move(config));
}

LocalPaths local_paths(const Options& options) {
  return {default_python(options.python), options.libtorch, default_workloads(options.workloads),
          cache_folder(options.cache), options.torchbench};
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
  const fs::path ours = fs::path(NIGHTJAR_SOURCE_DIR) / ".cache";
  if (fs::is_directory(ours)) return ours / "runner";
  const char* home = std::getenv("HOME");
  return fs::path(home ? home : "/var/cache") / ".cache/nightjar-runner";
}

int run_agent(const Options& options) {
  if (options.service.empty() || options.token_file.empty())
    throw WrongUse("--service and --token-file are needed; see --help for other commands");
  AgentConfig config;
  config.service = service_address(options.service);
  config.token = read_token(options.token_file);
  config.name = options.name.empty() ? host_name() : options.name;
  config.labels = labels_of(options.labels);
  config.cache = cache_folder(options.cache);
  fs::create_directories(config.cache);
  const FileLock lock(config.cache / "lock");
  const StopOnSignal stop;
  const SystemClock clock;
  const auto executor = make_executor(options, config);
  Agent(config, *executor, clock).run(stop.token());
  return 0;
}

int run_list(const Options& options) {
  const auto catalog = catalog_of(options, options.globs);
  const Suite suite = suite_of(options, catalog);
  if (suite.workloads.empty())
    for (const auto& entry : catalog) std::cout << entry.name.str() << "\n";
  else
    for (const auto& one : expand(suite.workloads, catalog)) std::cout << one.name.str() << "\n";
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
  config.limits.threads = options.threads;
  config.limits.seconds = options.seconds.value_or(suite.seconds.value_or(2));
  config.limits.timeout_seconds = options.timeout_seconds;
  config.limits.seed = options.seed;
  const auto lock = lock_machine("measures " + chosen.front().workload.name.str(), stop.token());
  const auto progress = [](const std::string& line) { std::cerr << line << "\n"; };
  const Measurement measurement = measure(config, chosen, stop.token(), progress);
  std::cout << (format == "json" ? measurement_json(measurement)
                                 : formatted(suite_result(measurement), format));
  return std::all_of(measurement.workloads.begin(), measurement.workloads.end(),
                     [](const auto& one) { return one.status == RunStatus::measured; })
             ? 0
             : 1;
}

int run_convert(const Options& options) {
  const std::string attempt = "cannot convert " + options.measurement.string() + ": ";
  const auto text = read_file(options.measurement);
  if (!text) throw WrongUse(attempt + "no such file, or not readable");
  try {
    std::cout << formatted(read_suite_result(*text), options.format);
  } catch (const std::invalid_argument& error) {
    throw WrongUse(attempt + error.what() + "; it must be what `measure --json` wrote");
  }
  return 0;
}

int run_profile(const Options& options) {
  if (options.globs.empty()) throw WrongUse("profile what? Name a workload or a glob");
  const StopOnSignal stop;
  const auto selected = select(catalog_of(options, options.globs), options.globs);
  if (selected.empty())
    throw WrongUse("no workload matches '" + options.globs.front() + "'; `nightjar-runner list` shows all");
  ProfileConfig config{local_paths(options), options.runs.value_or(5), {}, options.remeasure};
  config.limits.threads = options.threads;
  config.limits.min_iterations = options.iterations;
  config.limits.timeout_seconds = options.timeout_seconds;
  config.limits.seed = options.seed;
  const auto lock = lock_machine("profiles " + selected.front().name.str(), stop.token());
  const auto progress = [](const std::string& line) { std::cerr << line << "\n"; };
  const auto profiles = profile(config, selected, stop.token(), progress);
  const std::string json = profiles_json(profiles);
  if (!options.out.empty()) write_durably(options.out, json);
  if (options.json) std::cout << json;
  for (const Profile& one : profiles)
    if (!options.json) std::cout << profile_table(one) << (&one == &profiles.back() ? "" : "\n");
  return 0;
}

int run_doctor(const Options& options) {
  const auto findings =
      examine(look_at_machine(cache_folder(options.cache), default_python(options.python)));
  std::cout << (options.json ? findings_json(findings) : findings_text(findings));
  return any_harmful(findings) ? 1 : 0;
}

int run_prepare_native(const Options& options) {
  const StopOnSignal stop;
  const auto lock = lock_machine("compiles native workloads", stop.token());
  const auto progress = [](const std::string& line) { std::cerr << line << "\n"; };
  const NativeProgram native = local_build(local_paths(options), true, stop.token(), progress).native;
  if (native.path.empty()) throw std::runtime_error(native.reason);
  std::cout << native.path.string() << "\n";
  return 0;
}

}  // namespace nightjar::runner
