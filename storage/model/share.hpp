// A share as a person writes it: "7%" or "0.07". Used by options of commands and by the
// configuration.
#pragma once

#include <string_view>

namespace nightjar {

// A number before "%" is of a hundred; without "%" it must be under 1. Throws
// std::invalid_argument, which quotes `text` and says what to write, unless the share is over 0 and
// under 10.
double parse_share(std::string_view text);

}  // namespace nightjar
