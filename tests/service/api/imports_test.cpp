// Histories by REST: taken once however often they are sent, and refused with the record that is no
// good.
#include "storage/imports.hpp"

#include <functional>

#include "tests/service/api/day.hpp"

using namespace nightjar;
using namespace nightjar::service::api;
using nlohmann::json;

namespace {

json night(int day, const json& values) {
  char time[32];
  std::snprintf(time, sizeof time, "2026-03-%02dT07:00:00Z", day);
  return {{"measured_at", time},
          {"version", ""},
          {"commit", nullptr},
          {"origin", "results/metrics.json"},
          {"values", values}};
}
json latency(std::vector<double> values) {
  return {{"workload", workload_text}, {"metric", "latency"}, {"values", values}};
}
Reply send_history(World& world, const json& body, const std::string& token = "import") {
  return world.post("/api/v1/imports", body, token);
}
json history(const json& nights) {
  return {{"machine_class", "A100 of somebody else"}, {"nights", nights}};
}

}  // namespace

TEST_CASE("An imported history is stored once, and later nights are added to it") {
  World world;
  const json first = history(json::array(
      {night(1, json::array({latency({.5})})), night(2, json::array({latency({.5})}))}));
  const auto stored = send_history(world, first);
  REQUIRE(stored.status == 200);
  CHECK(stored.json["nights"] == 2);
  CHECK(stored.json["added"] == 2);
  CHECK(world.wakes > 0);
  const auto again = send_history(world, first);
  CHECK((again.json["nights"] == 0 && again.json["added"] == 0 && again.json["known"] == 2));
  const auto later =
      send_history(world, history(json::array({night(2, json::array({latency({.5})})),
                                               night(3, json::array({latency({.7})}))})));
  CHECK((later.json["nights"] == 1 && later.json["added"] == 1 && later.json["known"] == 1));
  CHECK(later.json["machine"] == stored.json["machine"]);

  const auto classes = world.get("/api/v1/imports").json["items"];
  REQUIRE(classes.size() == 1);
  CHECK(classes[0]["name"] == "A100 of somebody else");
  CHECK(classes[0]["nights"] == 3);
  CHECK(classes[0]["first"] == "2026-03-01T07:00:00Z");
  CHECK(classes[0]["last"] == "2026-03-03T07:00:00Z");
  CHECK((classes[0]["series"] == 1 && classes[0]["to_judge"] == 1));
}

TEST_CASE("A large night is stored in parts, with others' work in between, and counted once") {
  World world;
  json values = json::array();
  for (int i = 0; i < 1200; ++i)
    values.push_back({{"workload", "torchbench/m" + std::to_string(i) + "/eval/cpu/fp32/b1/eager"},
                      {"metric", "latency"},
                      {"values", {.5}}});
  bool ended = false;  // both belong to the writer
  int turns = 0;       // of other work that saw a part of the night
  std::function<void()> other = [&] {
    if (storage::count_jobs(world.db).contains(JobState::failed)) {
      ++turns;
      CHECK(world.context.importing.holds(storage::imported_classes(world.db).at(0).id));
    }
    if (!ended) boost::asio::post(world.writer, other);
  };
  boost::asio::post(world.writer, other);
  const auto stored = send_history(world, history(json::array({night(1, values)})));
  world.on_writer([&] { ended = true; });
  world.on_writer([] {});
  CHECK(turns == 2);
  CHECK((stored.json["nights"] == 1 && stored.json["added"] == 1200));
  CHECK_FALSE(world.context.importing.holds(MachineId{stored.json["machine"].get<int>()}));
  CHECK(world.get("/api/v1/jobs").json["items"][0]["state"] == "done");
}

TEST_CASE("What space the disk needs for results no import takes") {
  World world;
  world.context.min_free_bytes = std::uint64_t{1} << 62;
  const auto full =
      send_history(world, history(json::array({night(1, json::array({latency({.5})}))})));
  CHECK(full.status == 507);
  CHECK(world.get("/api/v1/imports").json["items"].empty());
  world.context.min_free_bytes = 0;
  CHECK(
      send_history(world, history(json::array({night(1, json::array({latency({.5})}))}))).status ==
      200);
}

