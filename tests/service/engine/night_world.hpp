// A whole small installation in memory for tests of the engine: a literal commit graph, two
// nightlies, one runner whose measurements are drawn from levels by commit. Everything else is the
// real thing.
#pragma once

#include <cmath>
#include <filesystem>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "service/builds/artifacts.hpp"
#include "service/builds/lock.hpp"
#include "service/builds/package_mixes.hpp"
#include "service/engine/context.hpp"
#include "service/engine/engine.hpp"
#include "storage/base/machine_class.hpp"
#include "storage/builds.hpp"
#include "storage/database.hpp"
#include "storage/jobs.hpp"
#include "storage/locks.hpp"
#include "storage/nights.hpp"
#include "storage/outbox.hpp"
#include "storage/regressions.hpp"
#include "storage/runners.hpp"
#include "storage/series.hpp"
#include "storage/sessions.hpp"
#include "tests/support/autocommit.hpp"
#include "tests/support/literal_graph.hpp"
#include "tests/support/made_nights.hpp"
#include "tests/support/manual_clock.hpp"
#include "web/secret.hpp"

namespace nightjar::service::test {

inline const std::string alpha_eval = "python/alpha/eval/cpu/fp32/b1/eager";
inline const std::string beta_train = "python/beta/train/cpu/fp32/b4/eager";

class NightWorld {
 public:
  NightWorld()
      : folder_(std::filesystem::temp_directory_path() /
                ("nightjar-engine-" + web::random_token().substr(0, 12))),
        clock(*parse_rfc3339("2026-08-20T08:00:00Z")),
        db(storage::Database::open_writer(":memory:")),
        artifacts(folder_, 1ull << 30, clock) {
    config.repository.url = "https://example.org/pytorch";
    config.night.workloads = {"python/**"};
    config.night.on_new_build = true;
    config.night.profiles = 0;  // a test that looks for them asks
    config.environment.indexes = {"https://example.org/simple"};
    commits.push_back(graph.commit("main", "Begin", {{"torch/__init__.py", "0"}}));
    runner = enrol("lab");
  }
  ~NightWorld() { std::filesystem::remove_all(folder_); }

  // A runner of a machine class of its own, named alike.
  Runner enrol(const std::string& name) {
    Runner made;
    made.name = name;
    take_facts(made, {{"cpu_model", "test " + name}, {"kernel", "6.1"}});
    made.workloads = {alpha_eval + "@1", beta_train + "@1"};
    made.version = "test";
    made.seen_at = clock.now();
    return storage::register_runner(storage::Autocommit(db), made);
  }

  // Registers `runner` again, on the same machine after an update.
  void update_kernel(const std::string& version) { update_fact("kernel", version); }
  void update_fact(const std::string& name, const std::string& value) {
    auto facts = storage::find_machine(db, runner.machine)->facts;
    facts[name] = value;
    take_facts(runner, facts);
    runner.seen_at = clock.now();
    runner = storage::register_runner(storage::Autocommit(db), runner);
  }

  // What a killed daemon leaves is on disk, and nothing else. Returns the database's new file.
  std::filesystem::path restart() {
    const auto file = folder_ / ("restart-" + std::to_string(++restarts_) + ".sqlite");
    db.backup(file);
    db = storage::Database::open_writer(file);
    return file;
  }

  void grow(int count) {
    for (int i = 0; i < count; ++i)
      commits.push_back(nightjar::test::add_change(graph, commits.size()));
  }

  // A proved nightly of main's head.
  Build nightly(const std::string& date) {
    const Build build =
        nightjar::test::made_nightly(graph, artifacts, date, commits.back(), clock.now());
    return storage::add_build(storage::Autocommit(db), build);
  }

  // Ticks and measures until nothing moves any more; returns the number of sessions measured.
  int settle() {
    int sessions = 0;
    for (int idle = 0; idle < 3;) {
      tick_once();
      clock.advance(std::chrono::seconds(5));
      const auto job = claim();
      if (!job) {
        ++idle;
        continue;
      }
      idle = 0;
      ++sessions;
      if (on_claim && !on_claim(*job)) continue;  // the runner "died" with it
      if (job->spec.kind == JobKind::build) {
        make_build(*job);
        continue;
      }
      const SessionResult result = measure(*job);
      storage::store_result(storage::Autocommit(db), job->id, job->attempt, result, clock.now());
    }
    return sessions;
  }

  void tick_once() {
    EngineContext context = this->context();
    if (before_tick) before_tick();
    tick(context, true);
    while (const auto task = next_package_task(db, clock.now())) {
      apply(storage::Autocommit(db), index(*task), clock.now());
      tick(context, true);
    }
    if (after_tick) after_tick();
  }

