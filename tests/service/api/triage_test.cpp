// What a person decides about a regression by REST, and what then follows.
#include <algorithm>

#include "bisect/evidence/evidence.hpp"
#include "service/report/report.hpp"
#include "storage/marks.hpp"
#include "storage/outbox.hpp"
#include "storage/widening.hpp"
#include "tests/service/api/day.hpp"
#include "tests/support/any_state.hpp"

using namespace nightjar;
using namespace nightjar::service::api;
using nlohmann::json;

namespace {

std::string path_of(const Day& day, const std::string& what) {
  return "/api/v1/regressions/" + std::to_string(day.regression.id.value) + what;
}

// The day's search gave up, and there is a nightly from before its good end.
Build end_in_vain(World& world, Day& day) {
  Build older = add_nightly(world, 9, "2026-08-18");
  const auto lies_at = [&](Build& build, const std::string& subject) {
    build.commit = world.commits.commit("main", subject);
    storage::update_build(storage::Autocommit(world.db), build);
    return *build.commit;
  };
  lies_at(older, "Older (#9)");
  day.bisection.commits = {lies_at(day.good, "Good (#10)"), lies_at(day.bad, "Bad (#11)")};
  day.bisection.posterior = {{1, 1, .9}};
  day.bisection.state = BisectionState::inconclusive;
  day.bisection.finished_at = evening;
  day.regression.culprit.reset();
  day.regression.fingerprint.clear();
  storage::Transaction transaction(world.db);
  storage::remove_untestable(transaction, day.bisection.id, 1);
  storage::update_bisection(transaction, day.bisection);
  nightjar::test::change_to_any(
      transaction, day.regression,
      {RegressionState::unattributed, evening, evidence::of_reason("spent")});
  transaction.commit();
  return older;
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

TEST_CASE("Dismissing a regression takes back what the export was given of it") {
  World world;
  const Day day = fill(world);
  OutboxMessage verdict;
  verdict.key = service::verdict_key("f1", day.regression.id, 0);
  verdict.regression = day.regression.id;
  verdict.kind = OutboxKind::verdict;
  verdict.title = "dlrm got slower";
  verdict.body = R"({"metric": {"name": "latency", "extra_info": {"verdict": "worse"}}})"
                 "\n";
  storage::add_message(storage::Autocommit(world.db), verdict);
  REQUIRE(world.post(path_of(day, "/dismiss"), {{"reason", "it_was #1"}}, "admin").status == 200);
  const auto newest = world.get("/api/v1/reports").json["items"].at(0);
  CHECK(newest["key"] == "taken-back:f1:" + std::to_string(day.regression.id.value) + ":0");
  CHECK(newest["kind"] == "verdict");
  const auto record = nlohmann::json::parse(newest["body"].get<std::string>());
  CHECK(record["metric"]["name"] == "latency");
  CHECK(record["metric"]["extra_info"]["verdict"] == "taken back");
  CHECK(record["metric"]["extra_info"]["why"] == "This was dismissed by a person: it_was #1");
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

TEST_CASE("A search that ended without a culprit is taken up again from an older good end on") {
  World world;
  Day day = fill(world);
  const Build older = end_in_vain(world, day);
  const json body{{"reason", "slow before, too"}, {"nightlies", 1}, {"more_runs", 100}};
  CHECK(world.post(path_of(day, "/widen"), body, "read").status == 403);
  const auto reply = world.post(path_of(day, "/widen"), body, "admin");
  INFO(reply.text);
  REQUIRE(reply.status == 200);
  CHECK(reply.json["state"] == "bisecting");
  CHECK(reply.json["good"]["id"] == day.good.id.value);
  const auto why = reply.json["changes"].back()["evidence"]["reason"].get<std::string>();
  CHECK(why.find("asked for by token:t-admin: slow before, too") != std::string::npos);

  const auto search =
      world.get("/api/v1/bisections/" + std::to_string(day.bisection.id.value)).json;
  CHECK(search["state"] == "open");
  CHECK(search["finished_at"].is_null());
  CHECK(search["good"]["id"] == older.id.value);
  CHECK(search["commits"].size() == 3);
  REQUIRE(search["widened"].size() == 1);
  const auto& widening = search["widened"][0];
  CHECK(widening["outcome"] == "inconclusive");
  CHECK(widening["actor"] == "token:t-admin");
  CHECK(widening["good"]["id"] == day.good.id.value);
  CHECK(widening["posterior"].size() == 1);
  CHECK(widening["runs"] == 6);
  CHECK(widening["max_runs"] == 106);
  CHECK(widening["threshold"].is_null());
  const auto audit = world.send("GET", "/api/v1/audit", "admin").json["items"].at(0);
  CHECK(audit["action"] == "widen-search");
  CHECK(world.wakes > 0);

  const auto again = world.post(path_of(day, "/widen"), body, "admin");
  CHECK(again.status == 409);
  CHECK(again.json["detail"].get<std::string>().find("its search is under way") !=
        std::string::npos);
}

TEST_CASE("A search that cannot be widened so is left as it was, and the field is named") {
  World world;
  Day day = fill(world);
  const Build older = end_in_vain(world, day);
  const auto ask = [&](json body) {
    body["reason"] = "x";
    return world.post(path_of(day, "/widen"), body, "admin");
  };
  const auto refused = [&](const json& body, const std::string& field, const std::string& says) {
    const auto reply = ask(body);
    INFO(reply.text);
    CHECK(reply.status == 422);
    CHECK(reply.headers.at("content-type") == "application/problem+json");
    CHECK(reply.json["errors"][0]["pointer"] == "#/" + field);
    CHECK(reply.json["detail"].get<std::string>().find(says) != std::string::npos);
  };
  refused({{"nightlies", 2}}, "nightlies", "that are known: 1");
  refused({{"build", day.bad.id.value}}, "build", "does not precede");
  refused({{"build", 99}}, "build", "There is no build 99");
  refused({{"commit", std::string(40, 'c')}}, "commit", "No wheel of commit");
  refused({{"commit", older.commit->str()}, {"nightlies", 1}}, "commit", "not by two of them");
  refused({{"threshold", .5}}, "threshold", "smaller changes already");
  CHECK(ask({{"nightlies", 0}}).status == 400);
  CHECK(ask({{"threshold", -1}}).status == 400);
  CHECK(ask({{"wider", true}}).status == 400);
  const auto search =
      world.get("/api/v1/bisections/" + std::to_string(day.bisection.id.value)).json;
  CHECK(search["state"] == "inconclusive");
  CHECK(search["widened"].empty());
  CHECK(world.get(path_of(day, "")).json["state"] == "unattributed");
  CHECK(world.post("/api/v1/regressions/99/widen", {{"reason", "x"}}, "admin").status == 404);
  CHECK(ask({{"commit", older.commit->str()}}).status == 200);
}
