// Why a command of `nightjar` could not do its work: two kinds, two exit codes.
#pragma once

#include <stdexcept>

namespace nightjar::cli {

// Wrong use or bad input: exit code 2. One line: what was attempted, on what, what to do.
struct BadInput : std::runtime_error {
  using std::runtime_error::runtime_error;
};
// The environment failed (no git, a command that broke, a full disk): exit code 3.
struct Broken : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace nightjar::cli
