// Counts the steps of optimizers.
#include <cstdint>

namespace {
constexpr std::int64_t kMostGroups = 4096;
std::int64_t steps = 0;
}  // namespace

// Returns the number of steps so far; -1 if an optimizer has too many groups of parameters.
extern "C" std::int64_t hooks_begin_step(std::int64_t groups) {
  return groups <= kMostGroups ? ++steps : -1;
}
