// `nightjar-runner` without a command: the agent of a service.
#include <charconv>
#include <memory>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include "runner/agent/agent.hpp"
#include "runner/build/python.hpp"
#include "runner/cli/commands.hpp"
#include "runner/cli/device_agents.hpp"
#include "runner/cli/selection.hpp"
#include "runner/process/failure.hpp"
#include "runner/process/stop_on_signal.hpp"
#include "runner/run/confined_place.hpp"
#include "runner/run/process_executor.hpp"
#include "runner/run/scripted_executor.hpp"
#include "runner/run/wheel_builds.hpp"
#include "storage/base/file_lock.hpp"
#include "storage/base/files.hpp"
#include "web/access.hpp"
#include "web/secret.hpp"

namespace nightjar::runner {
namespace fs = std::filesystem;
namespace {

std::string host_name() {
  char name[256] = "runner";
  ::gethostname(name, sizeof name - 1);
  return name;
}

std::string read_token(const std::string& path) {
  try {
    auto token = web::token_in(path);
    if (const auto warning = web::exposure(path)) spdlog::warn("{}", *warning);
    return token;
  } catch (const std::invalid_argument& error) {
    throw WrongUse(error.what());
  }
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

std::optional<Time> end_of(const std::string& until, Time now) {
  if (until.empty()) return std::nullopt;
  constexpr std::int64_t longest = 1'000'000'000;  // seconds
  std::int64_t seconds = 0;
  const auto [end, error] = std::from_chars(until.data(), until.data() + until.size(), seconds);
  if (error == std::errc() && end == until.data() + until.size() && seconds >= 0 &&
      seconds <= longest)
    return now + std::chrono::seconds(seconds);
  if (const auto time = parse_rfc3339(until)) return time;
  throw WrongUse("--until " + until +
                 " is neither a time in UTC as 2026-08-20T06:00:00Z nor a number of seconds");
}

std::string service_address(const std::string& url) {
  try {
    return web::service_address(url);
  } catch (const std::invalid_argument& error) {
    throw WrongUse(std::string("--service ") + error.what());
  }
}

std::vector<std::string> control_command() {
  std::error_code error;
  return {fs::read_symlink("/proc/self/exe", error).string(), "control"};
}

ConfinementRequest confinement_request(const Options& options, const AgentConfig& agent) {
  ConfinementRequest request;
  if (!options.confinement.empty())
    request.mode = require_enum<ConfinementMode>(options.confinement);
  for (const auto& path : options.visible) request.shown.push_back(fs::absolute(path));
  request.hidden.push_back(fs::absolute(options.token_file));
  if (agent.builder) request.hidden.push_back(agent.builder->work);
  return request;
}

// Says in a label how workloads are confined, so that the service shows it.
std::unique_ptr<Executor> make_executor(const Options& options, AgentConfig& agent,
                                        std::stop_token stop) {
  EnvironmentsConfig environments;
  environments.cache = agent.cache;
  environments.python = python_of(options);
  environments.limit_bytes = options.cache_bytes;
  environments.uv = options.uv;
  environments.download.service = agent.service;
  environments.download.token = agent.token;
  if (!options.scripted.empty())
    return std::make_unique<ScriptedExecutor>(read_script(options.scripted), environments);
  RunPlace place{.cache = environments.cache,
                 .python = environments.python,
                 .workloads = default_workloads(options.workloads),
                 .torchbench = options.torchbench,
                 .externals = read_externals(options.commands)};
  agent.labels["confinement"] = confine(place, confinement_request(options, agent), stop);
  environments.confinement = place.confinement;
  agent.packages = installed_packages(place.python, stop);
  ProcessExecutorConfig config{.place = place, .control = control_command()};
  // A machine that only builds offers no workload, so no session is planned for it.
  if (options.builder == "only")
    return std::make_unique<ProcessExecutor>(std::move(config),
                                             std::make_unique<WheelBuilds>(environments, place));
  const auto listed = catalog_of(options, {});
  for (const auto& chosen : chosen_by(options, suite_of(options, listed), listed))
    if (chosen.listed) config.offered.push_back(chosen.workload);
  return std::make_unique<ProcessExecutor>(std::move(config),
                                           std::make_unique<WheelBuilds>(environments, place));
}

}  // namespace

std::string agent_name(const Options& options) {
  return options.name.empty() ? host_name() : options.name;
}

int run_agent(const Options& options) {
  if (options.service.empty() || options.token_file.empty())
    throw WrongUse("--service and --token-file are needed; see --help for other commands");
  if (options.devices == "each") return run_device_agents(options);
  AgentConfig config;
  config.service = service_address(options.service);
  config.token = read_token(options.token_file);
  config.name = agent_name(options);
  config.labels = labels_of(options.labels);
  config.cache = cache_folder(options.cache);
  if (!options.builder.empty()) {
    config.labels["build"] = options.builder;
    config.builder = {options.work.empty() ? config.cache / "builder" : fs::absolute(options.work),
                      builder_python(options)};
  }
  const SystemClock clock;
  config.until = end_of(options.until, clock.now());
  if (options.idle) config.idle = std::chrono::seconds(*options.idle);
  const FileLock lock = lock_folder(config.cache, "lock", "give each runner a --cache of its own");
  const StopOnSignal stop;
  const auto executor = make_executor(options, config, stop.token());
  Agent(config, *executor, clock).run(stop.token());
  return 0;
}

}  // namespace nightjar::runner
