// Generates the parameters and inputs of the twins, the same numbers in C++ and in Python. Each
// tensor has a stream of its own, named by its label; generator.py says why.
#pragma once

#include <cstdint>
#include <string_view>

namespace nightjar::workloads {

// SplitMix64 (Steele, Lea, Flood 2014): element i is mix(stream + (i + 1) * golden).
class Generator {
 public:
  Generator(std::uint64_t seed, std::string_view label) {
    std::uint64_t hashed = 0xCBF29CE484222325U;  // FNV-1a
    for (const char byte : label)
      hashed = (hashed ^ static_cast<unsigned char>(byte)) * 0x100000001B3U;
    state_ = hashed ^ (seed * golden);
  }

  // Draws from [-bound, bound), with 24 bits, so that every operation but the last is exact.
  float uniform(float bound) {
    const auto centred = static_cast<std::int32_t>(next() >> 40) - (1 << 23);
    return static_cast<float>(centred) * 0x1p-23F * bound;
  }

  // Draws from [0, high).
  std::int64_t integer(std::int64_t high) { return static_cast<std::int64_t>(next() >> 33) % high; }

 private:
  static constexpr std::uint64_t golden = 0x9E3779B97F4A7C15U;

  std::uint64_t next() {
    std::uint64_t x = state_ += golden;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
    return x ^ (x >> 31);
  }

  std::uint64_t state_;
};

}  // namespace nightjar::workloads
