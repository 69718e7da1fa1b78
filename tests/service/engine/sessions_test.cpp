#include "service/engine/sessions.hpp"

#include <catch2/catch.hpp>

using namespace nightjar;
using namespace nightjar::service;

namespace {

// One control run of `control` seconds on a machine that lost `steal` of its CPU time.
SessionCheck check(double control, double steal, const std::vector<double>& history) {
  JobSpec spec;
  spec.order = {PlannedRun{}};
  SessionResult session;
  RunResult run;
  run.samples["latency"] = std::vector<double>(10, control);
  session.runs = {run};
  session.after.steal_share = steal;
  return check_session(spec, session, history);
}

const std::vector<double> kUsual{1.00, 1.01, .99, 1.02, .98, 1.00, 1.01, .99};

}  // namespace

TEST_CASE("A session is void when the host took the CPU away or the control was off") {
  CHECK(check(1, .05, kUsual).usable);
  const SessionCheck stolen = check(1, .25, kUsual);
  CHECK_FALSE(stolen.usable);
  CHECK(stolen.reason == "the machine lost +25.0 % of its CPU time to others (steal)");
  const SessionCheck off = check(1.2, 0, kUsual);
  CHECK_FALSE(off.usable);
  CHECK(off.reason.find("off by +20.0 %") != std::string::npos);
  CHECK(off.control == Approx(1.2));
}

TEST_CASE("A control is not held to a history that is too short to have a deviation") {
  CHECK(check(1.2, 0, {kUsual.begin(), kUsual.begin() + 7}).usable);
}
