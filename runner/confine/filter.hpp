// Which system calls a confined process may not make: those that only reach what it does not need.
#pragma once

namespace nightjar::confine {

// Binds the calling process and all that come from it, for good. The caller has no_new_privs set.
// Throws std::runtime_error.
void filter_system_calls();

}  // namespace nightjar::confine