  // A lock of these packages, as uv writes it.
  static Lock lock_with(const std::vector<LockedPackage>& packages) {
    LockText content;
    for (const LockedPackage& one : packages)
      content.packages.push_back({one, {*Sha256::parse(std::string(64, 'a'))}});
    return lock_of(content);
  }
  // The version of a package in an environment; empty: it is not there.
  std::string version_in(const EnvironmentSpec& spec, const std::string& name) const {
    const auto lock = storage::find_lock(db, spec.lock->sha256);
    for (const LockedPackage& one : lock->packages)
      if (one.name == name) return one.version;
    return {};
  }

  EngineContext context() {
    return {
        db, graph, artifacts, config, clock, [this](std::string_view event, const std::string&) {
          ++events[std::string(event)];
          if (on_event) on_event();
        }};
  }

  SessionResult measure(const Job& job) {
    measuring = &job;
    SessionResult result;
    result.after.steal_share = steal(job);
    for (std::size_t i = 0; i < job.spec.order.size(); ++i) {
      const PlannedRun& planned = job.spec.order[i];
      RunResult run;
      run.order = static_cast<int>(i);
      run.started_at = clock.now();
      run.seconds = run_seconds;
      clock.advance(std::chrono::milliseconds(100));
      if (planned.is_control()) {
        run.samples["latency"] = {control_level * std::exp(.005 * normal_(random_))};
      } else {
        const auto& environment =
            job.spec.environments[static_cast<std::size_t>(planned.environment)];
        const auto build = storage::find_build(db, environment.build);
        const auto& name = job.spec.workloads[static_cast<std::size_t>(planned.workload)].name;
        if (installs(environment))
          fill(run, *build, name.str());
        else
          nightjar::test::break_import(run);
        if (run.status == RunStatus::measured && crashes_with(environment, name.str())) crash(run);
        // A careless runner measures under the profiler, too.
        if (job.spec.kind == JobKind::profile) fill_profile(run, *build, name.str());
        for (double& latency : run.samples["latency"])
          latency *= (1 + planned.slow) * of_packages(environment, name.str());
        if (disturbed(job)) run.slowdown.assign(run.samples["latency"].size(), 2);
      }
      result.runs.push_back(std::move(run));
    }
    return result;
  }

  git::LiteralGraph graph;

 private:
  std::filesystem::path folder_;

 public:
  ManualClock clock;
  storage::Database db;
  Artifacts artifacts;
  Config config;
  Runner runner;
  std::vector<Runner> others;  // that work beside it
  bool away = false;           // `runner` is switched off
  std::vector<CommitSha> commits;
  std::map<std::string, int> events;
  std::chrono::seconds lease{120};
  double control_level = .25;
  double noise = .02;
  double run_seconds = 0;  // what a run says that it took
  // Level of a metric of a workload at main's commit `position`; seconds or bytes.
  std::function<double(int position, const std::string& workload, const std::string& metric)>
      level = [](int, const std::string&, const std::string& metric) {
        return metric == "latency" ? .010 : 3e8;
      };
  std::function<bool(int position)> imports = [](int) { return true; };
  std::function<bool(const std::string& workload)> available = [](const std::string&) {
    return true;
  };
  std::function<bool(int position, const std::string& workload)> crashes =
      [](int, const std::string&) { return false; };
  // The checksum of a run's output.
  std::function<double(int position, const std::string& workload)> gives =
      [](int, const std::string&) { return 12.5; };
  std::function<double(int position)> leaks;  // bytes an iteration; none: it is not measured
  double samples_of_failed = 0;               // seconds that a run said before it crashed; 0: none
  std::string without;                        // a metric that no run gives any more
  // What an environment's packages do to the latency, and whether they can be imported.
  std::function<double(const EnvironmentSpec&, const std::string& workload)> of_packages =
      [](const EnvironmentSpec&, const std::string&) { return 1.; };
  // Whether a workload crashes for this wheel and its packages together.
  std::function<bool(const EnvironmentSpec&, const std::string& workload)> crashes_with =
      [](const EnvironmentSpec&, const std::string&) { return false; };
  std::function<bool(const EnvironmentSpec&)> installs = [](const EnvironmentSpec&) {
    return true;
  };
  // What the indexes answer: they resolve all, and have no version between two.
  std::function<PackageFinding(const PackageTask&)> index = [](const PackageTask& task) {
    PackageFinding finding{task};
    if (task.position) finding.lock = lock_with(task.packages);
    return finding;
  };
  // Something else shares the core in all of this session's runs.
  std::function<bool(const Job&)> disturbed = [](const Job&) { return false; };
  // Share of CPU time that others took; such a session is void.
  std::function<double(const Job&)> steal = [](const Job&) { return 0.; };
  const Job* measuring = nullptr;  // the session that is being measured
  std::function<void()> before_tick, after_tick, on_event;
  bool profiles = true;  // the runner can make them
  bool on_gpu = false;   // runs and profiles tell of kernels and of a device's memory
  std::function<bool(const Job&)> on_claim;    // false: the runner dies with the job
  std::function<void(const Job&)> make_build;  // what a builder does

