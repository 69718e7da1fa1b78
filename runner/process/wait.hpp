// Waiting that a stop ends at once.
#pragma once

#include <chrono>
#include <stop_token>

namespace nightjar::runner {

// False if `stop` came first.
bool wait_for(std::chrono::milliseconds duration, std::stop_token stop);

}  // namespace nightjar::runner
