// Widths of printed tensors.
#include <cstdint>

namespace {
constexpr std::int64_t kWidest = 80;
}  // namespace

// Returns how many characters a number takes.
extern "C" std::int64_t hooks_width(std::int64_t number) {
  std::int64_t width = number < 0 ? 2 : 1;
  for (; number > 9 || number < -9; number /= 10) ++width;
  return width < kWidest ? width : kWidest;
}
