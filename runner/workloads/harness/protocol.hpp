// The protocol with the runner: a request on standard input, answers as JSON lines on descriptor 3.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace nightjar::workloads {

struct BadRequest : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Request {
  std::string workload;
  std::int64_t version = 1;
  std::uint64_t seed = 0;
  int threads = 1;
  int min_iterations = 10;
  double seconds = 2.0;
  double fastest_probe = 0;   // of earlier processes on this machine, in seconds; 0: not known
  double slow = 0;            // a slow-down to plant, as a share of an iteration's time
  bool tiny = false;          // sizes: "tiny" instead of "default"
  int kernel_iterations = 0;  // on a device: profiled after the timed ones, for kernel_time
  // Iterations after which peak memory is read, unless they are slow. The warm-up is no longer.
  int peak_at = 30;
};

// Throws BadRequest, which names the field that is wrong.
Request parse_request(const std::string& text);

struct Ready {
  std::string torch_version, torch_git_version, torch_path;
  std::map<std::string, std::string> packages, settings;
  std::int64_t memory_after_import = 0;
};

struct GpuMemory {
  std::int64_t peak_allocated = 0, peak_reserved = 0;  // bytes
  double leaked = 0;                                   // bytes an iteration
};

struct OnDevice {
  std::vector<double> latency;  // seconds by the device's events, one an iteration
  std::vector<double> kernels;  // seconds of all kernels of each profiled iteration
  std::string kernels_missing;  // why there are none; empty: nobody asked, or there are
  std::optional<GpuMemory> memory;
};

struct Measurement {
  int warmup_iterations = 0;
  std::vector<double> latency, cpu, wait;  // seconds, one an iteration
  std::vector<double> slowdown;            // of the probes beside each; 1 is the fastest
  double fastest_probe = 0;                // seconds
  std::int64_t peak_bytes = 0;
  double leaked_bytes = 0;  // each iteration
  double checksum = 0;
  std::int64_t parameters = 0;
  OnDevice device;  // empty on a CPU
};

class Channel {
 public:
  // Writes to descriptor 3 if the caller opened it, else to standard output, for a terminal.
  Channel();
  void ready(const Ready& ready) const;
  void result(const Measurement& measurement) const;
  void error(const std::string& status, const std::string& reason) const;

 private:
  int descriptor_;
};

}  // namespace nightjar::workloads
