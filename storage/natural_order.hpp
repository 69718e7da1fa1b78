// How versions are ordered. Private to this folder.
#pragma once

#include <string_view>

namespace nightjar::storage {

// Below, at or above 0 as `left` comes before, equals or comes after `right`, where stretches of
// digits compare as numbers: 2.9.0 < 2.10.0.
int natural_compare(std::string_view left, std::string_view right);

}  // namespace nightjar::storage
