#include "runner/run/session.hpp"

#include <cmath>

#include <catch2/catch.hpp>

#include "runner/process/failure.hpp"
#include "runner/run/process_executor.hpp"
#include "runner/run/scripted_executor.hpp"
#include "runner/run/wheel_builds.hpp"
#include "storage/model/run_value.hpp"
#include "tests/runner/wheel.hpp"

using namespace nightjar;
using namespace nightjar::runner;

namespace {

const auto resnet_eval = *WorkloadName::parse("python/resnet18/eval/cpu/fp32/b4/eager");

EnvironmentSpec environment(const std::string& commit) {
  return {BuildId{1}, "", "torch.whl", digest_of(commit), {}, "2.15.0", commit};
}

JobSpec two_builds() {
  JobSpec spec;
  spec.environments = {environment("aaa"), environment("bbb")};
  spec.workloads = {{{}, resnet_eval, 1}};
  spec.order = {{-1, -1}, {0, 0}, {1, 0}, {0, 0}, {1, 0}, {-1, -1}};
  return spec;
}

Script script_of(const std::string& text) {
  const Scratch scratch;
  spit(scratch / "script.json", text);
  return read_script(scratch / "script.json");
}

const char* script_text =
    R"({"seed": 7, "workloads": [{"name": "python/resnet18/eval/cpu/fp32/b4/eager"}],
  "rules": [{"metrics": {"latency": {"level": 0.1, "noise": 0.01},
                         "peak_cpu_memory": {"level": 1000}}},
            {"when": {"commit": "bbb", "workload": "python/**"}, "factors": {"latency": 2}}]})";

const SystemClock fixed_clock;

}  // namespace

TEST_CASE("A session runs its order from first to last, control runs included") {
  ScriptedExecutor executor(script_of(script_text), {});
  const SessionResult session = run_session(JobId{3}, two_builds(), executor, fixed_clock, {});
  REQUIRE(session.runs.size() == 6);
  for (int i = 0; i < 6; ++i) {
    CHECK(session.runs[std::size_t(i)].order == i);
    CHECK(session.runs[std::size_t(i)].status == RunStatus::measured);
  }
  CHECK(session.runs[0].samples.at("latency")[0] == Approx(0.01).epsilon(0.1));
  CHECK(session.runs[1].samples.at("latency")[0] == Approx(0.1).epsilon(0.1));
  CHECK(session.runs[2].samples.at("latency")[0] == Approx(0.2).epsilon(0.1));
  CHECK(session.runs[1].samples.at("peak_cpu_memory") == std::vector<double>{1000});
  CHECK(session.setup_seconds.size() == 2);
  CHECK(session.after.steal_share == 0);  // of the script's machine, whatever this one suffers
}

TEST_CASE("A scripted session is the same for the same seed and job, and else another") {
  ScriptedExecutor executor(script_of(script_text), {});
  const auto latency = [&](std::int64_t job) {
    return run_session(JobId{job}, two_builds(), executor, fixed_clock, {})
        .runs[3]
        .samples.at("latency");
  };
  CHECK(latency(3) == latency(3));
  CHECK(latency(3) != latency(4));
}

TEST_CASE("Runs of a broken environment are not tried, and the others go on") {
  ScriptedExecutor executor(script_of(R"({"workloads": [], "rules": [
      {"metrics": {"latency": {"level": 0.1}}},
      {"when": {"commit": "bbb"}, "status": "broken_environment", "reason": "no wheel"}]})"),
                            {});
  const auto session = run_session(JobId{1}, two_builds(), executor, fixed_clock, {});
  CHECK(session.runs[1].status == RunStatus::measured);
  CHECK(session.runs[2].status == RunStatus::broken_environment);
  CHECK(session.runs[2].reason == "no wheel");
  CHECK(session.runs[4].status == RunStatus::broken_environment);
  CHECK(session.runs[5].status == RunStatus::measured);
}

TEST_CASE("Runs of an environment that could not be prepared say nothing of its commit") {
  const Scratch scratch;
  EnvironmentsConfig environments;
  environments.cache = scratch / "cache";
  Script script = script_of(script_text);
  script.unpack = true;
  ScriptedExecutor executor(std::move(script), std::move(environments));
  JobSpec spec = two_builds();
  spec.environments = {good_wheel(scratch, "2.15.0", "aaa"),
                       wheel_environment(scratch / "torch-2.16.0-py3-none-any.whl",
                                         torch_members("2.16.0", "bbb"), "2.16.0", "bbb")};
  const auto session = run_session(JobId{1}, spec, executor, fixed_clock, {});
  CHECK(session.runs[1].status == RunStatus::measured);
  CHECK(session.runs[2].status == RunStatus::unavailable);
  CHECK(session.runs[2].reason ==
        "its environment cannot be made: torch-2.16.0-py3-none-any.whl has no RECORD of torch");
  CHECK_FALSE(is_failure(session.runs[2].status));
}

