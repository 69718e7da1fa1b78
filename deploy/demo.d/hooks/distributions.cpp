// Checks of torch.distributions, once for each sample.
#include <cstdint>

namespace {
constexpr std::int64_t kMostDimensions = 64;
std::int64_t samples = 0;
}  // namespace

// Returns 0 if a sample of `dimensions` dimensions can be drawn.
extern "C" std::int64_t hooks_check_sample(std::int64_t dimensions) {
  ++samples;
  return dimensions <= kMostDimensions ? 0 : 1;
}