TEST_CASE("What was imported is marked as such wherever it is read") {
  World world;
  send_history(world, history(json::array({night(1, json::array({latency({.5})}))})));
  CHECK(world.get("/api/v1/nights").json["items"][0]["trigger"] == "imported");
  CHECK(world.get("/api/v1/builds").json["items"][0]["state"] == "imported");
  CHECK(world.get("/api/v1/series").json["items"][0]["variant"] == "imported");
  const auto audit = world.send("GET", "/api/v1/audit", "admin").json["items"].at(0);
  CHECK(audit["action"] == "import");
  CHECK(audit["actor"] == "token:t-import");
}

TEST_CASE("A record that is no good is named, and nothing of its body is stored") {
  World world;
  const auto refused = [&](const json& body, unsigned status) {
    const auto reply = send_history(world, body);
    CHECK(reply.status == status);
    REQUIRE(reply.json["errors"].size() == 1);
    CHECK(world.get("/api/v1/imports").json["items"].empty());
    return reply.json["errors"][0]["pointer"].get<std::string>();
  };
  const auto second = [&](const json& value) {
    return history(
        json::array({night(1, json::array({latency({.5})})), night(2, {latency({.5}), value})}));
  };
  CHECK(refused(second(latency({-1})), 422) == "#/nights/1/values/1");
  CHECK(refused(second({{"workload", workload_text}, {"metric", "failures"}, {"values", {2}}}),
                422) == "#/nights/1/values/1");
  CHECK(refused(second({{"workload", "resnet50"}, {"metric", "latency"}, {"values", {1}}}), 422) ==
        "#/nights/1/values/1");
  CHECK(refused(second({{"workload", workload_text}, {"metric", "speed"}, {"values", {1}}}), 400) ==
        "#/nights/1/values/1/metric");
  json late = night(2, json::array());
  late["measured_at"] = "yesterday";
  CHECK(refused(history(json::array({night(1, json::array()), late})), 422) == "#/nights/1");
  late["measured_at"] = "9999-12-31T23:59:59Z";
  CHECK(refused(history(json::array({night(1, json::array()), late})), 422) == "#/nights/1");
  late = night(2, json::array());
  late["version"] = "2.15.0.dev99991231+cu130";
  CHECK(refused(history(json::array({night(1, json::array()), late})), 422) == "#/nights/1");
  CHECK(refused({{"machine_class", ""}, {"nights", json::array()}}, 400) == "#/machine_class");
}

TEST_CASE("Only a token of the role import may import, and a refusal says so") {
  World world;
  const json body = history(json::array({night(1, json::array({latency({.5})}))}));
  const auto runner = send_history(world, body, "runner");
  CHECK(runner.status == 403);
  CHECK_THAT(runner.json["detail"].get<std::string>(), Catch::Contains("role import"));
  CHECK(world.post("/api/v1/agent/claim", json::object(), "import").status == 403);
  CHECK(send_history(world, body, "admin").status == 200);
  CHECK(send_history(world, body, "read").status == 403);
  CHECK(send_history(world, body, "").status == 401);
}

TEST_CASE("A runner's token imports where its table says so, and does nothing else with it") {
  const auto principal = [](bool imports) {
    const Sha256 hash = web::sha256("lab");
    return configured_principal({{.name = "lab",
                                  .role = web::Role::runner,
                                  .sha256 = hash.str(),
                                  .imports = imports}},
                                hash)
        .value();
  };
  CHECK(web::may_act_as(principal(true), web::Role::import));
  CHECK(web::may_act_as(principal(true), web::Role::runner));
  CHECK_FALSE(web::may_act_as(principal(true), web::Role::builder));
  CHECK_FALSE(web::may_act_as(principal(false), web::Role::import));
}
