#include "storage/model/share.hpp"

#include <charconv>
#include <stdexcept>
#include <string>

namespace nightjar {

double parse_share(std::string_view text) {
  constexpr std::size_t longest_shown = 40;  // bytes of a wrong one
  const std::string quoted = "'" + std::string(text.substr(0, longest_shown)) + "' is no share; ";
  double value = 0;
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, value);
  const std::string_view unit(parsed.ptr, static_cast<std::size_t>(end - parsed.ptr));
  const bool percent = unit == "%";
  if (parsed.ec != std::errc() || !(unit.empty() || percent) || !(value > 0 && value < 1000))
    throw std::invalid_argument(quoted + "write 7% or 0.07");
  // 7 for 7 % is a slip that would find nothing at all: changes of 700 % are rare.
  if (!percent && value >= 1)
    throw std::invalid_argument(quoted + "did you mean " + std::string(text) + "%?");
  return percent ? value / 100 : value;
}

}  // namespace nightjar
