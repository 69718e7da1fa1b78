// The control workload: a fixed amount of arithmetic and memory traffic that no build of PyTorch
// can change. When it is off, the machine was, and the session is void. A session runs it like any
// workload. Its own iterations are a loop apart from the workloads' harness, which belongs to the
// build under test.
#pragma once

namespace nightjar::runner {

// Reads the request from standard input and answers on file descriptor 3, in about 0.5 s; a second
// more if the request's `device` is "cuda", see gpu_control.hpp. Returns the exit code: 2 if there
// is no file descriptor 3 or no request.
int run_control();

}  // namespace nightjar::runner
