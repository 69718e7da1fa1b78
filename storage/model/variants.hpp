// Which builds a machine measures, by its runner's label `variant`.
#pragma once

#include <optional>
#include <string_view>

#include "storage/model/machine.hpp"

namespace nightjar {

// Whether the label lists this variant of builds, as "cu126,cpu" lists two. A machine without a
// label measures builds of the variant `usual` only.
bool measures(std::optional<std::string_view> label, std::string_view variant,
              std::string_view usual);
bool measures(const Runner& runner, std::string_view variant, std::string_view usual);

}  // namespace nightjar
