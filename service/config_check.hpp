// Tries out what a valid configuration names: folders, the repository, the indexes. Used by
// `nightjard --check-config`.
#pragma once

#include <string>
#include <vector>

#include "service/config.hpp"

namespace nightjar::service {

// A line for each thing that cannot be used now, which begins with the key to look at. Makes
// nothing but a temporary folder, and waits for the network.
std::vector<std::string> check_surroundings(const Config& config);

}  // namespace nightjar::service
