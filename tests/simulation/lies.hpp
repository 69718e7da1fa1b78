// What a lying runner sends: what it has no right to send, and what cannot be.
#pragma once

#include <optional>

#include "tests/simulation/agent.hpp"

namespace nightjar::simulation {

// Drawn from those that the two give an opportunity for; nullopt if it is not there. `other`: whose
// jobs and name the liar may use.
std::optional<Message> make_lie(const Agent& liar, const Agent& other, const Truth& truth, Time now,
                                Random& random);

}  // namespace nightjar::simulation
