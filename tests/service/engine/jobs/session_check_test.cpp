#include "service/engine/jobs/session_check.hpp"

#include <catch2/catch.hpp>

#include "tests/service/engine/night_world.hpp"
#include "tests/support/autocommit.hpp"

using namespace nightjar;
using namespace nightjar::service;

namespace {

// One control run of `control` seconds on a machine that lost `steal` of its CPU time.
SessionCheck check(double control, double steal, const std::vector<double>& usual) {
  std::vector<SessionCheck> history;
  for (const double one : usual) history.push_back({.control = one});
  JobSpec spec;
  spec.order = {PlannedRun{}};
  SessionResult session;
  RunResult run;
  run.samples["latency"] = std::vector<double>(10, control);
  session.runs = {run};
  session.after.steal_share = steal;
  return check_session(spec, session, history);
}

const std::vector<double> usual_controls{1.00, 1.01, .99, 1.02, .98, 1.00, 1.01, .99};

}  // namespace

TEST_CASE("A session is void when the host took the CPU away or the control was off") {
  CHECK(check(1, .05, usual_controls).usable);
  const SessionCheck stolen = check(1, .25, usual_controls);
  CHECK_FALSE(stolen.usable);
  CHECK(stolen.reason == "the machine lost +25.0 % of its CPU time to others (steal)");
  const SessionCheck off = check(1.2, 0, usual_controls);
  CHECK_FALSE(off.usable);
  CHECK(off.reason.find("off by +20.0 %") != std::string::npos);
  CHECK(off.control == Approx(1.2));
}

TEST_CASE("A power cap makes void only what was slower than the same builds elsewhere") {
  using enum ClockEvent;
  const auto check_capped = [](std::vector<ClockEvent> events, const PowerCap& cap) {
    JobSpec spec;
    spec.workloads = {{{}, *WorkloadName::parse("python/m/eval/cuda/fp32/b4/eager"), 1}};
    SessionResult session;
    session.after.gpus.resize(1);
    session.after.gpus[0].used = true;
    session.after.gpus[0].clock_events = std::move(events);
    return check_session(spec, session, {}, cap);
  };
  const std::vector capped = {gpu_idle, sw_power_cap},
                    fixed = {applications_clocks_setting, sw_power_cap};
  CHECK(check_capped(capped, {}).usable);  // of a new build there is nothing to be held against
  CHECK(check_capped(capped, {1.015, 0}).usable);
  const SessionCheck slowed = check_capped(capped, {1.05, 1});
  CHECK_FALSE(slowed.usable);
  CHECK(slowed.reason ==
        "the GPU's power cap slowed it by +5.0 % against other sessions of the same builds");
  // Free clocks at the cap are normal for this GPU, so it is not measured a third time for nothing.
  CHECK(check_capped(capped, {1.05, 2}).usable);
  CHECK_FALSE(check_capped(fixed, {1.05, 2}).usable);
  CHECK_FALSE(check_capped({sw_power_cap, hw_thermal_slowdown}, {1, 2}).usable);
}

TEST_CASE("A session on a GPU is void when that GPU was throttled, and no other session is") {
  const auto check_gpu = [](const char* workload, bool used, std::vector<ClockEvent> events) {
    JobSpec spec;
    spec.workloads = {{{}, *WorkloadName::parse(workload), 1}};
    SessionResult session;
    session.after.gpus.resize(1);
    session.after.gpus[0].used = used;
    session.after.gpus[0].clock_events = std::move(events);
    return check_session(spec, session, {});
  };
  using enum ClockEvent;
  const char* on_gpu = "python/m/eval/cuda/fp32/b4/eager";
  const SessionCheck hot = check_gpu(on_gpu, true, {gpu_idle, hw_thermal_slowdown, sw_power_cap});
  CHECK_FALSE(hot.usable);
  CHECK(hot.reason == "the GPU's clocks were held down (sw_power_cap, hw_thermal_slowdown)");
  CHECK_FALSE(check_gpu(on_gpu, true, {sync_boost}).usable);
  CHECK_FALSE(check_gpu(on_gpu, true, {unknown}).usable);
  CHECK(check_gpu(on_gpu, true, {gpu_idle, applications_clocks_setting}).usable);
  CHECK(check_gpu(on_gpu, false, {hw_thermal_slowdown}).usable);
  CHECK(check_gpu("python/m/eval/cpu/fp32/b4/eager", true, {hw_thermal_slowdown}).usable);
}

