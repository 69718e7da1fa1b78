#include "runner/run/control.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <iterator>
#include <sched.h>
#include <string>
#include <thread>
#include <time.h>
#include <unistd.h>
#include <vector>

#include "runner/run/gpu_control.hpp"
#include "storage/base/files.hpp"
#include "storage/model/foreign_json.hpp"
#include "storage/model/json.hpp"

namespace nightjar::runner {
namespace {
constexpr int iterations = 40;
constexpr int warmup = 3;
constexpr std::size_t word_count = 1 << 19;  // 4 MiB: beyond most second-level caches
constexpr int steps = 2'000'000;             // of the arithmetic: some 4 ms
constexpr std::chrono::milliseconds pause_between{
    4};  // what disturbs lasts for 50 to 200 ms: look past it

double now(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

// Time spent waiting for a CPU so far: the second field, in nanoseconds.
double wait_seconds() {
  const std::string line = read_line("/proc/self/schedstat");
  const auto space = line.find(' ');
  return space == std::string::npos ? 0 : std::strtod(line.c_str() + space, nullptr) * 1e-9;
}

// A chain of dependent additions and multiplications, then a strided walk that reads and writes.
std::uint64_t work(std::vector<std::uint64_t>& memory, std::uint64_t seed) {
  double x = 1.0 + static_cast<double>(seed % 7) * 1e-9;
  for (int i = 0; i < steps; ++i) x = x * 0.999999999 + 1e-9;
  auto sum = static_cast<std::uint64_t>(x * 1e6);  // NOLINT(custom-foreign-number): x is near 1
  for (std::size_t i = 0, at = 0; i < word_count; ++i, at = (at + 4099) % word_count)
    sum += memory[at] = memory[at] * 6364136223846793005ULL + 1442695040888963407ULL;
  return sum;
}

bool say(const nlohmann::json& event) {
  const std::string line = event.dump() + "\n";
  return ::write(3, line.data(), line.size()) == static_cast<ssize_t>(line.size());
}

// Adds what the GPU did to the answer.
void add_gpu(nlohmann::json& result) {
  const GpuSamples gpu = run_gpu_control();
  if (!gpu.missing.empty()) {
    result["missing"] = {{"gpu_control", gpu.missing}};
    return;
  }
  result["metrics"] = {
      {"gpu_compute", gpu.compute}, {"gpu_bandwidth", gpu.bandwidth}, {"gpu_launch", gpu.launch}};
}

}  // namespace

int run_control() {
  const std::string request(std::istreambuf_iterator<char>(std::cin), {});
  const auto asked = parse_foreign(request);
  if (!asked.is_object() || asked.value("workload", "") != "control") {
    std::cerr << "control: expects a request for the workload 'control' on standard input\n";
    return 2;
  }
  struct Sample {
    double latency, cpu, wait;
  };
  std::vector<Sample> samples;
  std::vector<std::uint64_t> memory(word_count, 1);
  std::uint64_t sum = 0;
  for (int i = 0; i < iterations + warmup; ++i) {
    const double wait = wait_seconds(), cpu = now(CLOCK_PROCESS_CPUTIME_ID);
    const double begin = now(CLOCK_MONOTONIC);
    sum += work(memory, sum);
    const double latency = now(CLOCK_MONOTONIC) - begin;
    const double used = now(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    std::this_thread::sleep_for(pause_between);
    if (i >= warmup) samples.push_back({latency, used, std::max(0.0, wait_seconds() - wait)});
  }
  bool heard = say({{"event", "ready"}});
  for (const Sample& sample : samples)
    heard = heard && say({{"event", "sample"},
                          {"latency", sample.latency},
                          {"cpu", sample.cpu},
                          {"wait", sample.wait}});
  nlohmann::json result{{"event", "result"},
                        {"warmup_iterations", warmup},
                        {"metrics", nlohmann::json::object()},
                        {"checksum", static_cast<double>(sum % 1000003)}};
  if (asked.value("device", "") == "cuda") add_gpu(result);
  heard = heard && say(result);
  if (!heard) std::cerr << "control: nobody listens on file descriptor 3\n";
  return heard ? 0 : 2;
}

}  // namespace nightjar::runner
