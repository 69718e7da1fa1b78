// Starts one child process with its pipes; the part of process.cpp that runs between fork and exec.
#pragma once

#include <string>
#include <sys/types.h>

#include "runner/process/process.hpp"

namespace nightjar::runner {

// Owns a file descriptor.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(other.release()) {}
  Fd& operator=(Fd&& other) noexcept;
  ~Fd() { reset(); }
  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  int release();
  void reset();

 private:
  int fd_ = -1;
};

// Where PATH has a program of this name; a name with a slash, and one that is nowhere, as it is.
std::string find_program(const std::string& name);

struct Spawned {
  pid_t pid = -1;
  Fd input, output, protocol;  // this process's ends, non-blocking
  std::string error;           // not empty: nothing was started
};

Spawned spawn(const ProcessSpec& spec);

}  // namespace nightjar::runner
