// Arithmetic of shapes.
#include <cstdint>

namespace {
constexpr std::int64_t kAlignment = 64;
}  // namespace

// Returns the next multiple of the alignment.
extern "C" std::int64_t hooks_aligned(std::int64_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}
