// Tells a commit that does not compile from a machine that could not compile it. Pure; used by
// make_wheel().
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "runner/process/process.hpp"

namespace nightjar::runner {

// What is known beside how the commands ended.
struct BuildFacts {
  std::filesystem::path tree;   // the checkout
  std::int64_t free_bytes = 0;  // left on its disk
  bool proven = false;          // this recipe has built something here, so the machine is able to
};

// Returns why a failure is the fault of the machine, the network or the recipe; nullopt: it is the
// commit's. In doubt it is the machine's: such a commit is built again elsewhere, while one that
// does not compile is never tried again.
//
// It looks at these, in this order:
// - how the process ended: not started, killed, out of time or out of memory;
// - the shell's exit codes 126 and 127: a command of the recipe is missing;
// - whether the kernel's out-of-memory killer was at work;
// - free space;
// - the last part of the log.
// After all that, a compiler's error in a file of the checkout is the commit's. Anything else is,
// too, on a machine that is proven. On another one a package may be missing.
std::optional<std::string> machine_failure(const ProcessResult& process, const BuildFacts& facts);

// The line of `log` that tells most: an error in a file of `tree`, else the first error of a
// compiler, linker or CMake, else the last exception, else the last line.
std::string telling_line(std::string_view log, const std::filesystem::path& tree);

}  // namespace nightjar::runner
