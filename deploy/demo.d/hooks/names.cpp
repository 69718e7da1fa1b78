// Names of operators.
#include <cstdint>
#include <cstring>

namespace {
constexpr std::int64_t kLongestName = 255;
}  // namespace

// Returns whether this is the name of an operator, "aten::add".
extern "C" std::int64_t hooks_is_operator(const char* name) {
  const auto length = static_cast<std::int64_t>(std::strlen(name));
  return length <= kLongestName && std::strstr(name, "::") != nullptr ? 1 : 0;
}
