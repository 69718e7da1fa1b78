#include "runner/machine/lock.hpp"

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "runner/process/failure.hpp"
#include "runner/run/session.hpp"
#include "tests/support/scratch.hpp"

using namespace nightjar;
using namespace nightjar::runner;

namespace {

const auto nobody = [](const std::string& holder) { FAIL("waits for " << holder); };

bool is_held(const std::filesystem::path& path) {
  std::stop_source stop;
  stop.request_stop();
  try {
    const MachineLock lock(path, "asks", stop.get_token(), [](const std::string&) {});
    return false;
  } catch (const Stopped&) {
    return true;
  }
}

}  // namespace

TEST_CASE("The second one waits for the first, is told by whom, and gets the machine after it") {
  const Scratch scratch;
  auto first =
      std::make_unique<MachineLock>(scratch / "lock", "compiles", std::stop_token{}, nobody);
  std::string held_by;
  const auto give_way = [&](const std::string& holder) {
    held_by = holder;
    first.reset();
  };
  MachineLock second(scratch / "lock", "measures", {}, give_way);
  CHECK(held_by == "process " + std::to_string(::getpid()) + " (compiles)");
  CHECK(slurp(scratch / "lock") == std::to_string(::getpid()) + " (measures)\n");
}

TEST_CASE("A stop ends the waiting") {
  const Scratch scratch;
  const MachineLock first(scratch / "lock", "compiles", {}, nobody);
  std::stop_source stop;
  const auto give_up = [&](const std::string&) { stop.request_stop(); };
  CHECK_THROWS_AS(MachineLock(scratch / "lock", "measures", stop.get_token(), give_up), Stopped);
}

TEST_CASE("A process that was killed holds the machine no longer") {
  const Scratch scratch;
  int ready[2];
  REQUIRE(::pipe(ready) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const MachineLock lock(scratch / "lock", "dies", {}, [](const std::string&) {});
    if (::write(ready[1], "!", 1) == 1) ::pause();
    ::_exit(1);
  }
  char byte = 0;
  REQUIRE(::read(ready[0], &byte, 1) == 1);
  CHECK(is_held(scratch / "lock"));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  CHECK_FALSE(is_held(scratch / "lock"));
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST_CASE("A lock file of another user that may only be read does") {
  const Scratch scratch;
  spit(scratch / "lock", "1 (measures)\n");
  ::chmod((scratch / "lock").c_str(), 0444);
  const MachineLock lock(scratch / "lock", "measures", {}, nobody);
  CHECK_THROWS_WITH(MachineLock("/no/such/folder/lock", "measures", {}, nobody),
                    Catch::Contains("NIGHTJAR_MACHINE_LOCK"));
}

TEST_CASE("A session has the machine to itself from its first environment to its last run") {
  class Asking final : public Executor {
   public:
    std::vector<std::string> workloads() const override { return {}; }
    std::unique_ptr<MachineLock> lock_machine(const std::string& purpose,
                                              std::stop_token) override {
      CHECK(purpose == "measures job 7");
      return std::make_unique<MachineLock>(scratch / "lock", purpose, std::stop_token{}, nobody);
    }
    void begin_session(const JobSpec&) override {}
    Prepared prepare(const EnvironmentSpec&, bool, std::stop_token) override {
      CHECK(is_held(scratch / "lock"));
      return {};
    }
    ParsedRun run(const RunTask&, std::stop_token) override {
      CHECK(is_held(scratch / "lock"));
      ++runs;
      return {};
    }
    MachineState machine() override { return {}; }
    const Scratch scratch;
    int runs = 0;
  } executor;
  JobSpec spec;
  const Sha256 wheel = *Sha256::parse(std::string(64, 'a'));
  spec.environments = {{BuildId{1}, "", "torch.whl", wheel, {}, "", ""}};
  spec.order = {{}, {}};
  run_session(JobId{7}, spec, executor, SystemClock(), {});
  CHECK(executor.runs == 2);
  CHECK_FALSE(is_held(executor.scratch / "lock"));
}
