#include "runner/process/output.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace nightjar::runner {

int finish_output(const char* program, int code) {
  int reason = errno;  // of the write that failed, where one did and nothing has failed since
  if (std::fflush(stdout) != 0)
    reason = errno;
  else if (std::ferror(stdout) == 0)
    return code;
  if (reason == EPIPE) return code;
  const bool of_a_write =
      reason == ENOSPC || reason == EDQUOT || reason == EFBIG || reason == EIO || reason == EBADF;
  std::fprintf(stderr, "%s: cannot write to standard output: %s\n", program,
               of_a_write ? std::strerror(reason) : "a part of it is lost");
  return 3;
}

}  // namespace nightjar::runner
