// The end of a program that prints: whether what it printed got out.
#pragma once

namespace nightjar::runner {

// Writes out what still waits in a buffer; the last thing that `program` does. Returns the exit
// code: `code`, or 3 after a line on standard error if part of the output is lost. Nothing is lost
// if the reader wanted no more of it.
int finish_output(const char* program, int code);

}  // namespace nightjar::runner
