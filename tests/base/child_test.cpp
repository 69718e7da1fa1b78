#include "storage/base/child.hpp"

#include <cerrno>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <catch2/catch.hpp>

using namespace nightjar;

namespace {

// All that comes until the other end is closed.
std::string all_of(const Fd& fd) {
  std::string text;
  char buffer[256];
  for (;;) {
    pollfd end{fd.get(), POLLIN, 0};
    ::poll(&end, 1, -1);
    const auto got = ::read(fd.get(), buffer, sizeof buffer);
    if (got <= 0) return text;
    text.append(buffer, static_cast<std::size_t>(got));
  }
}

}  // namespace

TEST_CASE("A child has its variables and its descriptors, and no other") {
  auto input = open_pipe(), output = open_pipe();
  REQUIRE((input && output));
  ChildSpec spec;
  spec.command = {"sh", "-c", "echo $WORD $HOME; pwd; ls /proc/self/fd | wc -l"};
  spec.environment = {"WORD=hello", "PATH=/usr/bin:/bin"};
  spec.descriptors = {input->read.get(), output->write.get(), output->write.get()};
  spec.folder = "/usr";
  const Child child = start_child(spec);
  REQUIRE(child.error == 0);
  output->write.reset();
  CHECK(all_of(output->read) == "hello\n/usr\n4\n");  // of `ls`: three, and the folder itself
  int status = 0;
  CHECK(::waitpid(child.pid, &status, 0) == child.pid);
  CHECK(status == 0);
}

TEST_CASE("A child has nothing that a library left open for programs to inherit") {
  const Fd left(::socket(AF_INET, SOCK_STREAM, 0));  // without SOCK_CLOEXEC
  auto output = open_pipe();
  REQUIRE(output);
  ChildSpec spec;
  spec.command = {"sh", "-c", "ls -l /proc/self/fd | grep -c socket"};
  spec.environment = {"PATH=/usr/bin:/bin"};
  spec.descriptors = {output->write.get(), output->write.get(), output->write.get()};
  const Child child = start_child(spec);
  output->write.reset();
  CHECK(all_of(output->read) == "0\n");
  CHECK(::waitpid(child.pid, nullptr, 0) == child.pid);
}

TEST_CASE("A program that is not there is an error, and leaves no child") {
  ChildSpec spec;
  spec.command = {"no-such-program"};
  CHECK(find_program("no-such-program") == "no-such-program");
  CHECK(find_program("sh").ends_with("/sh"));
  const Child child = start_child(spec);
  CHECK(child.error == ENOENT);
  CHECK(child.pid == -1);
  CHECK(::waitpid(-1, nullptr, WNOHANG) == -1);
}
