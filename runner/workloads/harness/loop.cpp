#include "harness/loop.hpp"

#include <algorithm>

#include "harness/statistics.hpp"

namespace nightjar::workloads {
namespace {
using Clock = std::chrono::steady_clock;

constexpr int warmup_cap = 25;
constexpr int agreeing_iterations = 5;  // the warm-up ends when this many iterations ...
constexpr double agree_within = 0.01;   // ... are within this share of each other
constexpr std::chrono::seconds slow_after{20};

std::int64_t nanoseconds(Clock::duration duration) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(duration).count();
}

void waste(Clock::duration time) {
  for (const auto end = Clock::now() + time; Clock::now() < end;) {
  }
}

}  // namespace

Loop::Loop(std::int64_t known_probe_ns) : probe_(known_probe_ns) {
  for (auto& column : columns_) column.assign(warmup_cap + iteration_cap + 1, 0);
  columns_[probe_column][0] = probe_.read_ns();
}

void Loop::iterate(const std::function<void()>& step) {
  const auto wait = counters_.wait_ns();
  const auto cpu = counters_.cpu_ns();
  const auto begin = Clock::now();
  step();
  if (pause_.count() > 0) waste(pause_);
  const auto end = Clock::now();
  if (done_ > 0) spent_ += end - begin;
  const auto at = static_cast<std::size_t>(done_++);
  columns_[cpu_column][at] = counters_.cpu_ns() - cpu;
  columns_[wait_column][at] = counters_.wait_ns() - wait;
  columns_[latency_column][at] = nanoseconds(end - begin);
  columns_[resident_column][at] = counters_.resident_bytes();
  columns_[probe_column][at + 1] = probe_.read_ns();
}

bool Loop::slow() const {
  return spent_ >= slow_after;
}

bool Loop::warm() const {
  if (done_ < 1 + agreeing_iterations) return false;
  if (done_ >= warmup_cap || slow()) return true;
  std::vector<double> own;
  for (auto at = static_cast<std::size_t>(done_ - agreeing_iterations);
       at < static_cast<std::size_t>(done_); ++at)
    own.push_back(static_cast<double>(columns_[latency_column][at] - columns_[wait_column][at]));
  const auto [low, high] = std::minmax_element(own.begin(), own.end());
  return *high - *low <= agree_within * median(own);
}

void Loop::slow_down(double share) {
  const auto& latency = columns_[latency_column];
  const std::vector<double> last(latency.begin() + std::max(0, done_ - agreeing_iterations),
                                 latency.begin() + done_);
  pause_ = std::chrono::nanoseconds(static_cast<std::int64_t>(share * median(last)));
}

void Loop::await_quiet(double seconds) {
  columns_[probe_column][static_cast<std::size_t>(done_)] = probe_.await_quiet(seconds);
}

int Loop::clean(int since) const {
  const auto slowdown = this->slowdown(since);
  return static_cast<int>(std::count_if(slowdown.begin(), slowdown.end(),
                                        [](double value) { return value <= slowed_from; }));
}

void Loop::read(Measurement& measurement, int since) const {
  measurement.slowdown = slowdown(since);
  measurement.fastest_probe = static_cast<double>(probe_.fastest_ns()) * 1e-9;
  for (auto at = static_cast<std::size_t>(since); at < static_cast<std::size_t>(done_); ++at) {
    measurement.latency.push_back(static_cast<double>(columns_[latency_column][at]) * 1e-9);
    measurement.cpu.push_back(static_cast<double>(columns_[cpu_column][at]) * 1e-9);
    measurement.wait.push_back(static_cast<double>(columns_[wait_column][at]) * 1e-9);
  }
  const auto& resident = columns_[resident_column];
  measurement.leaked_bytes = leak_slope({resident.begin() + since, resident.begin() + done_});
}

std::vector<double> Loop::slowdown(int since) const {
  const auto& probes = columns_[probe_column];
  std::vector<double> values;
  for (auto at = static_cast<std::size_t>(since); at < static_cast<std::size_t>(done_); ++at)
    values.push_back(probe_.slowdown(std::max(probes[at], probes[at + 1])));
  return values;
}

}  // namespace nightjar::workloads
