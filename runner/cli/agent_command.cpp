// `nightjar-runner` without a command: the agent of a service.
#include <algorithm>
#include <charconv>
#include <fstream>
#include <memory>
#include <unistd.h>

#include "runner/agent/agent.hpp"
#include "runner/agent/job_token.hpp"
#include "runner/agent/own_token.hpp"
#include "runner/build/python.hpp"
#include "runner/cli/commands.hpp"
#include "runner/cli/device_agents.hpp"
#include "runner/cli/selection.hpp"
#include "runner/machine/gpu_probe.hpp"
#include "runner/machine/own_cpus.hpp"
#include "runner/process/failure.hpp"
#include "runner/process/stop_on_signal.hpp"
#include "runner/run/confined_place.hpp"
#include "runner/run/process_executor.hpp"
#include "runner/run/scripted_executor.hpp"
#include "runner/run/wheel_builds.hpp"
#include "storage/base/file_lock.hpp"
#include "storage/base/files.hpp"
#include "storage/base/foreign_text.hpp"
#include "storage/base/log.hpp"
#include "web/access.hpp"
#include "web/client.hpp"
#include "web/credentials.hpp"
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
    if (const auto warning = web::exposure(path)) log::warn("{}", *warning);
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
  for (const fs::path& file : {fs::path(options.token_file), fs::path(options.enrol_file),
                               fs::path(options.oidc == "github" ? "" : options.oidc),
                               options.certificate, options.key, options.credentials})
    if (!file.empty()) request.hidden.push_back(fs::absolute(file));
  if (!options.token_file.empty())  // a token that a killed agent had not put in place yet
    request.hidden.push_back(fs::absolute(options.token_file + ".next"));
  if (agent.builder) request.hidden.push_back(agent.builder->work);
  return request;
}

// Says in a label how workloads are confined, so that the service shows it.
std::unique_ptr<Executor> make_executor(const Options& options, AgentConfig& agent,
                                        std::stop_token stop) {
  EnvironmentsConfig environments;
  environments.cache = agent.cache;
  environments.python = python_of(options);
  environments.wheels = options.wheels;
  environments.limit_bytes = options.cache_bytes.value_or(usual_limit(agent.cache));
  environments.uv = options.uv;
  environments.internal = options.internal;
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
  environments.rights = place.rights;
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

// Throws WrongUse if the file of this option cannot be read.
fs::path readable(const std::string& option, const fs::path& file) {
  if (file.empty()) return {};
  if (fs::is_directory(file) || !std::ifstream(file))
    throw WrongUse(option + " " + file.string() + ": there is no file that can be read");
  return fs::absolute(file);
}

// Says which certificates belong to the connection with the service, and how to log in elsewhere.
void identify(const Options& options, const std::string& service) {
  if (!options.credentials.empty()) {
    const fs::path file = readable("--credentials", options.credentials);
    if (const auto warning = web::exposure(file)) log::warn("{}", *warning);
    web::set_credentials(web::Credentials::read(file));
  }
  if (!options.key.empty() && options.certificate.empty())
    throw WrongUse("--key belongs to a --certificate, and there is none");
  const web::ClientIdentity identity{service, readable("--certificate", options.certificate),
                                     readable("--key", options.key),
                                     readable("--authorities", options.authorities)};
  if (identity.certificate.empty() && identity.authorities.empty()) return;
  if (!service.starts_with("https://"))
    throw WrongUse("--certificate and --authorities need a service at https://, and not " +
                   service);
  web::set_identity(identity);
}

constexpr std::chrono::hours rotation_retry{1};
constexpr std::string_view no_token =
    "--service and one of --token-file, --enrol and --oidc are needed; see --help for other "
    "commands";

// Where this runner's own token is kept; nullptr: its token stands in the service's configuration.
std::unique_ptr<OwnToken> own_token(const Options& options, const AgentConfig& config) {
  const bool enrols = !options.enrol_file.empty() || !options.oidc.empty();
  const bool configured = !enrols && !options.token_file.empty();
  if (configured) return nullptr;
  const fs::path file =
      options.token_file.empty() ? config.cache / "token" : fs::absolute(options.token_file);
  auto own = std::make_unique<OwnToken>(file, config.service);
  if (!own->is_kept() && !enrols) throw WrongUse(std::string(no_token));
  return own;
}

// False if `stop` came first. A job's token ends with it, so each start draws another one.
bool enrols_in_time(OwnToken& own, const Options& options, const AgentConfig& config,
                    std::stop_token stop) {
  if (options.oidc.empty())
    return own.is_kept() || own.enrol(read_token(options.enrol_file), config.name, std::move(stop));
  const std::string audience = options.audience.empty() ? config.service : options.audience;
  return own.enrol(job_token(options.oidc, audience), config.name, std::move(stop));
}

// When the next replacement is due.
Time replace_token(OwnToken& own, std::chrono::seconds rotate_after, Time now) {
  if (own.rotate()) {
    log::info("token replaced by a new one next_after_seconds={}", rotate_after.count());
    return now + rotate_after;
  }
  log::warn("token not replaced; the old one stays in use cause=\"{}\"", own.error());
  return now + std::min<std::chrono::seconds>(rotate_after, rotation_retry);
}

// A token is replaced between two jobs. Then the agent registers again, so that nothing uses the
// old token any more.
void serve(const Options& options, AgentConfig config, OwnToken* own, std::stop_token stop) {
  const SystemClock clock;
  const std::chrono::seconds rotate_after(options.rotate_after);
  const auto end = config.until;
  const bool is_rotated = own && options.oidc.empty();
  Time rotate_at = is_rotated ? own->made_at() + rotate_after : Time::max();
  for (;;) {
    if (clock.now() >= rotate_at) rotate_at = replace_token(*own, rotate_after, clock.now());
    config.token = read_token(own ? own->file().string() : options.token_file);
    if (is_rotated) config.until = std::min(end.value_or(Time::max()), rotate_at);
    const auto executor = make_executor(options, config, stop);
    Agent(config, *executor, clock).run(stop);
    const bool over = end && clock.now() >= *end;
    if (stop.stop_requested() || over || clock.now() < rotate_at) return;
  }
}

constexpr std::size_t longest_note = 400;  // bytes

// True if this machine may measure. What harms is logged; where that is accepted, sessions note it.
bool passes_doctor(const Options& options, AgentConfig& config, std::stop_token stop) {
  if (options.doctor == "off") return true;
  const std::string harms = harms_text(examine_here(options, std::move(stop)));
  if (harms.empty()) return true;
  if (options.doctor == "required") {
    log::error(
        "this machine is not fit to measure, and nothing was claimed; `nightjar-runner "
        "doctor` says what mends it cause=\"{}\"",
        harms);
    return false;
  }
  log::warn("measures all the same, and each session notes it cause=\"{}\"", harms);
  config.doctor_note = shortened(harms, longest_note);
  return true;
}

// Before this process has a second thread, which would not be pinned.
OwnCpus own_cpus(const Options& options) {
  CpuWish wish{options.cpus, options.cpu_locks, ""};
  const auto gpus = GpuProbe().read();
  if (!gpus.empty()) wish.pci_bus = gpus.front().pci_bus;
  return keep_to_own_cpus(wish);
}

// A part of a device is measured only if CUDA_VISIBLE_DEVICES names it, and a label tells of it.
void name_part_of_device(const Options& options, AgentConfig& config) {
  if (options.device != "cuda") return;
  const std::string named = visible_devices().value_or("");
  if (named.starts_with("MIG-")) {
    config.labels["part"] = named;
    return;
  }
  const auto gpus = GpuProbe().read();
  if (!gpus.empty() && gpus.front().mig.value_or(false))
    throw WrongUse("--device cuda: " + gpus.front().name + " on " + gpus.front().pci_bus +
                   " is cut into parts, which disturb each other; ask for a whole device, or name "
                   "a part by CUDA_VISIBLE_DEVICES=MIG-UUID");
}

}  // namespace

