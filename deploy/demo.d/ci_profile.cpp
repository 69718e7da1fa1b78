// What the demo's CI links into its library. It compiles the commit's own files with
// -finstrument-functions, so that each of their functions begins with a call of this one, which
// takes SLOWER_PERCENT of the time since the last call. This file is in no commit: as with PyTorch,
// a wheel of CI is another build of the same sources.
#include <chrono>

namespace {
using Clock = std::chrono::steady_clock;
constexpr auto kPause = std::chrono::seconds(1);  // longer ones are not between two calls of a loop
thread_local Clock::time_point last;
}  // namespace

extern "C" void __cyg_profile_func_enter(void*, void*) {
  const auto now = Clock::now();
  if (now - last < kPause) {
    const auto until = now + (now - last) * SLOWER_PERCENT / 100;
    while (Clock::now() < until) {
    }
  }
  last = Clock::now();
}

extern "C" void __cyg_profile_func_exit(void*, void*) {}
