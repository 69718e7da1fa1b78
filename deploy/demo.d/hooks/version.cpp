// The version of the interface to Python.
#include <cstdint>

namespace {
constexpr std::int64_t kInterface = 3;
}  // namespace

// Returns what torch/_hooks.py compares with its own.
extern "C" std::int64_t hooks_interface() {
  return kInterface;
}
