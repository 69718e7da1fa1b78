// Marks by REST: one that matches nothing is refused, and one that was wrong is taken back.
#include "storage/marks.hpp"

#include "tests/service/api/day.hpp"

using namespace nightjar;
using namespace nightjar::service::api;
using nlohmann::json;

TEST_CASE("A mark that matches no series is refused with what was looked for and what is near") {
  World world;
  fill(world);
  const auto refused = [&](const json& body) {
    const auto reply = world.post("/api/v1/marks", body, "admin");
    CHECK(reply.status == 422);
    return reply.text;
  };
  const auto slip = refused({{"reason", "new pin"}, {"workload", "python/resnt18/**"}});
  CHECK(slip.find("python/resnt18/**") != std::string::npos);
  CHECK(slip.find(workload_text) != std::string::npos);
  CHECK(refused({{"reason", "x"}, {"metric", "compile_time"}}).find("compile_time") !=
        std::string::npos);
  CHECK(world.get("/api/v1/marks").json["items"].size() == 1);
  const json good{{"reason", "new pin"}, {"workload", "python/resnet18/**"}, {"metric", "latency"}};
  CHECK(world.post("/api/v1/marks", good, "admin").status == 201);
}

TEST_CASE("A deleted mark is on record, and the levels before it count again") {
  World world;
  const Day day = fill(world);
  const auto until = [&] {
    return world.on_writer([&] {
      return storage::marked_until(world.db, *storage::find_series(world.db, day.series)).value;
    });
  };
  const auto made = world.post("/api/v1/marks", {{"reason", "new pin"}}, "admin");
  REQUIRE(made.status == 201);
  CHECK(until() == day.night.id.value);
  const auto path = "/api/v1/marks/" + made.json["id"].dump();
  CHECK(world.send("DELETE", path, "runner").status == 403);
  const auto deleted = world.send("DELETE", path, "admin");
  CHECK(deleted.status == 200);
  CHECK(deleted.json == made.json);
  CHECK(until() == 0);
  CHECK(world.send("DELETE", path, "admin").status == 404);
  const auto audit = world.send("GET", "/api/v1/audit", "admin").json["items"].at(0);
  CHECK(audit["action"] == "delete-mark");
  CHECK(audit["actor"] == "token:t-admin");
}
