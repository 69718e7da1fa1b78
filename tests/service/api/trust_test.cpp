// GET /trust, and what /metrics says of the same.
#include "storage/trust.hpp"

#include <regex>
#include <set>

#include "storage/replays.hpp"
#include "tests/service/api/day.hpp"

using namespace nightjar;
using namespace nightjar::service::api;
using nlohmann::json;

namespace {

json trust_of(World& world) {
  const auto reply = world.get("/api/v1/trust");
  REQUIRE(reply.status == 200);
  return reply.json;
}

}  // namespace

TEST_CASE("Trust is told by machine class and metric, with counts and intervals") {
  World world;
  const Day day = fill(world);
  world.on_writer([&] {
    storage::count_judged(storage::Autocommit(world.db),
                          {day.runner.machine, "peak_cpu_memory", evening, 1, 40, 0, 0, {}});
  });
  const json trust = trust_of(world);
  REQUIRE(trust["verdicts"].size() == 2);
  const json& latency = trust["verdicts"][0];
  CHECK(latency["machine"] == day.runner.machine.value);
  CHECK(latency["metric"] == "latency");
  CHECK(latency["since"] == "2026-08-20T20:00:00Z");
  CHECK(latency["nights"] == 1);
  CHECK(latency["suspicions"] == 2);
  CHECK(latency["confirmed"] == 1);
  CHECK(latency["false_alarms"]["cases"] == 40);
  CHECK(latency["false_alarms"]["hits"] == 0);
  CHECK(latency["false_alarms"]["share"] == 0);
  CHECK(latency["false_alarms"]["high"].get<double>() == Approx(.0881).margin(.0001));
  CHECK(latency["same_build"]["cases"] == 1);
  REQUIRE(latency["planted"].size() == 1);
  CHECK(latency["planted"][0]["change"] == .15);
  CHECK(latency["planted"][0]["seen"]["hits"] == 1);
  CHECK(latency["smallest_seen"]["planted"].is_null());
  CHECK(latency["smallest_seen"]["computed"] == .08);
  CHECK(latency["smallest_seen"]["series"] == 40);
  CHECK(latency["smallest_seen"]["shows_threshold"] == true);  // .08, of .07
  const json& memory = trust["verdicts"][1];
  CHECK(memory["same_build"]["share"].is_null());
  CHECK(memory["smallest_seen"]["computed"].is_null());
  CHECK(memory["smallest_seen"]["shows_threshold"].is_null());
  CHECK(memory["not_measured"].size() == 2);
  REQUIRE(trust["searches"].size() == 3);
  CHECK(trust["searches"][0]["source"] == "replay_named");
  CHECK(trust["searches"][0]["bins"].back()["right"] == 1);
  CHECK(trust["searches"][0]["not_measured"].is_null());
  CHECK(trust["searches"][1]["bins"][2]["cases"] == 1);
  CHECK(trust["searches"][1]["bins"][0]["stated"].is_null());
  CHECK(trust["searches"][2]["not_measured"].is_string());
}

TEST_CASE("What a person says of a culprit counts for the search and against the verdicts") {
  World world;
  const Day day = fill(world);
  const std::string path = "/api/v1/regressions/" + std::to_string(day.regression.id.value);
  const auto told = [&] { return trust_of(world)["searches"][2]["bins"].back(); };
  CHECK(world.post(path + "/cause", {{"reason", "x"}, {"commit", "short"}}, "admin").status == 400);
  REQUIRE(world.post(path + "/cause", {{"reason", "a pin"}}, "admin").status == 200);
  CHECK(told()["cases"] == 0);
  const json right{{"reason", "it adds a check"}, {"commit", commit(2).str()}};
  REQUIRE(world.post(path + "/cause", right, "admin").status == 200);
  CHECK(told()["cases"] == 1);
  CHECK(told()["right"] == 1);
  const auto said = world.get("/api/v1/reports").json["items"][0]["body"].get<std::string>();
  CHECK(said.find("It is commit " + commit(2).str()) != std::string::npos);
  REQUIRE(world.post(path + "/cause", {{"reason", "no"}, {"commit", commit(1).str()}}, "admin")
              .status == 200);
  CHECK(told()["cases"] == 1);
  CHECK(told()["right"] == 0);
  CHECK(trust_of(world)["verdicts"][0]["false_alarms"]["hits"] == 0);  // something did it
  REQUIRE(world.post(path + "/dismiss", {{"reason", "noise"}}, "admin").status == 200);
  const json latency = trust_of(world)["verdicts"][0];
  CHECK(latency["confirmed"] == 1);
  CHECK(latency["no_regression"] == 1);
  CHECK(latency["false_alarms"]["hits"] == 1);
  CHECK(told()["right"] == 0);
}