TEST_CASE("A stop ends a session without a result") {
  ScriptedExecutor executor(script_of(script_text), {});
  std::stop_source stop;
  int done = 0;
  SessionHooks hooks;
  hooks.done = [&](const PlannedRun&, const ParsedRun&) {
    if (++done == 2) stop.request_stop();
  };
  CHECK_THROWS_AS(
      run_session(JobId{1}, two_builds(), executor, fixed_clock, stop.get_token(), hooks), Stopped);
  CHECK(done == 2);
}

TEST_CASE("A session that keeps what it has ends with the runs before the stop") {
  ScriptedExecutor executor(script_of(script_text), {});
  std::stop_source stop;
  SessionHooks hooks;
  hooks.keep_when_stopped = true;
  hooks.wanted = [](const PlannedRun& run) { return !run.is_control(); };
  hooks.done = [&](const PlannedRun& run, const ParsedRun&) {
    if (run.environment == 1) stop.request_stop();
  };
  const auto session =
      run_session(JobId{1}, two_builds(), executor, fixed_clock, stop.get_token(), hooks);
  REQUIRE(session.runs.size() == 2);  // its control run was not wanted
  CHECK((session.runs[0].order == 1 && session.runs[1].order == 2));
}

TEST_CASE("A scripted result can follow from what an environment holds") {
  const Scratch scratch;
  EnvironmentsConfig config;
  config.cache = scratch / "cache";
  ScriptedExecutor executor(script_of(R"({"unpack": true, "workloads": [], "rules": [
      {"metrics": {"latency": {"level": 0.1}}},
      {"when": {"file": "torch/slow.py", "contains": "FACTOR = 3"}, "factors": {"latency": 3}}]})"),
                            config);
  JobSpec spec = two_builds();
  spec.environments[0] = good_wheel(scratch);
  spec.environments[1] = with_overlay(spec.environments[0], scratch / "overlay.tar",
                                      {{"torch/slow.py", "FACTOR = 3\n", ""}});
  const auto session = run_session(JobId{1}, spec, executor, fixed_clock, {});
  CHECK(session.runs[1].samples.at("latency")[0] == Approx(0.1).epsilon(0.02));
  CHECK(session.runs[2].samples.at("latency")[0] == Approx(0.3).epsilon(0.02));
}

TEST_CASE("A session that cannot be run is refused before it begins") {
  JobSpec spec = two_builds();
  CHECK(problem_of(spec) == "");
  spec.order[1].workload = 1;
  CHECK_FALSE(problem_of(spec).empty());
  spec = two_builds();
  spec.order[1].environment = -1;
  CHECK_FALSE(problem_of(spec).empty());
  spec = two_builds();
  spec.order.clear();
  CHECK_FALSE(problem_of(spec).empty());
}