TEST_CASE("A session on a GPU is void when one of the control's kernels was off") {
  std::vector<SessionCheck> history;
  for (const double one : usual_controls)
    history.push_back({.control = 1, .gpu = GpuControl{one * .010, one * .020, one * 5e-6}});
  JobSpec spec;
  spec.workloads = {{{}, *WorkloadName::parse("python/m/eval/cuda/fp32/b4/eager"), 1}};
  spec.order = {PlannedRun{}, PlannedRun{}};
  const auto check_gpu = [&](double compute, double bandwidth, double launch) {
    SessionResult session;
    for (int i = 0; i < 2; ++i) {
      RunResult run;
      run.order = i;
      run.samples = {{"latency", {1}},
                     {"gpu_compute", {compute}},
                     {"gpu_bandwidth", {bandwidth}},
                     {"gpu_launch", {launch, 9, launch}}};
      session.runs.push_back(run);
    }
    return check_session(spec, session, history);
  };
  const SessionCheck usual = check_gpu(.0103, .0195, 6e-6);
  CHECK(usual.reason == "");
  REQUIRE(usual.gpu);
  CHECK(usual.gpu->compute == .0103);
  CHECK(usual.gpu->launch == 6e-6);
  CHECK(check_gpu(.012, .020, 5e-6).reason ==
        "the GPU's arithmetic, by a kernel that no build changes, was off by +20.0 % "
        "(limit +5.0 %)");
  CHECK_THAT(check_gpu(.010, .024, 5e-6).reason, Catch::Contains("the GPU's memory"));
  CHECK_THAT(check_gpu(.010, .020, 7e-6).reason, Catch::Contains("launching a kernel"));
  // Sessions from before there was a control on GPUs say nothing of it.
  for (SessionCheck& one : history) one.gpu.reset();
  CHECK(check_gpu(.012, .020, 5e-6).usable);
}

TEST_CASE("A screening on a GPU has readings of its three controls, another of the processor's") {
  const auto gauges_of = [](const char* workload, JobKind kind) {
    JobSpec spec;
    spec.kind = kind;
    spec.workloads = {{{}, *WorkloadName::parse(workload), 1}};
    spec.order = {PlannedRun{}, PlannedRun{}};
    SessionResult session;
    for (int i = 0; i < 2; ++i) {
      RunResult run;
      run.order = i;
      run.samples = {{"latency", {.1}},
                     {"gpu_compute", {.011}},
                     {"gpu_bandwidth", {.020}},
                     {"gpu_launch", {5e-6}}};
      session.runs.push_back(run);
    }
    Job job;
    job.spec = spec;
    Unchecked unchecked{job, job, 0, session, {}};
    for (int night = 1; night <= 5; ++night)
      for (const Gauge gauge : all_of<Gauge>())
        unchecked.nights.push_back({NightId{night}, gauge, gauge == Gauge::cpu ? .1 : .010, 0});
    std::map<Gauge, double> moved;
    for (const ControlReading& one : check(unchecked).check.readings)
      moved[one.gauge] = std::exp(one.moved.value());
    return moved;
  };
  const auto gpu = gauges_of("python/m/eval/cuda/fp32/b4/eager", JobKind::screen);
  REQUIRE(gpu.size() == 3);
  CHECK(gpu.at(Gauge::cpu) == Approx(1));
  CHECK(gpu.at(Gauge::gpu_compute) == Approx(1.1));
  CHECK(gpu.at(Gauge::gpu_bandwidth) == Approx(2));
  CHECK(gauges_of("python/m/eval/cpu/fp32/b4/eager", JobKind::screen).size() == 1);
  CHECK(gauges_of("python/m/eval/cuda/fp32/b4/eager", JobKind::confirm).empty());
}

TEST_CASE("Void sessions that agree, each gauge as it repeats, are a new level of the machine") {
  const auto history_with = [](double last_bandwidth, double last_launch) {
    std::vector<SessionCheck> checks(8, {.control = 1, .gpu = GpuControl{.010, .020, 5e-6}});
    for (int i = 0; i < 3; ++i) checks.push_back({false, "off", 1, GpuControl{.010, .030, 9e-6}});
    checks.back().gpu = GpuControl{.010, last_bandwidth, last_launch};
    return usable_history(checks);
  };
  CHECK(history_with(.0305, 10e-6).size() == 3);
  CHECK(history_with(.0330, 9e-6).size() == 8);
  CHECK(history_with(.0300, 11e-6).size() == 8);
}

TEST_CASE("A control is not held to a history that is too short to have a deviation") {
  CHECK(check(1.2, 0, {usual_controls.begin(), usual_controls.begin() + 7}).usable);
}

TEST_CASE("What was said of a session stands, whatever the machine's controls do afterwards") {
  nightjar::service::test::NightWorld world;
  world.grow(1);
  world.nightly("2026-08-20");
  REQUIRE(world.settle() > 0);
  const Job first = storage::jobs_of_night(world.db, NightId{1}, JobKind::screen).front();
  const auto session = storage::session_of(world.db, first.id);
  world.control_level *= 2;
  for (int i = 0; i < 70; ++i) {
    Job later = first;
    later.key = "later:" + std::to_string(i);
    later = storage::add_job(storage::Autocommit(world.db), later);
    const auto claimed = storage::claim_job(storage::Autocommit(world.db), world.runner,
                                            world.clock.now(), world.clock.now());
    REQUIRE(claimed->id == later.id);
    storage::store_result(storage::Autocommit(world.db), later.id, claimed->attempt,
                          world.measure(later), world.clock.now());
    EngineContext context = world.context();
    check_sessions(context);
  }
  CHECK(storage::find_check(world.db, first.id)->control == Approx(.25).epsilon(.05));
  CHECK(outcome_of(world.db, first).state == SessionOutcome::State::usable);
}
