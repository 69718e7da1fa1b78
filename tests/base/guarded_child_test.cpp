#include "storage/base/guarded_child.hpp"

#include <sys/wait.h>

#include <catch2/catch.hpp>

using namespace nightjar;
using namespace std::chrono_literals;

namespace {

ChildOutcome run_shell(const std::string& script, std::vector<std::string>& lines,
                       const ChildLimits& limits = {30s, 30s}) {
  return run_guarded({"sh", "-c", script}, network_environment(), limits, {},
                     [&](std::string_view line) { lines.emplace_back(line); });
}

}  // namespace

TEST_CASE("A program's lines come out one by one, cut and harmless, and its last needs no end") {
  std::vector<std::string> lines;
  const auto ended = run_shell(
      "printf 'one\\rtwo\\033[2J\\n' >&2; head -c 5000000 /dev/zero | tr '\\0' x >&2;"
      "printf '\\nlast' >&2; echo out; exit 3",
      lines);
  CHECK(ended.stopped.empty());
  CHECK(WEXITSTATUS(ended.status) == 3);
  CHECK(ended.output == "out\n");
  CHECK(lines == std::vector<std::string>{"one", "two [2J", std::string(2000, 'x'), "last"});
  CHECK(ended.said.size() <= 4'100);
}

TEST_CASE("A program that prints without end is ended") {
  std::vector<std::string> lines;
  ChildLimits limits{30s, 30s};
  limits.output_bytes = 1 << 20;
  const auto printed = run_shell("cat /dev/zero", lines, limits);
  CHECK(printed.stopped == "it printed more than 1048576 bytes");
  CHECK(printed.output.size() <= limits.output_bytes);
  const auto said = run_shell("cat /dev/zero >&2", lines);
  CHECK(said.stopped == "it wrote more than 67108864 bytes of messages");
}

TEST_CASE("A helper that left its group and writes on holds nobody up") {
  std::vector<std::string> lines;
  const auto ended = run_shell("setsid cat /dev/zero & setsid cat /dev/zero >&2 & exit 4", lines);
  CHECK(WEXITSTATUS(ended.status) == 4);
}
