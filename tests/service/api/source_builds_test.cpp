// The protocol of builders, over real sockets.
#include "storage/source_builds.hpp"

#include <fstream>
#include <sstream>

#include "storage/base/digest.hpp"
#include "storage/runners.hpp"
#include "tests/service/api/day.hpp"
#include "tests/support/autocommit.hpp"

using namespace nightjar;
using namespace nightjar::service::api;
using nlohmann::json;

namespace {

const std::string wheel(20000, 'w');
const std::string wheel_name = "torch-2.15.0.dev20260820+cpu-cp311-cp311-linux_x86_64.whl";

// One build asked for, and a builder that has claimed it.
struct Site {
  World world;
  std::int64_t runner = 0, job = 0;
  std::string nonce;
  Site() {
    world.on_writer([&] {
      Night night;
      night.started_at = evening;
      night.id = storage::add_night(storage::Autocommit(world.db), night).id;
      storage::request_build(storage::Autocommit(world.db),
                             {digest_of("state"), "cpu",
                              SourceSpec{"https://example.org/x", commit(1), "r", digest_of("r")},
                              night.id, 0, evening});
    });
    runner = register_builder("builder").json["runner"];
    const auto claimed = claim("builder");
    REQUIRE(claimed.status == 200);
    job = claimed.json["id"];
    nonce = claimed.json["nonce"];
    CHECK(claimed.json["spec"]["source"]["recipe"] == "r");
  }
  Reply register_builder(const std::string& token) {
    return world.post("/api/v1/agent/register",
                      {{"name", "builder"},
                       {"labels", {{"build", "only"}}},
                       {"version", "1"},
                       {"workloads", json::array()},
                       {"facts", {{"cpu", "x"}}}},
                      token);
  }
  Reply claim(const std::string& token) {
    return world.post("/api/v1/agent/claim", {{"runner", runner}, {"wait_seconds", 0}}, token);
  }
  std::string path(const std::string& what) const {
    return "/api/v1/agent/jobs/" + std::to_string(job) + "/" + what;
  }
  Reply part(std::size_t offset, const std::string& bytes,
             const std::string& hash = digest_of(wheel).str(), int attempt = 1) {
    return world.send("PUT",
                      path("wheel?attempt=" + std::to_string(attempt) + "&nonce=" + nonce +
                           "&offset=" + std::to_string(offset) +
                           "&size=" + std::to_string(wheel.size()) + "&sha256=" + hash),
                      "builder", bytes);
  }
  Reply outcome(json result, int attempt = 1) {
    return world.post(path("outcome"),
                      {{"attempt", attempt}, {"nonce", nonce}, {"result", std::move(result)}},
                      "builder");
  }
  Reply fail() {
    return world.post(path("fail"), {{"attempt", 1}, {"nonce", nonce}, {"reason", "error: x"}},
                      "builder");
  }
};

json built() {
  SourceResult result;
  result.outcome = SourceOutcome::built;
  result.wheel_file = wheel_name;
  result.sha256 = digest_of(wheel);
  result.seconds = 60;
  result.attempts = 1;
  result.cache = {"ccache", {5, 2}, {0, 1}};
  return result;
}

json failure_of(SourceOutcome outcome) {
  SourceResult result;
  result.outcome = outcome;
  result.reason = "error: x";
  return result;
}

}  // namespace

TEST_CASE("A wheel comes in parts, goes on after an interruption, and becomes a build") {
  Site site;
  CHECK(site.part(0, "").json == json{{"received", 0}, {"complete", false}});
  CHECK(site.part(0, wheel.substr(0, 9000)).json["received"] == 9000);
  CHECK(site.part(5000, wheel.substr(5000, 10)).json["received"] == 9000);
  CHECK(site.outcome(built()).status == 409);  // the wheel is not whole
  CHECK(site.part(9000, wheel.substr(9000)).json ==
        json{{"received", wheel.size()}, {"complete", true}});
  CHECK(site.part(0, "").json["complete"] == true);
  CHECK(site.outcome(built()).json["accepted"] == "stored");
  CHECK(site.outcome(built()).json["accepted"] == "already_stored");
  CHECK(site.world.wakes > 0);
  const auto stored = site.world.get("/api/v1/jobs/" + std::to_string(site.job)).json;
  CHECK(stored["state"] == "done");
  CHECK(stored["kind"] == "build");
  CHECK(stored["machine"] == nullptr);
  CHECK(stored["source_build"]["state"] == "built");
  CHECK(stored["source_build"]["result"]["cache"]["cuda"]["misses"] == 1);
  const auto build =
      site.world.get("/api/v1/builds/" + stored["source_build"]["build"].dump()).json;
  CHECK(build["kind"] == "source");
  CHECK(build["state"] == "found");
  CHECK(build["version"] == "2.15.0.dev20260820+cpu");
  CHECK(site.world.artifacts.holds(digest_of(wheel)));
  CHECK(std::filesystem::is_empty(site.world.folder.path / "uploads"));
}

TEST_CASE("A wheel with another hash is never taken, and can be sent again") {
  Site site;
  std::string damaged = wheel;
  damaged[777] = 'X';
  CHECK(site.part(0, damaged).status == 422);
  CHECK_FALSE(site.world.artifacts.holds(digest_of(damaged)));
  CHECK(site.part(0, wheel).json["complete"] == true);
}