  int position(const CommitSha& sha) const {
    for (std::size_t i = 0; i < commits.size(); ++i)
      if (commits[i] == sha) return static_cast<int>(i);
    return -1;
  }

 private:
  void take_facts(Runner& made, const std::map<std::string, std::string>& facts) {
    const MachineClass machine =
        storage::intern_machine(storage::Autocommit(db), machine_class(facts));
    made.machine = machine.id;
    made.facts = storage::intern_facts(storage::Autocommit(db), machine, clock.now());
  }

  // The next job for whoever is there.
  std::optional<Job> claim() {
    std::vector<Runner> here = others;
    if (!away) here.insert(here.begin(), runner);
    for (const Runner& one : here)
      storage::touch_runner(storage::Autocommit(db), one.id, clock.now());
    for (const Runner& one : here)
      if (auto job =
              storage::claim_job(storage::Autocommit(db), one, clock.now(), clock.now() + lease))
        return job;
    return std::nullopt;
  }

  // Two operators: one of 4 ms, and the rest but for 2 ms outside of both.
  void fill_profile(RunResult& run, const Build& build, const std::string& workload) {
    if (!profiles) return nightjar::test::lack_profiler(run);
    const double whole =
        level(position(*build.commit), workload, "latency") * std::exp(.002 * normal_(random_));
    Profile& made = run.profile.emplace();
    made.workload = workload;
    ProfileRun one;
    one.iteration_seconds = std::vector<double>(10, whole);
    one.outside_seconds = std::vector<double>(10, .002);
    one.slowdown = std::vector<double>(10, 1);
    made.runs = {one};
    MemorySplit& split = made.memory.emplace();
    split.peak = std::llround(
        level(position(*build.commit), workload, on_gpu ? "peak_gpu_memory" : "peak_cpu_memory"));
    split.parameters = 100'000'000;
    split.activations = split.peak - split.parameters;
    const double kernels = on_gpu ? level(position(*build.commit), workload, "kernel_time") *
                                        std::exp(.001 * normal_(random_))
                                  : 0;
    auto row = [&](const char* name, double seconds, double on_device) {
      OperatorProfile& added = made.operators.emplace_back();
      added.name = name;
      added.calls = 3;
      added.self_seconds = {std::vector<double>(10, seconds)};
      added.device_seconds = {std::vector<double>(10, on_device)};
    };
    row("aten::linear", .004, on_gpu ? .0005 : 0);
    row("aten::mul", whole - .006, on_gpu ? kernels - .0005 : 0);
  }

  void crash(RunResult& run) const {
    run.status = RunStatus::crashed;
    run.reason = "ended by signal 11 (Segmentation fault)";
    run.samples.clear();
    if (samples_of_failed > 0) run.samples["latency"].assign(10, samples_of_failed);
  }

  void fill(RunResult& run, const Build& build, const std::string& workload) {
    const int at = position(*build.commit);
    if (!imports(at)) return nightjar::test::break_import(run);
    if (!available(workload)) return nightjar::test::lack_device(run);
    if (crashes(at, workload)) return crash(run);
    run.checksum = gives(at, workload);
    const auto normal = [this] { return normal_(random_); };
    const double factor = std::exp(noise * normal());
    nightjar::test::add_iterations(run, 10, level(at, workload, "latency") * factor, .01, normal);
    if (on_gpu) {
      run.samples["kernel_time"] = {
          nightjar::test::near(level(at, workload, "kernel_time"), normal)};
      run.samples["peak_gpu_memory"] = {level(at, workload, "peak_gpu_memory")};
    }
    if (leaks) run.samples["leaked_memory"] = {leaks(at) + 1024 * std::fabs(normal())};
    if (without != "peak_cpu_memory")
      run.samples["peak_cpu_memory"] = {
          nightjar::test::near(level(at, workload, "peak_cpu_memory"), normal)};
  }

  int restarts_ = 0;
  std::mt19937_64 random_{20260820};
  std::normal_distribution<double> normal_{0, 1};
};

// Two nights with 24 commits between.
inline void two_nights(NightWorld& world) {
  world.nightly("2026-08-19");
  world.settle();
  world.grow(24);
  world.nightly("2026-08-20");
  world.settle();
}

}  // namespace nightjar::service::test
