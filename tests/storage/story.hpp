// What a storage test begins with: a machine, a runner, two builds, a workload and a night, and
// short words for what happens to them.
#pragma once

#include <filesystem>
#include <unistd.h>

#include "storage/bisections.hpp"
#include "storage/builds.hpp"
#include "storage/jobs.hpp"
#include "storage/nights.hpp"
#include "storage/outbox.hpp"
#include "storage/regressions.hpp"
#include "storage/runners.hpp"
#include "storage/runs.hpp"
#include "storage/series.hpp"
#include "storage/sessions.hpp"
#include "tests/support/autocommit.hpp"

namespace nightjar::storage::test {

inline Time at(int seconds) {
  return Time{std::chrono::seconds{1'780'000'000 + seconds}};
}
inline CommitSha commit(char digit) {
  return *CommitSha::parse(std::string(40, digit));
}
inline Sha256 sha256(char digit) {
  return *Sha256::parse(std::string(64, digit));
}

// A folder of its own for a test's files, gone afterwards.
struct Folder {
  std::filesystem::path path;
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "nightjar-XXXXXX").string();
    path = ::mkdtemp(name.data());
  }
  ~Folder() { std::filesystem::remove_all(path); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
};

inline Build nightly(const std::string& date, const std::string& version = "2.15.0",
                     const std::string& variant = "cpu") {
  Build build;
  std::string digits;
  for (const char c : date)
    if (c != '-') digits += c;
  build.version = version + ".dev" + digits + "+" + variant;
  build.variant = variant;
  build.date = date;
  build.url = "https://example.org/" + build.version;
  build.state = BuildState::proved;
  build.found_at = at(0);
  return build;
}

struct Story {
  Database db;
  MachineClass machine;
  Runner runner;
  Build good, bad;
  Workload workload;
  Night night;

  explicit Story(const std::filesystem::path& path = ":memory:")
      : db(Database::open_writer(path)),
        machine(intern_machine(Autocommit(db), {{}, sha256('1'), {{"cpu_model", "Z80"}}})),
        runner(enrol("alpha")),
        good(add_build(Autocommit(db), nightly("2026-08-19"))),
        bad(add_build(Autocommit(db), nightly("2026-08-20"))),
        workload(add_workload("python/dlrm/eval/cpu/fp32/b4/eager")),
        night(start_night(bad.id)) {}

  Runner enrol(const std::string& name) {
    return register_runner(Autocommit(db), {{},
                                            name,
                                            machine.id,
                                            {{"room", "lab"}},
                                            {"python/dlrm/eval/cpu/fp32/b4/eager@1"},
                                            "0.1.0",
                                            at(0)});
  }
  Workload add_workload(const std::string& name) {
    return intern_workload(Autocommit(db), *WorkloadName::parse(name), 1);
  }
  Night start_night(BuildId build) {
    Night started;
    started.state = NightState::measuring;
    started.build = build;
    started.started_at = at(0);
    return add_night(Autocommit(db), started);
  }

  // Two runs a build between two control runs.
  JobSpec spec(JobKind kind = JobKind::screen) const {
    JobSpec spec;
    spec.kind = kind;
    for (const Build& build : {good, bad})
      spec.environments.push_back({build.id, build.url, "torch.whl", sha256('a'), {}, "", ""});
    spec.workloads = {workload};
    spec.order = {{}, {0, 0}, {1, 0}, {0, 0}, {1, 0}, {}};
    return spec;
  }
  Job queue(const std::string& key, JobKind kind = JobKind::screen, int priority = 0) {
    return queue(key, spec(kind), priority);
  }
  Job queue(const std::string& key, const JobSpec& wanted, int priority = 0) {
    Job job;
    job.key = key;
    job.night = night.id;
    job.machine = machine.id;
    job.spec = wanted;
    job.priority = priority;
    job.created_at = at(0);
    return add_job(Autocommit(db), job);
  }
  std::optional<Job> claim(int now = 0) {
    return claim_job(Autocommit(db), runner, at(now), at(now + 60));
  }

  // Every run measured: the good build in `before` seconds, the bad one in `after`.
  static SessionResult result(double before = 1.0, double after = 1.25) {
    SessionResult session;
    for (int order = 0; order < 6; ++order) {
      const bool control = order == 0 || order == 5;
      const double latency = control ? 0.5 : order % 2 == 1 ? before : after;
      RunResult run;
      run.order = order;
      run.samples = {{"latency", {latency * 2, latency, latency}}, {"peak_cpu_memory", {2e8}}};
      run.cpu_seconds = {latency, latency, latency};
      run.wait_seconds = {latency, 0, 0};  // the first iteration was disturbed
      run.checksum = 0.125;
      run.warmup_iterations = 2;
      run.started_at = at(order);
      run.seconds = 1;
      session.runs.push_back(run);
    }
    session.before.load1 = 0.5;
    session.after.extra = {{"throttled", "no"}};
    session.packages = {{"python", "3.11.2"}};
    session.setup_seconds = {{"env", 6.5}};
    return session;
  }
  // Queues, claims and stores one session.
  Job measure(const std::string& key, JobKind kind = JobKind::screen, double before = 1.0,
              double after = 1.25) {
    queue(key, kind, 1000);
    const Job job = *claim();
    store_result(Autocommit(db), job.id, job.attempt, result(before, after), at(10));
    return *find_job(db, job.id);
  }
  Series latency() { return *find_series(db, workload.id, "latency", machine.id, "cpu"); }
  // A regression of the latency, as suspected.
  Regression suspect() {
    measure("night/" + std::to_string(night.id.value));
    Regression regression;
    regression.night = night.id;
    regression.machine = machine.id;
    regression.good = good.id;
    regression.bad = bad.id;
    regression.series = {{latency().id, 1.0, 1.25, 1.25, 1.2, 1.3}};
    regression.opened_at = at(20);
    return add_regression(Autocommit(db), regression,
                          {RegressionState::suspected, at(20), R"({"rule":"screen"})"});
  }
};

}  // namespace nightjar::storage::test