std::string agent_name(const Options& options) {
  return options.name.empty() ? host_name() : options.name;
}

int run_agent(const Options& options) {
  if (options.service.empty()) throw WrongUse(std::string(no_token));
  if (!options.oidc.empty() && !options.enrol_file.empty())
    throw WrongUse("--oidc and --enrol each let a runner in; give one of them");
  if (options.devices == "each") {
    if (!options.enrol_file.empty() || !options.oidc.empty())
      throw WrongUse("--devices each starts several runners, and --enrol and --oidc are for one");
    if (options.cpus > 0 || !options.cpu_locks.empty())
      throw WrongUse("--devices each divides the CPUs itself; leave --cpus and --cpu-locks out");
    return run_device_agents(options);
  }
  const OwnCpus cpus = own_cpus(options);
  AgentConfig config;
  config.service = service_address(options.service);
  identify(options, config.service);
  config.name = agent_name(options);
  config.labels = labels_of(options.labels);
  config.cache = cache_folder(options.cache);
  name_part_of_device(options, config);
  const auto own = own_token(options, config);
  if (!own) read_token(options.token_file);
  if (!options.builder.empty()) {
    config.labels["build"] = options.builder;
    config.builder = {options.work.empty() ? config.cache / "builder" : fs::absolute(options.work),
                      builder_python(options)};
  }
  config.until = end_of(options.until, SystemClock().now());
  if (options.idle) config.idle = std::chrono::seconds(*options.idle);
  const FileLock lock = lock_folder(config.cache, "lock", "give each runner a --cache of its own");
  const StopOnSignal stop;
  if (!passes_doctor(options, config, stop.token())) return 1;
  if (own && !enrols_in_time(*own, options, config, stop.token())) return 0;
  serve(options, std::move(config), own.get(), stop.token());
  return 0;
}

}  // namespace nightjar::runner
