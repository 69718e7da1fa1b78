// How many threads to take.
#include <cstdint>

namespace {
constexpr std::int64_t kMostThreads = 1024;
}  // namespace

// Returns the number of threads for `work`.
extern "C" std::int64_t hooks_threads(std::int64_t work, std::int64_t grain) {
  const std::int64_t wanted = grain > 0 ? work / grain : 1;
  return wanted < 1 ? 1 : wanted < kMostThreads ? wanted : kMostThreads;
}
