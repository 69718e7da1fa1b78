// Counts the instructions of a command and of all that it starts, where its time is too noisy.
// Used by `bisect run --metric instructions`.
#pragma once

#include <stop_token>
#include <string>

#include "service/cli/shell.hpp"

namespace nightjar::cli {

// How this machine counts the instructions that are executed in user space.
struct InstructionCounter {
  std::string valgrind;  // the program; empty: by the counters of the CPU

  // What both ways count differs a little, so a search keeps to one of them.
  std::string way() const { return valgrind.empty() ? "counters" : "valgrind"; }
};

// The CPU's counters if the kernel lends them, else valgrind if PATH has it. Throws BadInput that
// says what is missing of both.
InstructionCounter find_instruction_counter();

// run_command, with the count in Ran::counted.
Ran run_counted(const InstructionCounter& counter, const std::string& command,
                const WorkPlace& place, double timeout_seconds, std::stop_token stop);

}  // namespace nightjar::cli
