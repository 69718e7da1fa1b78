// What the program nightjar-runner does, command by command; main.cpp only parses.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "runner/machine/doctor.hpp"
#include "runner/machine/lock.hpp"

namespace nightjar::runner {

struct Options {
  std::string service, token_file, enrol_file, name;
  std::string oidc, audience;                           // of the agent: "github" or a file
  std::filesystem::path certificate, key, authorities;  // of the agent's connection
  std::filesystem::path credentials;                    // of the agent: logins at other hosts
  std::vector<std::string> internal;                    // of the agent: origins
  std::int64_t rotate_after = 30LL * 24 * 3600;         // of the agent, seconds
  std::string until;                // of the agent: RFC 3339, or seconds from now
  std::optional<int> idle;          // of the agent, seconds
  std::vector<std::string> labels;  // "k=v"
  std::filesystem::path cache, python, libtorch, workloads, scripted, torchbench, commands;
  std::optional<std::int64_t> cache_bytes;  // usual_limit()
  std::string uv = "uv";
  std::vector<std::string> globs;  // of measure, profile and list
  std::string suite, device, format = "table";
  bool json = false;
  std::filesystem::path measurement;  // of convert
  std::optional<int> runs;            // 5, or the suite's
  std::optional<double> seconds;      // 2, or the suite's
  std::optional<double> minutes;      // no end, or the suite's
  bool peak_memory = false;           // of measure
  int threads = 1;
  double timeout_seconds = 300;
  std::uint64_t seed = 0;
  std::filesystem::path out;  // of profile, as are the next two
  int iterations = 10;
  bool remeasure = false;
  std::string revision, repository;            // of build, as are the next two and `out`
  std::filesystem::path recipe, work;          // `work` of a builder's agent, too
  std::string devices = "whole-host";          // of the agent; or "each"
  int cpus = 0;                                // of the agent; 0: see CpuWish
  std::filesystem::path cpu_locks, wheels;     // of the agent: folders that it shares
  std::string doctor = "off";                  // of the agent; or "advisory", "required"
  std::string builder;                         // of the agent: empty, "also" or "only"
  std::string confinement;                     // empty: `preferred` of the agent, `off` by hand
  std::vector<std::filesystem::path> visible;  // to confined processes
};

// Each returns the exit code; throws WrongUse, and std::exception when the environment failed.
int run_agent(const Options& options);
int run_list(const Options& options);
int run_measure(const Options& options);
int run_convert(const Options& options);
int run_profile(const Options& options);
int run_doctor(const Options& options);
int run_prepare_native(const Options& options);
int run_build(const Options& options);

// --cache, else .cache/runner of this checkout if it has a .cache, else ~/.cache/nightjar-runner.
std::filesystem::path cache_folder(const std::filesystem::path& asked);

// --name, else the host's.
std::string agent_name(const Options& options);

// The Python of a builder, absolute. Throws WrongUse if --python names none.
std::filesystem::path builder_python(const Options& options);

// What the doctor finds here, as the options name cache, Python and workloads.
std::vector<Finding> examine_here(const Options& options, std::stop_token stop);

// Waits until nothing else of ours measures or compiles on this machine, and says whom it waits
// for. Throws Stopped.
std::unique_ptr<MachineLock> lock_this_machine(const std::string& purpose, std::stop_token stop);

}  // namespace nightjar::runner
