#include "runner/make/build_failure.hpp"

#include <catch2/catch.hpp>

#include "tests/support/scratch.hpp"

using namespace nightjar::runner;
using Catch::Matchers::Contains;

namespace {

ProcessResult failed(const std::string& output, int code = 1) {
  ProcessResult result;
  result.exit_code = code;
  result.output = output;
  return result;
}

struct Tree {
  Tree() { spit(scratch / "csrc/a.cpp", ""); }
  BuildFacts facts(bool proven) const { return {scratch.path(), 1LL << 40, proven}; }
  const Scratch scratch;
};

}  // namespace

TEST_CASE("A compiler's error in a file of the checkout is the commit's, wherever it is built") {
  const Tree tree;
  const std::string absolute = (tree.scratch / "csrc/a.cpp").string();
  for (const std::string& line :
       {std::string("csrc/a.cpp:3:14: error: 'x' was not declared in this scope"),
        absolute + ":3:14: error: expected ';' before '}' token",
        absolute + "(12): error: identifier \"x\" is undefined"}) {
    INFO(line);
    const auto process = failed("[3/9] c++ ...\n" + line + "\nninja: build stopped.\n");
    CHECK_FALSE(machine_failure(process, tree.facts(false)).has_value());
    CHECK(telling_line(process.output, tree.scratch.path()) == line);
  }
}

TEST_CASE("Any other failure is the commit's only where the recipe has built something before") {
  const Tree tree;
  const std::string logs[] = {
      "Traceback:\n  File \"setup.py\", line 8\nModuleNotFoundError: No module named 'torch'\n",
      "csrc/a.cpp:1:10: fatal error: Python.h: No such file or directory\n",
      "/usr/include/lib.h:3:1: error: unknown type\n",
      "ld: a.o: undefined reference to `f()'\ncollect2: error: ld returned 1 exit status\n",
      "CMake Error at CMakeLists.txt:3 (message): no\n",
      "make: *** [all] Error 2\n"};
  for (const std::string& log : logs) {
    INFO(log);
    const auto process = failed(log);
    CHECK_FALSE(machine_failure(process, tree.facts(true)).has_value());
    const auto reason = machine_failure(process, tree.facts(false));
    REQUIRE(reason.has_value());
    CHECK_THAT(*reason, Contains("nothing was built here with this recipe yet"));
  }
}

TEST_CASE("A machine at fault is told apart even beside compiler errors, and on a proven machine") {
  const Tree tree;
  const std::string error = "csrc/a.cpp:3:14: error: x\n";
  struct Case {
    std::string output, reason;
  };
  const Case cases[] = {
      {"/tmp/cc.s: No space left on device\n", "the disk is full"},
      {"g++: fatal error: Killed signal terminated program cc1plus\n", "a compiler was killed"},
      {"cc1plus: out of memory allocating 65536 bytes\n", "memory ran out"},
      {"fatal: unable to access: Could not resolve host: a.b\n", "the network was away"},
      {"ERROR: Could not find a version that satisfies the requirement six\n", "a package"},
      {"No CMAKE_CUDA_COMPILER could be found.\n", "there is no CUDA compiler"},
      {"error: command 'g++' failed: No such file or directory\n", "there is no compiler"},
      {"g++: internal compiler error: Segmentation fault signal terminated program cc1plus\n",
       "crashed"},
  };
  for (const Case& one : cases) {
    INFO(one.output);
    const auto reason = machine_failure(failed(one.output + error), tree.facts(true));
    REQUIRE(reason.has_value());
    CHECK_THAT(*reason, Contains(one.reason));
  }
}

TEST_CASE("What was ended, or could not be run at all, is the machine's") {
  const Tree tree;
  ProcessResult timed_out = failed("csrc/a.cpp:3:14: error: x\n");
  timed_out.timed_out = true;
  ProcessResult memory = failed("");
  memory.out_of_memory = true;
  ProcessResult killed = failed("");
  killed.exit_code.reset();
  killed.signal = 9;
  ProcessResult oom = failed("csrc/a.cpp:3:14: error: x\n");
  oom.oom_kills = 1;
  ProcessResult missing;
  missing.start_error = "cannot start sh";
  for (const auto& process :
       {timed_out, memory, killed, oom, missing, failed("sh: x: not found", 127)})
    CHECK(machine_failure(process, tree.facts(true)).has_value());
  CHECK(machine_failure(failed("x"), {tree.scratch.path(), 1000, true}) == "the disk is full");
}

TEST_CASE("Of several lines, the one that tells most is shown") {
  const Tree tree;
  CHECK(telling_line("a.cpp: warning: x\n/usr/x.h:1:1: error: far\ncsrc/a.cpp:1:1: error: near\n",
                     tree.scratch.path()) == "csrc/a.cpp:1:1: error: near");
  CHECK(telling_line("  ValueError: first\n  KeyError: last\n  error: subprocess-exited\n",
                     tree.scratch.path()) == "KeyError: last");
  CHECK(telling_line("doing\nstopped\n\n", tree.scratch.path()) == "stopped");
  CHECK(telling_line("", tree.scratch.path()) == "it printed nothing");
}
