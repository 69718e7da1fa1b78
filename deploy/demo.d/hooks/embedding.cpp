// Checks of torch.nn.functional.embedding_bag, once for each call.
#include <cstdint>

namespace {
constexpr std::int64_t kModes = 3;
std::int64_t lookups = 0;
}  // namespace

// Returns 0 if `bags` bags can be looked up in this mode.
extern "C" std::int64_t hooks_check_bags(std::int64_t bags, std::int64_t mode) {
  lookups += bags;
  return bags >= 0 && mode < kModes ? 0 : 1;
}
