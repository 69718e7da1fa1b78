#include "web/retry_after.hpp"

#include <algorithm>
#include <charconv>

namespace nightjar::web {

std::optional<std::chrono::seconds> retry_after(const std::map<std::string, std::string>& headers) {
  const auto found = headers.find("retry-after");
  if (found == headers.end()) return std::nullopt;
  long seconds = 0;
  const char* end = found->second.data() + found->second.size();
  const auto parsed = std::from_chars(found->second.data(), end, seconds);
  if (parsed.ec != std::errc() || parsed.ptr != end || seconds < 0) return std::nullopt;
  return std::chrono::seconds(std::min(seconds, 86'400L));
}

}  // namespace nightjar::web
