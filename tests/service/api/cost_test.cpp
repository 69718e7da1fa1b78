// GET /cost: what nights took, and what they named.
#include "storage/connection.hpp"
#include "tests/service/api/day.hpp"

using namespace nightjar;
using namespace nightjar::service::api;

TEST_CASE("Nights cost machine time, which is told for each finding whose commit is named") {
  World world;
  fill(world);
  world.on_writer([&] {
    world.db.impl().execute(
        "UPDATE run SET started_at_us = started_at_us + position * 60000000, seconds = 60");
  });
  const auto cost_of = [&](const std::string& query) {
    const auto reply = world.get("/api/v1/cost?" + query);
    REQUIRE(reply.status == 200);
    return reply.json;
  };
  const auto days = cost_of("days=30&until=2026-08-21T20:00:00Z");
  CHECK(days["from"] == "2026-07-22T20:00:00Z");
  CHECK(days["nights"].get<int>() >= 2);
  CHECK(days["with_gpu"]["minutes"] == 0);
  CHECK(days["with_gpu"]["minutes_per_finding"].is_null());
  const auto& spent = days["without_gpu"];
  CHECK(spent["named"] == 1);
  CHECK(spent["minutes"].get<double>() >= 7);  // seven runs, a minute each
  CHECK(spent["minutes_per_finding"] == spent["minutes"]);
  const auto before = cost_of("until=2026-08-01T00:00:00Z");
  CHECK((before["nights"] == 0 && before["without_gpu"]["named"] == 0));
}
