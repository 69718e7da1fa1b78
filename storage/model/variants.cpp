#include "storage/model/variants.hpp"

#include <algorithm>

namespace nightjar {

bool measures(std::optional<std::string_view> label, std::string_view variant,
              std::string_view usual) {
  if (!label) return variant == usual;
  for (std::string_view rest = *label;;) {
    const auto comma = rest.find(',');
    if (rest.substr(0, comma) == variant) return true;
    if (comma == rest.npos) return false;
    rest.remove_prefix(comma + 1);
  }
}

bool measures(const Runner& runner, std::string_view variant, std::string_view usual) {
  const auto label = runner.labels.find("variant");
  return measures(label == runner.labels.end() ? std::nullopt : std::optional(label->second),
                  variant, usual);
}

}  // namespace nightjar
