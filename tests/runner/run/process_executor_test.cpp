#include "runner/run/process_executor.hpp"

#include <catch2/catch.hpp>

#include "runner/process/cpu_quota.hpp"
#include "runner/run/local_session.hpp"
#include "runner/run/session.hpp"
#include "tests/support/scratch.hpp"

namespace fs = std::filesystem;
using namespace nightjar;
using namespace nightjar::runner;

namespace {

// Up to eight items take as long as one does.
constexpr const char* program = R"(#!/usr/bin/env python3
import json, os, sys
name = json.load(sys.stdin)["workload"]
size = int(name.split("/")[5][1:])
open("TRIED", "a").write(f"{size}\n")
def say(**event): os.write(3, (json.dumps(event) + "\n").encode())
say(event="ready", torch={"version": "1", "git_version": "a", "path": "/torch"})
for _ in range(10): say(event="sample", latency=0.001 * max(size, 8), cpu=0.0, wait=0.0)
say(event="result", warmup_iterations=1, metrics={}, checksum=size)
)";

}  // namespace

TEST_CASE("A run has no more threads than its runner can keep running") {
  RunLimits limits;
  limits.threads = 1024;
  const int cpus = usable_cpus();
  const auto threads_for = [&](const char* name) {
    return limits_for(*WorkloadName::parse(name), limits).threads;
  };
  CHECK(threads_for("native/dlrm/eval/cpu/fp32/b4/eager") == std::min(cpus, 1024));
  CHECK(threads_for("native/dlrm/eval/cpu/fp32/b4/eager-t2") == 2);

  ReadyBuild build;
  build.native.path = "/never/started";
  ProcessExecutor executor = local_executor(build, 0);
  const CatalogEntry asked{*WorkloadName::parse("native/dlrm/eval/cpu/fp32/b4/eager-t1024")};
  const JobSpec job = local_job(JobKind::screen, {asked}, {0}, {});
  const auto session = run_session(JobId{1}, job, executor, SystemClock(), {});
  REQUIRE(session.runs.size() == 1);
  CHECK(session.runs[0].status == RunStatus::unavailable);
  CHECK(session.runs[0].reason ==
        "1024 threads need as many CPUs, and this runner has the time of " + std::to_string(cpus));
}

TEST_CASE("bmax in a job is the size with the largest throughput, found once a machine") {
  const Scratch scratch;
  std::string text = program;
  text.replace(text.find("TRIED"), 5, (scratch / "tried").string());
  spit(scratch / "native", text);
  fs::permissions(scratch / "native", fs::perms::owner_all);
  ReadyBuild build;
  build.native.path = build.place.native = scratch / "native";
  build.place.rights = Unconfined("a test");
  build.place.cache = scratch / "cache";
  fs::create_directories(scratch / "cache/tmp");
  ProcessExecutor executor = local_executor(build, 0);
  const CatalogEntry best{*WorkloadName::parse("native/dlrm/eval/cpu/fp32/bmax/eager")};
  const JobSpec job = local_job(JobKind::screen, {best}, {0, 0}, {});
  const auto session = run_session(JobId{1}, job, executor, SystemClock(), {});
  for (const auto& run : session.runs) {
    CHECK(run.reason == "");
    CHECK_FALSE(run.checksum);  // of a size that another search may not find
    CHECK(run.samples.at("latency") == std::vector<double>(10, 0.008));
  }
  CHECK(session.settings.at("batch size of " + best.name.str()) == "8");
  CHECK(slurp(scratch / "tried") == "1\n2\n4\n8\n16\n32\n8\n8\n");
}
