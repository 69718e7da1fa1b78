#include "harness.hpp"

#include <algorithm>
#include <array>
#include <chrono>

#include "probe.hpp"
#include "process.hpp"

namespace nightjar::workloads {
namespace {
using Clock = std::chrono::steady_clock;

constexpr int kChecksumAt = 5;  // iterations, warm-up included: so that time cannot change it
constexpr int kPeakAt = 30;
constexpr int kWarmupCap = 25;
constexpr int kAgree = 5;         // so many iterations within ...
constexpr double kWithin = 0.01;  // ... this share of each other end the warm-up
constexpr int kCap = 1000;
constexpr int kClean = 10;        // undisturbed iterations that measuring goes on for ...
constexpr double kPatience = 12;  // ... up to this multiple of the time asked for
constexpr std::size_t kLeakPoints = 200;

std::int64_t nanoseconds(Clock::duration duration) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(duration).count();
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

// Counters are read outside the timed span, and their arrays exist before it: the harness itself
// must not show in memory.
class Loop {
 public:
  explicit Loop(std::int64_t known_probe_ns) : probe_(known_probe_ns) {
    for (auto& column : columns_) column.assign(kWarmupCap + kCap + 1, 0);
    columns_[kProbe][0] = probe_.read_ns();
  }

  template <class Step>
  void iterate(const Step& step) {
    const auto wait = counters_.wait_ns();
    const auto cpu = counters_.cpu_ns();
    const auto begin = Clock::now();
    step();
    if (pause_.count() > 0) waste(pause_);
    const auto end = Clock::now();
    const auto at = static_cast<std::size_t>(done_++);
    columns_[kCpu][at] = counters_.cpu_ns() - cpu;
    columns_[kWait][at] = counters_.wait_ns() - wait;
    columns_[kLatency][at] = nanoseconds(end - begin);
    columns_[kResident][at] = counters_.resident_bytes();
    columns_[kProbe][at + 1] = probe_.read_ns();
  }

  int done() const { return done_; }

  // The first iteration never counts; then the last five, less their waiting, must agree.
  bool warm() const {
    if (done_ >= kWarmupCap) return true;
    if (done_ < 1 + kAgree) return false;
    std::vector<double> own;
    for (int i = done_ - kAgree; i < done_; ++i) {
      const auto at = static_cast<std::size_t>(i);
      own.push_back(static_cast<double>(columns_[kLatency][at] - columns_[kWait][at]));
    }
    const auto [low, high] = std::minmax_element(own.begin(), own.end());
    return *high - *low <= kWithin * median(own);
  }

  // From here on an iteration takes this share of its warm time longer: a planted slow-down.
  void slow_down(double share) {
    std::vector<double> last;
    for (int i = std::max(0, done_ - kAgree); i < done_; ++i)
      last.push_back(static_cast<double>(columns_[kLatency][static_cast<std::size_t>(i)]));
    pause_ = std::chrono::nanoseconds(static_cast<std::int64_t>(share * median(std::move(last))));
  }

  void await_quiet(double seconds) {
    columns_[kProbe][static_cast<std::size_t>(done_)] = probe_.await_quiet(seconds);
  }

  // How many iterations were not disturbed, from `since` on.
  int clean(int since) const {
    const auto slowdown = this->slowdown(since);
    return static_cast<int>(std::count_if(slowdown.begin(), slowdown.end(),
                                          [](double value) { return value <= kSlowed; }));
  }

  void read(Measurement& measurement, int since) const {
    measurement.slowdown = slowdown(since);
    measurement.fastest_probe = static_cast<double>(probe_.fastest_ns()) * 1e-9;
    for (int i = since; i < done_; ++i) {
      const auto at = static_cast<std::size_t>(i);
      measurement.latency.push_back(static_cast<double>(columns_[kLatency][at]) * 1e-9);
      measurement.cpu.push_back(static_cast<double>(columns_[kCpu][at]) * 1e-9);
      measurement.wait.push_back(static_cast<double>(columns_[kWait][at]) * 1e-9);
    }
    measurement.leaked_bytes =
        leak_slope({columns_[kResident].begin() + since, columns_[kResident].begin() + done_});
  }

 private:
  static void waste(Clock::duration time) {
    for (const auto end = Clock::now() + time; Clock::now() < end;) {
    }
  }

  enum Column { kLatency, kCpu, kWait, kResident, kProbe };

  std::vector<double> slowdown(int since) const {
    const auto& probes = columns_[kProbe];
    std::vector<double> values;
    for (auto at = static_cast<std::size_t>(since); at < static_cast<std::size_t>(done_); ++at)
      values.push_back(probe_.slowdown(std::max(probes[at], probes[at + 1])));
    return values;
  }

  Clock::duration pause_{0};
  Counters counters_;
  Probe probe_;
  std::array<std::vector<std::int64_t>, 5> columns_;
  int done_ = 0;
};

}  // namespace

Measurement measure(const Steps& steps, int min_iterations, double seconds,
                    double fastest_probe, double slow) {
  Measurement measurement;
  Loop loop(static_cast<std::int64_t>(fastest_probe * 1e9));
  while (!loop.warm()) {
    if (loop.done() != kChecksumAt - 1) {
      loop.iterate(steps.iterate);
      continue;
    }
    std::function<double()> sum;
    loop.iterate([&] { sum = steps.iterate_and_keep(); });
    measurement.checksum = sum();
  }
  const int warmup = measurement.warmup_iterations = loop.done();
  if (slow > 0) loop.slow_down(slow);
  const auto begin = Clock::now();
  for (;;) {
    if (loop.done() == kPeakAt) measurement.peak_bytes = peak_bytes();
    const int measured = loop.done() - warmup;
    if (measured >= kCap) break;
    const double spent = std::chrono::duration<double>(Clock::now() - begin).count();
    if (measured >= min_iterations && spent >= seconds && loop.done() >= kPeakAt) {
      const double left = kPatience * seconds - spent;
      if (left <= 0 || loop.clean(warmup) >= std::max(min_iterations, kClean)) break;
      loop.await_quiet(left);
    }
    loop.iterate(steps.iterate);
  }
  loop.read(measurement, warmup);
  return measurement;
}

double leak_slope(const std::vector<std::int64_t>& resident) {
  const std::size_t count = resident.size();
  if (count < 2) return 0;
  const std::size_t step = std::max<std::size_t>(1, (count + kLeakPoints - 1) / kLeakPoints);
  std::vector<double> slopes;
  for (std::size_t i = 0; i < count; i += step)
    for (std::size_t j = i + step; j < count; j += step)
      slopes.push_back(static_cast<double>(resident[j] - resident[i]) / static_cast<double>(j - i));
  return slopes.empty() ? 0 : median(std::move(slopes));
}

}  // namespace nightjar::workloads
