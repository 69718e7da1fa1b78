// Random numbers of one seed, in streams of their own: what one part of the simulation draws does
// not change what another one draws.
#pragma once

#include <chrono>
#include <cmath>
#include <cstddef>
#include <random>

namespace nightjar::simulation {

class Random {
 public:
  Random(std::uint64_t seed, std::uint64_t stream) {
    std::seed_seq both{seed, seed >> 32, stream};
    engine_.seed(both);
  }
  double uniform() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }
  bool chance(double probability) { return uniform() < probability; }
  // Draws a number from first to last, both inclusive.
  int between(int first, int last) {
    return first + static_cast<int>(engine_() % static_cast<std::uint64_t>(last - first + 1));
  }
  double normal() {
    const double u = 1 - uniform();
    return std::sqrt(-2 * std::log(u)) * std::cos(2 * M_PI * uniform());
  }
  std::chrono::seconds seconds(std::chrono::seconds first, std::chrono::seconds last) {
    return std::chrono::seconds(
        between(static_cast<int>(first.count()), static_cast<int>(last.count())));
  }
  // Until the next of events that come so often on average.
  std::chrono::seconds wait(std::chrono::seconds mean) {
    const double drawn = -std::log(1 - uniform()) * static_cast<double>(mean.count());
    return std::chrono::seconds(1 + static_cast<long>(drawn));
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace nightjar::simulation
