// `nightjar-runner --devices each`: an agent for each device of the host, as a child process.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "runner/cli/commands.hpp"

namespace nightjar::runner {

// One agent: what its process is started with.
struct DeviceAgent {
  std::vector<std::string> command;
  std::vector<std::string> changed;  // NAME=value of its environment that differ from this one's
  std::vector<int> cpus;
};

// What this host has for agents.
struct DeviceHost {
  std::string selector;                 // "CUDA_VISIBLE_DEVICES"
  std::vector<std::string> selections;  // its value for each device
  std::vector<std::vector<int>> local;  // the CPUs next to each
  std::vector<int> cpus;                // that may be used, by core
};

// The agents of a host that was started as `command`. Each has a name, a cache and a machine lock
// of its own. Pure. Throws WrongUse without devices or with too few CPUs.
std::vector<DeviceAgent> plan_agents(const DeviceHost& host,
                                     const std::vector<std::string>& command,
                                     const std::string& name, const std::filesystem::path& cache,
                                     const std::filesystem::path& lock);

// What the devices of one host share, for the log.
std::string shared_by(std::size_t devices);

// Runs them until they have ended. One that fails is started again after a while; one that was used
// wrongly ends all. Returns the exit code.
int run_device_agents(const Options& options);

}  // namespace nightjar::runner
