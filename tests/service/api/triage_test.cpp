// What a person decides about a regression by REST, and what then follows.
#include "storage/marks.hpp"
#include "tests/service/api/day.hpp"

using namespace nightjar;
using namespace nightjar::service::api;
using nlohmann::json;

namespace {

std::string path_of(const Day& day, const std::string& what) {
  return "/api/v1/regressions/" + std::to_string(day.regression.id.value) + what;
}

}  // namespace

TEST_CASE("Dismissing a regression ends its search and its issue, and says by whom and why") {
  World world;
  const Day day = fill(world);
  CHECK(world.post(path_of(day, "/dismiss"), {{"reason", "noise"}}, "read").status == 403);
  CHECK(world.post(path_of(day, "/dismiss"), {{"reason", ""}}, "admin").status == 400);
  const auto reply = world.post(path_of(day, "/dismiss"), {{"reason", "other inputs"}}, "admin");
  REQUIRE(reply.status == 200);
  CHECK(reply.json["state"] == "dismissed");
  const auto why = reply.json["changes"].back()["evidence"]["reason"].get<std::string>();
  CHECK(why == "dismissed by token:t-admin: other inputs");
  const auto search = world.get("/api/v1/bisections/" + std::to_string(day.bisection.id.value));
  CHECK(search.json["state"] == "inconclusive");
  const auto messages = world.get("/api/v1/reports").json["items"];
  CHECK(messages[0]["kind"] == "close_issue");
  CHECK(messages[0]["body"].get<std::string>().find("other inputs") != std::string::npos);
  CHECK(world.get("/api/v1/marks").json["items"].size() == 1);
  CHECK(world.post(path_of(day, "/dismiss"), {{"reason", "again"}}, "admin").status == 409);
  const auto audit = world.send("GET", "/api/v1/audit", "admin").json["items"].at(0);
  CHECK(audit["action"] == "dismiss-regression");
}

TEST_CASE("A dismissed change that is right begins its series anew, so that no night finds it") {
  World world;
  const Day day = fill(world);
  const json body{{"reason", "larger model"}, {"accept", true}};
  REQUIRE(world.post(path_of(day, "/dismiss"), body, "admin").status == 200);
  const auto mark = world.get("/api/v1/marks").json["items"].at(0);
  CHECK(mark["workload"] == workload_text);
  CHECK(mark["reason"] == "larger model");
  world.on_writer([&] {
    CHECK(storage::marked_until(world.db, *storage::find_series(world.db, day.series)) ==
          day.night.id);
  });
}

TEST_CASE("The cause is said in the issue, and only an unconfirmed regression is measured again") {
  World world;
  const Day day = fill(world);
  CHECK(world.post(path_of(day, "/confirm"), {{"reason", "x"}}, "admin").status == 409);
  REQUIRE(world.post(path_of(day, "/cause"), {{"reason", "a pin"}}, "admin").status == 200);
  REQUIRE(world.post(path_of(day, "/cause"), {{"reason", "no, @x"}}, "admin").status == 200);
  const auto messages = world.get("/api/v1/reports").json["items"];
  CHECK(messages[1]["body"].get<std::string>().find("a pin") != std::string::npos);
  CHECK(messages[0]["key"] != messages[1]["key"]);
  CHECK(messages[0]["body"].get<std::string>().find("@x") == std::string::npos);
}
