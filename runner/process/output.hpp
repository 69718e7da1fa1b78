// The end of a program that prints: whether what it printed got out.
#pragma once

namespace nightjar::runner {

// The last thing that `program` does: what it printed may wait in a buffer. The exit code: `code`,
// or 3 after a line on standard error if a part of the output is lost. A reader that wanted no more
// of it has lost nothing.
int finish_output(const char* program, int code);

}  // namespace nightjar::runner
