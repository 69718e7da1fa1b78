// Machines beside machines, and releases beside nightlies, over REST.
#include <catch2/catch.hpp>

#include "tests/service/api/world.hpp"

using namespace nightjar;
using namespace nightjar::service::api;
using nlohmann::json;

namespace {

json night_of(const std::string& version, const std::string& day,
              const std::vector<std::pair<std::string, double>>& values) {
  json night{{"measured_at", day + "T07:00:00Z"},
             {"version", version},
             {"commit", nullptr},
             {"origin", "results"},
             {"values", json::array()}};
  for (const auto& [model, seconds] : values)
    night["values"].push_back({{"workload", "hf/" + model + "/eval/cuda/fp32/b1/eager"},
                               {"metric", "latency"},
                               {"values", {seconds}}});
  return night;
}

std::string import(World& world, const std::string& machine, const std::vector<json>& nights) {
  const auto reply =
      world.post("/api/v1/imports", {{"machine_class", machine}, {"nights", nights}}, "import");
  REQUIRE(reply.status == 200);
  return std::to_string(reply.json["machine"].get<int>());
}

}  // namespace

TEST_CASE("the last release of a class stands beside its newest nightly, whatever was imported") {
  World world;
  const auto machine = import(
      world, "A100",
      {night_of("2.15.0.dev20260801+cu130", "2026-08-01", {{"vit_b16-small", 1}, {"new", 1}}),
       night_of("2.13.0+cu130", "2026-08-01", {{"vit_b16-small", 1.2}, {"old", 1}}),
       night_of("2.9.0+cu130", "2026-08-02", {{"vit_b16-small", 9}})});
  const json all = world.get("/api/v1/beside/release").json;
  CHECK(all["total"] == json{{"compared", 1}, {"left_out", 2}, {"ratio", 1.2}});
  REQUIRE(all["items"].size() == 3);
  CHECK(all["items"][0]["ratio"].get<double>() == Approx(1.2));
  CHECK(all["items"][0]["first"]["build"]["version"] == "20260801.070000+2.13.0+cu130");
  CHECK(all["items"][0]["other"]["build"]["version"] == "2.15.0.dev20260801+cu130");
  CHECK(all["items"][1]["reason"] == "no release was measured");
  CHECK(all["items"][2]["reason"] == "no nightly was measured of late");

  const auto count = [&](const std::string& query) {
    const auto reply = world.get("/api/v1/beside/release?" + query);
    REQUIRE(reply.status == 200);
    return reply.json["items"].size();
  };
  CHECK(count("part=compared") == 1);
  CHECK(count("part=left_out&machine=" + machine) == 2);
  CHECK(count("model=old") == 1);
  CHECK(count("metric=speedup") == 0);
  CHECK(count("limit=2&cursor=" + std::to_string(all["items"][1]["other"]["series"].get<int>())) ==
        1);
}

TEST_CASE("two machine classes are compared by what both measured, and both must be there") {
  World world;
  const std::string version = "2.15.0.dev20260801";
  const auto first =
      import(world, "A100", {night_of(version + "+cu130", "2026-08-01", {{"t5", 1}, {"only", 1}})});
  const auto other =
      import(world, "MI300X", {night_of(version + "+rocm7", "2026-08-01", {{"t5", 2}})});
  const std::string path = "/api/v1/beside/machines?first=" + first;
  const json both = world.get(path + "&other=" + other).json;
  REQUIRE(both["items"].size() == 2);
  CHECK(both["items"][0]["ratio"].get<double>() == Approx(.5));
  CHECK(both["items"][0]["low"].is_null());  // one run each
  CHECK(both["items"][1]["other"].is_null());
  CHECK(both["items"][1]["reason"] == "the other machine has no value from its newest nightlies");
  CHECK(world.get(path).status == 400);
  CHECK(world.get(path + "&other=99").status == 404);
}