TEST_CASE("A session with a limit that nothing can have is refused by the limit's name") {
  const auto refused = [](auto member, auto value, const char* name) {
    JobSpec spec = two_builds();
    spec.limits.*member = value;
    CHECK_THAT(problem_of(spec), Catch::Contains(name));
  };
  for (const double seconds : {-1., 0., 1e9, std::nan("")})
    refused(&RunLimits::timeout_seconds, seconds, "timeout_seconds");
  refused(&RunLimits::seconds, 1e9, "seconds");
  refused(&RunLimits::memory_bytes, -1, "memory_bytes");
  refused(&RunLimits::output_bytes, std::int64_t{1} << 40, "output_bytes");
  for (const int threads : {0, -1, 1'000'000'000}) refused(&RunLimits::threads, threads, "threads");
  refused(&RunLimits::min_iterations, -1, "min_iterations");
  refused(&RunLimits::kernel_iterations, 1'000'000'000, "kernel_iterations");
}

TEST_CASE("A script with a field that nobody knows is refused by its name") {
  CHECK_THROWS_WITH(script_of(R"({"workloads": [], "rules": [], "sed": 1})"),
                    Catch::Contains("unknown field 'sed'"));
  CHECK_THROWS_WITH(script_of(R"({"workloads": [], "rules": [{"when": {"comit": "a"}}]})"),
                    Catch::Contains("unknown field 'comit'"));
  CHECK_THROWS_WITH(script_of("{"), Catch::Contains("script.json"));
}

TEST_CASE("A session of real processes measures workloads of its environments, or profiles them") {
  const Scratch scratch;
  spit(scratch / "workloads/workloads.json", R"({"items": [
      {"name": "python/resnet18/eval/cpu/fp32/b4/eager", "version": 1, "kind": "python"}],
      "sizes": {"resnet18/eval": {}}})");
  spit(scratch / "workloads/run.py", R"(
import json, os, sys, torch, torch.version, torch.slow
request = json.load(sys.stdin)
def say(**event): os.write(3, (json.dumps(event) + "\n").encode())
say(event="ready", torch={"version": torch.__version__, "git_version": torch.version.git_version,
    "path": os.path.dirname(torch.__file__)}, packages={"python": "3"}, settings={"threads": "1"},
    memory_after_import=5)
for i in range(request["min_iterations"]):
    say(event="sample", latency=float(torch.slow.FACTOR), cpu=0.0, wait=0.0)
say(event="result", warmup_iterations=1, metrics={}, checksum=len(os.environ["OMP_NUM_THREADS"]))
)");
  spit(scratch / "workloads/run_profile.py", R"(
import json, os, sys, torch, torch.version, torch.slow
request = json.load(sys.stdin)
def say(**event): os.write(3, (json.dumps(event) + "\n").encode())
say(event="ready", torch={"version": torch.__version__, "git_version": torch.version.git_version,
    "path": os.path.dirname(torch.__file__)})
times = [float(torch.slow.FACTOR)] * request["min_iterations"]
say(event="profile", plain_seconds=1, iteration_seconds=times, outside_seconds=times, slowdown=times, operators=[],
    memory=None, memory_reason="none", gpu=[], hints=[], fastest_probe=1e-5)
)");
  EnvironmentsConfig environments;
  environments.cache = scratch / "cache";
  environments.python = "python3";
  ProcessExecutorConfig config;
  environments.rights = config.place.rights = Unconfined("a test");
  config.place.cache = environments.cache;
  config.place.python = environments.python;
  config.place.workloads = scratch / "workloads";
  config.offered = read_catalog(config.place.workloads);
  config.control = {"sh", "-c",
                    R"(cat > /dev/null  # left unread, the request may end this program by SIGPIPE
      echo '{"event":"sample","latency":1,"cpu":1,"wait":0}' >&3
      echo '{"event":"result","warmup_iterations":0}' >&3)"};
  config.machine_lock = scratch / "machine.lock";
  ProcessExecutor executor(config, std::make_unique<WheelBuilds>(environments, config.place));
  CHECK(executor.workloads() == std::vector<std::string>{resnet_eval.str() + "@1"});
  JobSpec spec = two_builds();
  spec.environments[0] = good_wheel(scratch);
  spec.environments[1] = with_overlay(spec.environments[0], scratch / "overlay.tar",
                                      {{"torch/slow.py", "FACTOR = 3\n", ""}});
  const auto session = run_session(JobId{1}, spec, executor, fixed_clock, {});
  for (const auto& run : session.runs) CHECK(run.reason == "");
  CHECK(session.runs[0].samples.at("latency") == std::vector<double>{1});
  CHECK(session.runs[1].samples.at("latency") == std::vector<double>(10, 1.0));
  CHECK(session.runs[4].samples.at("latency") == std::vector<double>(10, 3.0));
  CHECK(session.packages.at("python") == "3");
  CHECK(session.settings.at("threads") == "1");
  CHECK(slurp(config.machine_lock).ends_with(" (measures job 1)\n"));

  spec.kind = JobKind::profile;
  const auto profiles = run_session(JobId{2}, spec, executor, fixed_clock, {});
  CHECK_FALSE(profiles.runs[0].profile);  // the control
  for (const auto& [run, seconds] : {std::pair{1u, 1.0}, std::pair{4u, 3.0}}) {
    CHECK(profiles.runs[run].reason == "");
    CHECK(profiles.runs[run].samples.empty());
    REQUIRE(profiles.runs[run].profile);
    CHECK(profiles.runs[run].profile->runs.at(0).iteration_seconds ==
          std::vector<double>(10, seconds));
  }
}
