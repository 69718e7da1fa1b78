// The root folder of a confined process: an allow-list. What is not listed is not there.
#pragma once

#include "runner/confine/plan.hpp"

namespace nightjar::confine {

// Makes the plan's places, the system's own folders, devices that compute, and a new /proc the root
// of this process; /tmp and /dev/shm are scratch. The caller is the first process of its
// namespaces. Needs Linux 5.12. Throws std::runtime_error.
void enter_new_root(const Plan& plan);

}  // namespace nightjar::confine
