#include "bisect/evidence/verify.hpp"

#include <stdexcept>

#include <catch2/catch.hpp>

#include "bisect/evidence/evidence.hpp"
#include "storage/model/job.hpp"
#include "storage/model/json.hpp"
#include "storage/model/metric.hpp"

using namespace nightjar;
using namespace nightjar::evidence;
using nlohmann::json;

namespace {

Sha256 never_asked(std::string_view) {
  throw std::logic_error("a bundle without a seal is not hashed");
}

// A bundle about a failure. Builds 1 and 2 are its ends; 3 is the wheel of 2 with the packages of
// 1, and 4 that of 1 with the packages of 2. Each has five runs, all of which fail or pass.
class FailureBundle {
 public:
  FailureBundle(bool source_fails, bool packages_fail) {
    CellValues cells{runs_of(1, false), runs_of(3, source_fails), runs_of(4, packages_fail),
                     runs_of(2, true)};
    const auto policy = bisect::policy_of_metric(failures_metric, .07);
    const auto verdict = bisect::attribute_failure(cells.cells(), policy);
    const json said = json::parse(of_attribution(verdict, cells, policy).text);
    const std::string old_lock(64, 'a'), new_lock(64, 'b');
    bundle = {
        {"format", "nightjar-evidence"},
        {"format_version", 1},
        {"regression",
         {{"metric", failures_metric},
          {"unit", ""},
          {"state", "confirmed"},
          {"good", 1},
          {"bad", 2},
          {"culprit", nullptr}}},
        {"builds", json::array({build(1, nullptr, old_lock), build(2, nullptr, new_lock),
                                build(3, 2, old_lock), build(4, 1, new_lock)})},
        {"jobs", json::array()},
        {"runs", runs_},
        {"changes",
         json::array(
             {{{"state", "confirmed"}, {"at", "2026-08-20T07:30:00Z"}, {"evidence", said}}})}};
  }

  Finding judged() const { return verify_bundle(bundle, never_asked).verdicts.at(0); }
  json& said() { return bundle["changes"][0]["evidence"]; }

  json bundle;

 private:
  static json build(int id, const json& base, const std::string& lock) {
    return {{"id", id}, {"commit", nullptr}, {"base", base}, {"lock", lock}};
  }

  Values runs_of(int build, bool fail) {
    Values values;
    for (int i = 0; i < 5; ++i) {
      RunResult run;
      run.order = static_cast<int>(runs_.size());
      if (fail)
        run.status = RunStatus::crashed;
      else
        run.samples["latency"] = {.01};
      const RunId id{run.order + 1};
      runs_.push_back({{"id", id.value}, {"job", 1}, {"build", build}, {"result", run}});
      values.values.push_back(fail ? failed_value : 1);
      values.runs.push_back(id);
    }
    return values;
  }

  json runs_ = json::array();
};

}  // namespace

TEST_CASE("a screening is judged again with what the controls of its session said") {
  Values tonight;
  json runs = json::array();
  for (int i = 0; i < 3; ++i) {
    RunResult run;
    run.order = i;
    run.samples["latency"] = {.01 * (1.1 + .01 * i)};
    runs.push_back({{"id", i + 1}, {"job", 1}, {"build", 2}, {"result", run}});
    tonight.values.push_back(run.samples["latency"].front());
    tonight.runs.push_back(RunId{i + 1});
  }
  const std::vector levels{.0100, .0101, .0099, .0100};
  const auto policy = bisect::policy_of_metric("latency", .07);
  const std::vector<ControlReading> controls{{Gauge::cpu, .01, .02, .003}};
  const auto screen = bisect::screen(levels, tonight.values, policy, controls);
  json bundle{{"format", "nightjar-evidence"},
              {"format_version", 1},
              {"regression",
               {{"metric", "latency"},
                {"unit", "s"},
                {"state", "suspected"},
                {"good", 1},
                {"bad", 2},
                {"culprit", nullptr}}},
              {"builds", json::array({{{"id", 1}, {"commit", nullptr}, {"base", nullptr}},
                                      {{"id", 2}, {"commit", nullptr}, {"base", nullptr}}})},
              {"jobs", json::array()},
              {"runs", runs}};
  const std::string why = of_screening(screen, tonight, levels, policy, controls).text;
  bundle["changes"] = json::array(
      {{{"state", "suspected"}, {"at", "2026-08-20T07:30:00Z"}, {"evidence", json::parse(why)}}});
  const auto judged = [&] { return verify_bundle(bundle, never_asked).verdicts.at(0); };
  CHECK(judged().agrees);
  auto& control = bundle["changes"][0]["evidence"]["controls"][0];
  control["moved"] = .12;
  CHECK_FALSE(judged().agrees);
  control["moved"] = "much";
  CHECK_THROWS_AS(judged(), json::exception);
}

