// How a step of the confinement fails: it throws, and main() prints the line.
#pragma once

#include <cerrno>
#include <stdexcept>
#include <string>
#include <system_error>

namespace nightjar::confine {

// "cannot <attempt>: <reason of errno>" if a system call answered -1.
inline void require(long answer, const std::string& attempt) {
  if (answer == -1)
    throw std::runtime_error("cannot " + attempt + ": " + std::generic_category().message(errno));
}

}  // namespace nightjar::confine
