#include "runner/cli/device_agents.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <sys/wait.h>
#include <system_error>
#include <thread>
#include <unistd.h>

#include "runner/machine/gpu_probe.hpp"
#include "runner/machine/partition.hpp"
#include "runner/process/cpu_quota.hpp"
#include "runner/process/failure.hpp"
#include "runner/process/memory_group.hpp"
#include "runner/process/stop_on_signal.hpp"
#include "runner/process/wait.hpp"
#include "storage/base/child.hpp"
#include "storage/base/files.hpp"
#include "storage/base/log.hpp"

namespace nightjar::runner {
namespace fs = std::filesystem;
namespace {
using namespace std::chrono_literals;

constexpr auto look_every = 200ms;
constexpr auto pause_between = 10s;  // before a failed agent is started again
constexpr int wrong_use = 2;

// The command without these options, each written "--name value" or "--name=value".
std::vector<std::string> without(const std::vector<std::string>& command,
                                 const std::set<std::string>& options) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < command.size(); ++i) {
    const std::string& word = command[i];
    if (options.contains(word)) {
      ++i;
      continue;
    }
    if (!options.contains(word.substr(0, word.find('=')))) out.push_back(word);
  }
  return out;
}

std::vector<std::string> own_command() {
  std::vector<std::string> words;
  const std::string text = read_file("/proc/self/cmdline").value_or("");
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find('\0', at), text.size());
    words.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  std::error_code error;
  if (!words.empty()) words.front() = fs::read_symlink("/proc/self/exe", error);
  return words;
}

// This process's environment with these variables instead.
std::vector<std::string> environment_with(const std::vector<std::string>& changed) {
  std::map<std::string, std::string> all;
  const auto add = [&](const std::string& pair) { all[pair.substr(0, pair.find('='))] = pair; };
  for (char** pair = environ; *pair; ++pair) add(*pair);
  std::for_each(changed.begin(), changed.end(), add);
  std::vector<std::string> out;
  for (const auto& [name, pair] : all) out.push_back(pair);
  return out;
}

// The agents as processes.
class Agents {
 public:
  explicit Agents(std::vector<DeviceAgent> planned) {
    for (DeviceAgent& one : planned) agents_.push_back({std::move(one), -1, {}});
    for (const int standard : {0, 1, 2})
      descriptors_.emplace_back(::fcntl(standard, F_DUPFD_CLOEXEC, 10));
    for (Running& one : agents_) start(one);
  }

  // True while one runs or is to be started again.
  bool look() {
    for (Running& one : agents_) {
      if (one.pid > 0) take_end(one);
      if (one.again && std::chrono::steady_clock::now() >= *one.again) start(one);
    }
    return std::any_of(agents_.begin(), agents_.end(),
                       [](const Running& one) { return one.pid > 0 || one.again; });
  }

  void stop() {
    stopping_ = true;
    for (Running& one : agents_) {
      one.again.reset();
      if (one.pid > 0) ::kill(one.pid, SIGTERM);
    }
  }

  bool used_wrongly() const { return used_wrongly_; }

 private:
  struct Running {
    DeviceAgent agent;
    pid_t pid = -1;
    std::optional<std::chrono::steady_clock::time_point> again;
  };

  void start(Running& one) {
    one.again.reset();
    ChildSpec spec;
    spec.command = one.agent.command;
    spec.environment = environment_with(one.agent.changed);
    for (const Fd& descriptor : descriptors_) spec.descriptors.push_back(descriptor.get());
    spec.cpus = one.agent.cpus;
    const Child child = start_child(spec);
    if (child.error != 0)
      throw std::runtime_error("cannot start the agent of " + one.agent.changed.front() + ": " +
                               std::generic_category().message(child.error));
    one.pid = child.pid;
  }

  void take_end(Running& one) {
    int status = 0;
    if (::waitpid(one.pid, &status, WNOHANG) != one.pid) return;
    one.pid = -1;
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    if (code == 0 || stopping_) return;
    used_wrongly_ |= code == wrong_use;
    log::error("the agent of {} ended with {}", one.agent.changed.front(), code);
    if (code != wrong_use) one.again = std::chrono::steady_clock::now() + pause_between;
  }

  std::vector<Running> agents_;
  std::vector<Fd> descriptors_;
  bool stopping_ = false, used_wrongly_ = false;
};

DeviceHost host_here() {
  GpuProbe probe;
  DeviceHost host{probe.selector(), probe.selections(), {}, by_core(allowed_cpus())};
  if (host.selections.empty())
    throw WrongUse("--devices each: " + (probe.missing().empty()
                                             ? host.selector + " lets none be seen"
                                             : probe.missing()));
  for (const GpuState& gpu : probe.read()) {
    if (gpu.mig.value_or(false))
      throw WrongUse("--devices each: " + gpu.name + " on " + gpu.pci_bus +
                     " is cut into parts, which are no devices to measure on alone");
    host.local.push_back(cpus_near(gpu.pci_bus));
  }
  return host;
}

}  // namespace

std::vector<DeviceAgent> plan_agents(const DeviceHost& host,
                                     const std::vector<std::string>& command,
                                     const std::string& name, const fs::path& cache,
                                     const fs::path& lock) {
  std::vector<std::vector<int>> cpus;
  try {
    cpus = divide_cpus(host.cpus, host.local);
  } catch (const std::invalid_argument& error) {
    throw WrongUse(std::string("--devices each: ") + error.what());
  }
  const auto common = without(command, {"--devices", "--name", "--cache"});
  std::vector<DeviceAgent> agents;
  for (std::size_t i = 0; i < host.selections.size(); ++i) {
    const std::string number = std::to_string(i);
    DeviceAgent agent{common,
                      {host.selector + "=" + host.selections[i],
                       "NIGHTJAR_MACHINE_LOCK=" + lock.string() + ".gpu" + number},
                      cpus[i]};
    for (const std::string& word :
         {std::string("--name"), name + "-gpu" + number, std::string("--cache"),
          (cache / ("gpu" + number)).string(), std::string("--label"), std::string("devices=each")})
      agent.command.push_back(word);
    agents.push_back(std::move(agent));
  }
  return agents;
}

std::string shared_by(std::size_t devices) {
  return std::to_string(devices) +
         " devices measure side by side: they share the host's memory bandwidth, caches, PCIe, "
         "power and cooling. Latency scatters more than with --devices whole-host, and "
         "interleaving does not cancel it";
}

int run_device_agents(const Options& options) {
  const StopOnSignal stop;
  const auto agents = plan_agents(host_here(), own_command(), agent_name(options),
                                  cache_folder(options.cache), machine_lock_path());
  if (agents.size() > 1) log::warn("{}", shared_by(agents.size()));
  make_room_for_groups();
  Agents running(agents);
  bool told = false;
  while (running.look()) {
    if (!told && (stop.token().stop_requested() || running.used_wrongly())) {
      running.stop();
      told = true;
    }
    // Once stopped, the token no longer waits.
    if (told)
      std::this_thread::sleep_for(look_every);
    else
      wait_for(look_every, stop.token());
  }
  return running.used_wrongly() ? wrong_use : 0;
}

}  // namespace nightjar::runner