namespace {

// Builds 1 and 2 are wheels of commits a and b; 3 is b laid over 1, and 4 is a laid over 2. Each
// has eight runs around its level.
class WheelBundle {
 public:
  WheelBundle(double source, double wheel, bool same_source = false) {
    CellValues cells{runs_of(1, 1), {}, {}, runs_of(2, source * wheel)};
    const auto policy = bisect::policy_of_metric("latency", .07);
    bisect::AttributionVerdict verdict;
    if (same_source) {
      verdict = bisect::attribute_to_wheel(cells.good.values, cells.bad.values);
    } else {
      cells.source = runs_of(3, source);
      cells.other = runs_of(4, wheel);
      verdict = bisect::attribute(cells.cells(), policy, bisect::OtherFactor::wheel);
    }
    const std::string a(40, 'a'), b(40, 'b');
    bundle = {
        {"format", "nightjar-evidence"},
        {"format_version", 1},
        {"regression",
         {{"metric", "latency"},
          {"unit", "s"},
          {"state", "confirmed"},
          {"good", 1},
          {"bad", 2},
          {"culprit", nullptr}}},
        {"builds",
         json::array({build(1, a, nullptr), build(2, b, nullptr), build(3, b, 1), build(4, a, 2)})},
        {"jobs", json::array()},
        {"runs", runs_},
        {"changes",
         json::array({{{"state", "confirmed"},
                       {"at", "2026-08-20T07:30:00Z"},
                       {"evidence", json::parse(of_attribution(verdict, cells, policy).text)}}})}};
  }

  Finding judged() const { return verify_bundle(bundle, never_asked).verdicts.at(0); }
  json& said() { return bundle["changes"][0]["evidence"]; }

  json bundle;

 private:
  static json build(int id, const std::string& commit, const json& base) {
    return {{"id", id}, {"commit", commit}, {"base", base}, {"lock", nullptr}};
  }

  Values runs_of(int build, double level) {
    Values values;
    for (int i = 0; i < 8; ++i) {
      RunResult run;
      run.order = static_cast<int>(runs_.size());
      run.samples["latency"] = {.01 * level * (1 + .001 * i)};
      const RunId id{run.order + 1};
      runs_.push_back({{"id", id.value}, {"job", 1}, {"build", build}, {"result", run}});
      values.values.push_back(run.samples["latency"].front());
      values.runs.push_back(id);
    }
    return values;
  }

  json runs_ = json::array();
};

}  // namespace

TEST_CASE(
    "whether a wheel or the source did it is judged again, on the wheels that were measured") {
  for (const auto& [source, wheel, cause] :
       {std::tuple{1.2, 1., "source"}, {1., 1.2, "wheel"}, {1.2, 1.2, "source_and_wheel"}}) {
    INFO(cause);
    WheelBundle made(source, wheel);
    CHECK(made.judged().stage == "wheels");
    CHECK(made.judged().verdict == cause);
    CHECK(made.judged().agrees);
    made.said()["verdict"] = "unknown";
    CHECK_FALSE(made.judged().agrees);
  }
  CHECK(WheelBundle(1, 1.2, true).judged().agrees);
  WheelBundle other_wheel(1.2, 1);
  other_wheel.bundle["builds"][2]["base"] = 2;
  CHECK_THAT(other_wheel.judged().why, Catch::Contains("has another wheel or other files"));
  WheelBundle other_files(1.2, 1);
  other_files.bundle["builds"][3]["commit"] = std::string(40, 'c');
  CHECK_THAT(other_files.judged().why, Catch::Contains("has another wheel or other files"));
}

TEST_CASE("whose a failure is can be judged again, and only by the rule for failures") {
  for (const auto& [source, packages, cause] : {std::tuple{true, false, "source"},
                                                {false, true, "environment"},
                                                {false, false, "unknown"}}) {
    INFO(cause);
    FailureBundle made(source, packages);
    CHECK(made.judged().verdict == cause);
    CHECK(made.judged().agrees);
    made.said()["verdict"] = "both";
    CHECK_FALSE(made.judged().agrees);
  }
  FailureBundle together(false, false);
  together.said().erase("of_failure");
  CHECK_FALSE(together.judged().agrees);
  FailureBundle other(true, false);
  other.bundle["builds"][2]["lock"] = std::string(64, 'c');
  CHECK(other.judged().why.find("has another wheel or other packages") != std::string::npos);
}