TEST_CASE("A finding that is meant is no false alarm") {
  World world;
  const Day day = fill(world);
  const std::string path = "/api/v1/regressions/" + std::to_string(day.regression.id.value);
  REQUIRE(world.post(path + "/dismiss", {{"reason", "larger"}, {"accept", true}}, "admin").status ==
          200);
  const json latency = trust_of(world)["verdicts"][0];
  CHECK(latency["confirmed"] == 1);
  CHECK(latency["false_alarms"]["hits"] == 0);
}

TEST_CASE("Without a night nothing is measured, and it says so") {
  World world;
  const json trust = trust_of(world);
  CHECK(trust["verdicts"].empty());
  for (const json& one : trust["searches"]) CHECK(one["not_measured"].is_string());
}

TEST_CASE("Metrics have trust by machine class and metric") {
  World world;
  const Day day = fill(world);
  const std::string on = "{machine=\"" + std::to_string(day.runner.machine.value) + "\",metric=";
  const auto text = world.get("/metrics").text;
  for (const std::string& line :
       {"nightjar_judged_series_nights_total" + on + "\"latency\"} 40\n",
        "nightjar_suspicions_total" + on + "\"latency\"} 2\n",
        "nightjar_findings_confirmed_total" + on + "\"latency\"} 1\n",
        "nightjar_findings_disproved_total" + on + "\"latency\",by=\"person\"} 0\n",
        "nightjar_false_alarm_ratio" + on + "\"latency\",bound=\"estimate\"} 0\n",
        "nightjar_false_alarm_ratio" + on + "\"latency\",bound=\"high\"} 0.0880",
        "nightjar_known_cases" + on + "\"latency\",planted=\"0.15\"} 1\n",
        "nightjar_known_cases_worse" + on + "\"latency\",planted=\"0\"} 0\n",
        "nightjar_smallest_seen_ratio" + on + "\"latency\",from=\"noise\"} 0.08\n",
        std::string(
            "nightjar_search_predictions{source=\"replay_named\",stated_from=\"0.99\"} 1\n"),
        std::string("nightjar_search_predictions_right{source=\"replay_suspected\","
                    "stated_from=\"0.25\"} 0\n")}) {
    INFO(line << text);
    CHECK(text.find(line) != std::string::npos);
  }
}

TEST_CASE("Metrics are in the text format that Prometheus reads, named as its rules say") {
  World world;
  fill(world);
  std::istringstream text(world.get("/metrics").text);
  const std::regex help("# HELP ([a-z_]+) (\\S.*)"), type("# TYPE ([a-z_]+) (counter|gauge)"),
      sample("([a-z_]+)(\\{[a-z_]+=\"[^\"\\\\]*\"(,[a-z_]+=\"[^\"\\\\]*\")*\\})? -?[0-9.e+-]+");
  std::set<std::string> described, seen;
  std::string name;
  for (std::string line; std::getline(text, line);) {
    INFO(line);
    std::smatch found;
    if (std::regex_match(line, found, help)) {
      name = found[1];
      CHECK(described.insert(name).second);  // once, with all of its samples below it
    } else if (std::regex_match(line, found, type)) {
      CHECK(found[1] == name);
      CHECK(name.ends_with("_total") == (found[2] == "counter"));
    } else {
      REQUIRE(std::regex_match(line, found, sample));
      CHECK(found[1] == name);
      CHECK(seen.insert(line.substr(0, line.rfind(' '))).second);
    }
  }
  CHECK(described.size() > 25);
}
