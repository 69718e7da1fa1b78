// What the gate reads of a bench: a program that is started with --ratio runs in its short form,
// and prints a line `NAME RATIO` for each figure. A ratio is our speed in units of the
// comparator's, so less is always worse.
#pragma once

#include <chrono>
#include <cstdio>
#include <ctime>
#include <functional>
#include <string_view>
#include <vector>

#include "bisect/statistics.hpp"

namespace nightjar::test {

inline bool wants_ratio(int count, char** arguments) {
  return count == 2 && std::string_view(arguments[1]) == "--ratio";
}

inline void print_ratio(const char* name, double ratio) {
  std::printf("%s %.4f\n", name, ratio);
}

// CPU seconds of the calling thread: time that other programs take does not count.
inline double cpu_seconds_of(const std::function<void()>& work) {
  const auto now = [] {
    timespec time{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  };
  const double begin = now();
  work();
  return now() - begin;
}

// The comparator's CPU seconds divided by ours, both on this thread and in turns; the median.
inline double ratio_in_turns(int turns, const std::function<void()>& ours,
                             const std::function<void()>& comparator) {
  std::vector<double> ratios;
  for (int turn = 0; turn < turns; ++turn) {
    const double seconds = cpu_seconds_of(ours);
    ratios.push_back(cpu_seconds_of(comparator) / seconds);
  }
  return bisect::median(ratios);
}

}  // namespace nightjar::test
