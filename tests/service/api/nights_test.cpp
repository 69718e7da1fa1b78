// Nights by REST: cancelling one, and asking for one that has been asked for.
#include "storage/marks.hpp"
#include "tests/service/api/day.hpp"
#include "tests/support/autocommit.hpp"

using namespace nightjar;
using namespace nightjar::service::api;
using nlohmann::json;

namespace {

std::string cancel_path(const Night& night) {
  return "/api/v1/nights/" + std::to_string(night.id.value) + "/cancel";
}

json last_audit(World& world) {
  return world.send("GET", "/api/v1/audit", "admin").json["items"].at(0);
}

}  // namespace

TEST_CASE("A cancelled night ends its jobs, says by whom, and makes neither level nor verdict") {
  World world;
  const Day day = fill(world);
  Regression open;
  world.on_writer([&] {
    storage::set_level(storage::Autocommit(world.db),
                       {day.series, day.bad.id, day.night.id, 1.2, 3});
    open = day.regression;
    open.id = {};
    open.part = 1;
    open = storage::add_regression(storage::Autocommit(world.db), open,
                                   {RegressionState::suspected, evening, "{}"});
  });
  CHECK(world.send("POST", cancel_path(day.night), "runner").status == 403);
  const auto reply =
      world.send("POST", cancel_path(day.night), "admin", R"({"reason": "a new disk"})");
  REQUIRE(reply.status == 200);
  CHECK(reply.json["state"] == "cancelled");
  CHECK(reply.json["cancelled_by"] == "token:t-admin");
  CHECK(reply.json["reason"] == "a new disk");
  CHECK(reply.json["finished_at"] == to_rfc3339(evening));
  CHECK(last_audit(world)["action"] == "cancel-night");
  CHECK(last_audit(world)["subject"] == "night/" + std::to_string(day.night.id.value));

  const auto night = world.get("/api/v1/nights/" + std::to_string(day.night.id.value)).json;
  CHECK(night["jobs"]["queued"] == 0);
  CHECK(night["jobs"]["leased"] == 0);
  CHECK(night["jobs"]["cancelled"] == 5);
  CHECK(world.get("/api/v1/improvements").json["items"].empty());
  CHECK(world.get("/api/v1/series/" + std::to_string(day.series.value)).json["level"]["night"] ==
        day.first_night.id.value);
  const auto suspicion = world.get("/api/v1/regressions/" + std::to_string(open.id.value)).json;
  CHECK(suspicion["state"] == "unconfirmed");
  CHECK(suspicion["unfinished"] == 1);
  CHECK(world.get("/api/v1/regressions?state=blamed").json["items"].size() == 1);

  const auto twice = world.send("POST", cancel_path(day.night), "admin");
  CHECK(twice.status == 409);
  CHECK(twice.text.find("is cancelled") != std::string::npos);
  CHECK(world.send("POST", cancel_path(day.first_night), "admin").status == 409);
  CHECK(world.send("POST", "/api/v1/nights/99/cancel", "admin").status == 404);
}

TEST_CASE("Nights of one build do not stack while the first has not begun") {
  World world;
  const Day day = fill(world);
  Night planned;
  world.on_writer([&] { planned = add_night(world, day.bad, NightState::measuring); });
  const auto same = world.send("POST", "/api/v1/nights", "admin");
  CHECK(same.status == 200);
  CHECK(same.json["id"] == planned.id.value);
  CHECK(same.headers.at("location") == "/api/v1/nights/" + std::to_string(planned.id.value));
  world.on_writer([&] {
    queue(world, day, planned, job_spec(day, JobKind::screen, {day.bad}), "begun");
    while (storage::claim_job(storage::Autocommit(world.db), day.runner, evening,
                              evening + std::chrono::hours(1)))
      continue;
  });
  const auto next = world.send("POST", "/api/v1/nights", "admin");
  CHECK(next.status == 202);
  CHECK(world.send("POST", "/api/v1/nights", "admin").json["id"] == next.json["id"]);
}