TEST_CASE("Parts and outcomes of another attempt, or of no build, are refused") {
  Site site;
  CHECK(site.part(0, "x", digest_of(wheel).str(), 2).status == 409);
  CHECK(site.part(wheel.size() - 1, "xyz").status == 422);
  CHECK(site.part(0, "x", "no-hash").status == 400);
  const std::string claimed = site.path("wheel?attempt=1&nonce=") + site.nonce;
  CHECK(site.world.send("PUT", claimed, "builder", "x").status == 400);
  CHECK(site.world.send("PUT", site.path("wheel?attempt=1"), "builder", "x").status == 409);
  CHECK(site.world
            .send("PUT",
                  "/api/v1/agent/jobs/99/wheel?attempt=1&offset=0&size=3&sha256=" +
                      digest_of("x").str(),
                  "builder", "x")
            .status == 404);
  CHECK(site.world.send("PUT", site.path("wheel"), "read", "x").status == 403);
  CHECK(site.outcome(failure_of(SourceOutcome::does_not_compile), 2).json["accepted"] == "stale");
  auto nameless = built();
  nameless["wheel_file"] = "wheel.whl";
  CHECK(site.outcome(nameless).status == 422);
  CHECK(site.outcome(json::object()).status == 400);
  CHECK(site.world.post(site.path("result"), {{"attempt", 1}, {"result", json(SessionResult{})}})
            .status == 422);
}

TEST_CASE("A build's log is kept beside the database and is linked from its job") {
  Site site;
  const std::string job = "/api/v1/jobs/" + std::to_string(site.job);
  CHECK(site.world.get(job).json["log"] == nullptr);
  CHECK(site.world.get(job + "/log").status == 404);
  CHECK(site.world
            .send("PUT", site.path("log?attempt=1&nonce=" + site.nonce), "builder",
                  "+ make\nerror: x\n")
            .status == 200);
  CHECK(site.outcome(failure_of(SourceOutcome::does_not_compile)).status == 200);
  CHECK(site.world.get(job).json["log"] == job + "/log");
  CHECK(site.world.get(job + "/log").text == "+ make\nerror: x\n");
  CHECK(site.world.get(job + "/log").headers["content-type"] == "text/plain; charset=utf-8");
  CHECK(std::filesystem::exists(site.world.folder.path / "logs" /
                                (std::to_string(site.job) + ".log")));
}

TEST_CASE("A build that the infrastructure failed, or that was given up, is queued again") {
  Site site;
  const auto job = [&] { return site.world.get("/api/v1/jobs/" + std::to_string(site.job)).json; };
  SECTION("it says so") {
    CHECK(site.outcome(failure_of(SourceOutcome::infrastructure)).json["accepted"] == "stored");
  }
  SECTION("its runner does not know how") {
    CHECK(site.fail().status == 200);
  }
  CHECK(job()["state"] == "queued");
  CHECK(job()["source_build"]["state"] == "waiting");
  CHECK(job()["source_build"]["failures"] == 1);
  CHECK(job()["source_build"]["reason"] == "error: x");
  CHECK(site.claim("builder").status == 204);
}

TEST_CASE("A job leaves one whole wheel, when its builder says that it is built, and none before") {
  Site site;
  const auto artifacts = [&] { return site.world.artifacts.size_bytes(); };
  const auto uploads = [&] { return site.world.context.uploads.size_bytes(); };
  for (const char letter : {'a', 'b', 'w'}) {
    const std::string bytes(wheel.size(), letter);
    CHECK(site.part(0, bytes, digest_of(bytes).str()).json["complete"] == true);
    CHECK(artifacts() == 0);
    CHECK(uploads() == wheel.size());
  }
  SECTION("it is built") {
    CHECK(site.outcome(built()).json["accepted"] == "stored");
    CHECK(artifacts() == wheel.size());
  }
  SECTION("it failed") {
    CHECK(site.outcome(failure_of(SourceOutcome::infrastructure)).json["accepted"] == "stored");
    CHECK(artifacts() == 0);
  }
  SECTION("it was given up") {
    CHECK(site.fail().status == 200);
    CHECK(artifacts() == 0);
  }
  CHECK(uploads() == 0);
}

TEST_CASE("Only a token of the role builder makes wheels, and a refusal says what to do") {
  Site site;
  const auto refused = [&](const Reply& reply, const std::string& advice) {
    INFO(reply.text);
    CHECK(reply.status == 403);
    CHECK(reply.json["title"] == "Insufficient role");
    CHECK_THAT(reply.json["detail"].get<std::string>(),
               Catch::Contains("without --builder") && Catch::Contains(advice));
  };
  refused(site.register_builder("runner"), "let the [[token]] 't-runner' have role = \"builder\"");
  // It registered before there was the role, or with a token that had it.
  site.fail();
  site.world.on_writer([&] {
    auto runner = storage::find_runner(site.world.db, RunnerId{site.runner}).value();
    runner.token = "t-runner";
    storage::register_runner(storage::Autocommit(site.world.db), runner);
  });
  site.world.clock.advance(std::chrono::hours(24));
  refused(site.claim("runner"), "'t-runner'");
  CHECK(site.world.get("/api/v1/jobs/" + std::to_string(site.job)).json["state"] == "queued");
}
