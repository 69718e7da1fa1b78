// What others on the same node do to the runs of one series. Each fault slows some runs in a row,
// whichever build they measure. Nothing here is known to the detection.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

namespace nightjar::test {

// splitmix64: one word of state, since a fleet has many series.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  double normal() {
    return std::sqrt(-2 * std::log(1 - uniform())) * std::cos(2 * M_PI * uniform());
  }
  // Student's t with 3 degrees of freedom, scaled to the quartiles of a normal.
  double heavy() {
    const double chi = std::pow(normal(), 2) + std::pow(normal(), 2) + std::pow(normal(), 2);
    return normal() / std::sqrt(chi / 3) * (.6745 / .7649);
  }
  bool happens(double probability) { return uniform() < probability; }
  double between(double low, double high) { return low + (high - low) * uniform(); }

 private:
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15ULL;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }
  std::uint64_t state_;
};

// Runs take seconds each, so that 30 runs are minutes. All sizes are logs.
class Neighbours {
 public:
  explicit Neighbours(std::uint64_t seed) : random_(seed) {
    series_.memory = random_.uniform();
    series_.launches = random_.uniform();
  }

  void next_night() { clock_ = random_.happens(.1) ? random_.between(-.04, .04) : 0; }

  void begin_session(int runs) {
    memory_ = burst(.25, runs, random_.between(.05, .40), 12);
    launches_ = burst(.15, runs, random_.between(.10, .60), 4);
    step_from_ = random_.happens(.15) ? position(runs) : runs;
    step_ = random_.between(-.06, .06);
    slope_ = random_.happens(.3) ? random_.between(.01, .06) : 0;
    preempted_ = random_.happens(.05) ? position(runs) : -1;
  }

  // The same session on another device of the node: bursts are the node's, the rest is its own.
  void begin_session_beside(const Neighbours& other, int runs) {
    begin_session(runs);
    memory_ = other.memory_;
    launches_ = other.launches_;
  }

  double of_run(int run) { return slowed(run, series_); }
  double of_control(int run) { return slowed(run, {.3, 0}); }

 private:
  // What share of its time a workload waits for memory, and for launches: so much of a burst it
  // feels. It feels clocks and heat by the share that does not wait for memory.
  struct Shares {
    double memory = 0, launches = 0;
  };
  struct Burst {
    int from = 0, to = 0;
    double size = 0;
  };
  double slowed(int run, const Shares& shares) {
    double clocks = clock_ + (run >= step_from_ ? step_ : 0);
    clocks += slope_ * (1 - std::exp(-run / 10.));  // it gets warm
    double y = (1 - shares.memory) * clocks;
    for (const auto& [one, share] :
         {std::pair(memory_, shares.memory), std::pair(launches_, shares.launches)})
      if (run >= one.from && run < one.to) y += share * one.size * random_.between(.5, 1);
    return run == preempted_ ? y + random_.between(.2, 1) : y;
  }
  int position(int runs) { return static_cast<int>(random_.between(0, runs)); }
  Burst burst(double chance, int runs, double size, double most_runs) {
    if (!random_.happens(chance)) return {};
    const int from = position(runs);
    return {from, from + static_cast<int>(std::ceil(random_.between(0, most_runs))), size};
  }

  Random random_;
  Shares series_;
  double clock_ = 0, step_ = 0, slope_ = 0;
  int step_from_ = 0, preempted_ = -1;
  Burst memory_, launches_;
};

}  // namespace nightjar::test
