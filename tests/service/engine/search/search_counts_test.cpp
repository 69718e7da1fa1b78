#include <set>

#include <catch2/catch.hpp>

#include "service/api/rows.hpp"
#include "storage/model/json.hpp"
#include "tests/service/engine/night_world.hpp"

using namespace nightjar;
using namespace nightjar::service;
using service::test::alpha_eval;
using service::test::NightWorld;
using service::test::two_nights;

TEST_CASE("issue, REST and evidence count the same runs and sessions of a search") {
  NightWorld world;
  world.level = [](int position, const std::string& workload, const std::string& metric) {
    const double plain = metric == "latency" ? .010 : 3e8;
    return workload == alpha_eval && metric == "latency" && position >= 9 ? 1.2 * plain : plain;
  };
  two_nights(world);
  const auto reported = storage::regressions_in_state(world.db, RegressionState::reported);
  REQUIRE(reported.size() == 1);
  std::size_t runs = 0;
  std::set<int> sessions;
  for (const RegressionChange& change : storage::changes_of(world.db, reported[0].id)) {
    const auto evidence = nlohmann::json::parse(change.evidence.text);
    if (evidence.value("stage", "") != "bisection") continue;
    runs = evidence.at("runs").size();
    for (const auto& run : evidence.at("runs")) sessions.insert(run.at("session").get<int>());
  }
  REQUIRE(runs > 0);

  api::Rows rows(world.db);
  const auto row =
      api::bisection_row().write(*storage::bisection_of(world.db, reported[0].id), rows);
  CHECK(row.at("runs") == runs);
  CHECK(row.at("session_count") == sessions.size());
  CHECK(row.at("own_runs") < runs);  // the confirmation's count, too
  const std::string said =
      std::to_string(runs) + " runs in " + std::to_string(sessions.size()) + " sessions";
  const auto messages = storage::list_messages(world.db, {100, {}}).items;
  REQUIRE(messages.size() == 1);
  INFO(messages[0].body);
  CHECK(messages[0].body.find(said) != std::string::npos);
}
