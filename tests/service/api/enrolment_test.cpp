// Enrolment by REST: a one-time token becomes a runner's own, which is replaced and revoked while
// the service runs.
#include "service/api/enrolment.hpp"

#include "tests/service/api/day.hpp"
#include "tests/support/issuer.hpp"

using namespace nightjar;
using namespace nightjar::service::api;
using nlohmann::json;

namespace {

struct OneTime {
  std::int64_t id = 0;
  std::string token;
};

OneTime make_enrolment(World& world, const json& body = json::object()) {
  const auto made = world.post("/api/v1/enrolments", body, "admin");
  REQUIRE(made.status == 201);
  return {made.json.at("id").get<std::int64_t>(), made.json.at("token").get<std::string>()};
}

// `own`: the token that the runner drew for itself.
Reply enrol(World& world, const OneTime& one_time, const std::string& name,
            const std::string& own) {
  return world.post("/api/v1/agent/enrol",
                    {{"enrolment", one_time.token}, {"name", name}, {"sha256", web::sha256(own)}},
                    "");
}

Reply rotate(World& world, const std::string& from, const std::string& to) {
  return world.post("/api/v1/agent/rotate", {{"sha256", web::sha256(to)}}, from);
}

Reply register_as(World& world, const std::string& name, const std::string& token,
                  const std::string& cpu = "x", const json& labels = json::object()) {
  return world.post("/api/v1/agent/register",
                    {{"name", name},
                     {"labels", labels},
                     {"version", "1"},
                     {"workloads", {workload_text + "@1"}},
                     {"facts", {{"cpu", cpu}}}},
                    token);
}

// Waits until the first use is stored, which the writer does after it.
void settle(World& world) {
  world.on_writer([] { return 0; });
}

std::vector<std::string> actions(World& world) {
  std::vector<std::string> found;
  const auto audit = world.send("GET", "/api/v1/audit", "admin");
  for (const auto& entry : audit.json.at("items")) found.push_back(entry.at("action"));
  return found;
}

std::string state_of_token(World& world, const json& id) {
  const auto listed = world.send("GET", "/api/v1/tokens", "admin");
  for (const auto& one : listed.json.at("items"))
    if (one.at("id") == id) return one.at("state");
  return "not listed";
}

}  // namespace

TEST_CASE("A one-time token lets one runner in, under one name, and is told once") {
  World world;
  const OneTime one_time = make_enrolment(world);
  CHECK(register_as(world, "lab", "own-1").status == 401);
  const auto first = enrol(world, one_time, "lab", "own-1");
  REQUIRE(first.status == 200);
  CHECK(first.json.at("runner") == "lab");
  CHECK(register_as(world, "lab", "own-1").status == 200);
  CHECK(register_as(world, "other", "own-1").status == 403);
  const auto listed = world.send("GET", "/api/v1/enrolments", "admin");
  CHECK(listed.json.at("items").at(0).at("state") == "used");
  CHECK(listed.text.find(one_time.token) == std::string::npos);
  CHECK(listed.text.find(web::sha256(one_time.token).str()) == std::string::npos);
  settle(world);
  CHECK(actions(world) ==
        std::vector<std::string>{"register-runner", "use-token", "enrol-runner", "make-enrolment"});
}

TEST_CASE("A one-time token that is used, expired, revoked, unknown or another's is refused") {
  World world;
  const auto refused = [&](const OneTime& one_time, const std::string& name, const char* why) {
    const auto reply = enrol(world, one_time, name, "own-2");
    INFO(reply.text);
    CHECK(reply.status == 403);
    CHECK(reply.headers.at("content-type").starts_with("application/problem+json"));
    CHECK(reply.json.at("detail").get<std::string>().find(why) != std::string::npos);
  };
  const OneTime used = make_enrolment(world);
  REQUIRE(enrol(world, used, "lab", "own-1").status == 200);
  refused(used, "lab", "was used");
  refused(make_enrolment(world, {{"runner", "lab-7"}}), "lab-8", "'lab-7', not 'lab-8'");
  const OneTime revoked = make_enrolment(world);
  const auto path = "/api/v1/enrolments/" + std::to_string(revoked.id) + "/revoke";
  CHECK(world.send("POST", path, "runner").status == 403);
  CHECK(world.send("POST", path, "admin").json.at("state") == "revoked");
  CHECK(world.send("POST", path, "admin").status == 409);
  refused(revoked, "lab-2", "was revoked");
  const OneTime old = make_enrolment(world), brief = make_enrolment(world, {{"seconds", 60}});
  world.clock.advance(std::chrono::seconds(60));
  refused(brief, "lab-2", "expired");
  world.clock.advance(std::chrono::minutes(59));
  refused(old, "lab-2", "expired");
  refused({0, "nonsense"}, "lab-2", "not known");
  CHECK(register_as(world, "lab-2", "own-2").status == 401);
}

TEST_CASE("A runner whose answer was lost enrols again with the same hash") {
  World world;
  const OneTime one_time = make_enrolment(world);
  const auto first = enrol(world, one_time, "lab", "own-1");
  REQUIRE(first.status == 200);
  const auto again = enrol(world, one_time, "lab", "own-1");
  CHECK(again.status == 200);
  CHECK(again.json == first.json);
  CHECK(enrol(world, one_time, "other", "own-1").status == 409);
  CHECK(enrol(world, one_time, "lab", "own-2").status == 403);
}

TEST_CASE("A name is taken over only by a one-time token that names it") {
  World world;
  REQUIRE(enrol(world, make_enrolment(world), "lab", "own-1").status == 200);
  CHECK(register_as(world, "lab", "runner").status == 403);  // a configured token
  CHECK(enrol(world, make_enrolment(world), "lab", "own-2").status == 409);
  REQUIRE(register_as(world, "plain", "runner").status == 200);
  CHECK(enrol(world, make_enrolment(world), "plain", "own-2").status == 409);  // it is live
  REQUIRE(enrol(world, make_enrolment(world, {{"runner", "lab"}}), "lab", "own-2").status == 200);
  CHECK(register_as(world, "lab", "own-1").status == 401);
  CHECK(register_as(world, "lab", "own-2").status == 200);
}

TEST_CASE("The old token is accepted until the new one was used, and ten minutes more") {
  World world;
  REQUIRE(enrol(world, make_enrolment(world), "lab", "own-1").status == 200);
  const auto registered = [&](const std::string& token) {
    const auto status = register_as(world, "lab", token).status;
    settle(world);
    return status;
  };
  REQUIRE(registered("own-1") == 200);
  const auto made = rotate(world, "own-1", "own-2");
  REQUIRE(made.status == 200);
  CHECK(rotate(world, "own-1", "own-2").json == made.json);  // the answer was lost
  world.clock.advance(std::chrono::hours(1000));
  CHECK(registered("own-1") == 200);  // the runner was killed before it had kept the new one
  CHECK(state_of_token(world, made.json.at("id")) == "unused");
  REQUIRE(rotate(world, "own-1", "own-3").status == 200);  // and lost it
  CHECK(registered("own-2") == 401);
  CHECK(registered("own-3") == 200);
  CHECK(registered("own-1") == 200);
  CHECK(rotate(world, "own-1", "own-4").status == 409);
  world.clock.advance(std::chrono::minutes(10));
  CHECK(registered("own-1") == 401);
  CHECK(registered("own-3") == 200);
  CHECK(rotate(world, "runner", "own-4").status == 409);
  CHECK(rotate(world, "own-3", "own-1").status == 409);  // it has ended
}

TEST_CASE("A runner's token fills neither the tokens nor the audit") {
  World world;
  REQUIRE(enrol(world, make_enrolment(world), "lab", "own-0").status == 200);
  const auto given = [&](const std::string& prefix) {  // until it is refused
    int count = 0;
    while (count < 200 && rotate(world, "own-0", prefix + std::to_string(count)).status == 200)
      ++count;
    return count;
  };
  CHECK(given("today ") == 99);
  const auto refused = rotate(world, "own-0", "one more");
  CHECK(refused.status == 429);
  world.clock.advance(std::chrono::hours(25));
  CHECK(given("tomorrow ") == 100);

  for (int i = 0; i < 3; ++i) CHECK(register_as(world, "lab", "own-0").status == 200);
  settle(world);
  const auto audit = world.send("GET", "/api/v1/audit", "admin").json.at("items");
  CHECK(std::count_if(audit.begin(), audit.end(),
                      [](const json& one) { return one.at("action") == "register-runner"; }) == 1);
}

TEST_CASE("A token of the configuration becomes no runner's own") {
  World world;
  const auto one_time = make_enrolment(world);
  CHECK(enrol(world, one_time, "lab", "import").status == 409);
  REQUIRE(enrol(world, one_time, "lab", "own-1").status == 200);
  CHECK(rotate(world, "own-1", "runner").status == 409);
}

TEST_CASE("A claim that was made with the old token is held by the new one, and by no other") {
  World world;
  const Day day = fill(world);
  REQUIRE(enrol(world, make_enrolment(world), "lab", "own-1").status == 200);
  REQUIRE(enrol(world, make_enrolment(world), "thief", "own-9").status == 200);
  const auto runner = register_as(world, "lab", "own-1").json.at("runner");
  const auto claimed =
      world.post("/api/v1/agent/claim", {{"runner", runner}, {"wait_seconds", 0}}, "own-1");
  REQUIRE(claimed.status == 200);
  REQUIRE(rotate(world, "own-1", "own-2").status == 200);
  const json attempt{{"attempt", claimed.json.at("attempt")}, {"nonce", claimed.json.at("nonce")}};
  const auto path = "/api/v1/agent/jobs/" + claimed.json.at("id").dump() + "/renew";
  CHECK(world.post(path, attempt, "own-2").status == 200);
  CHECK(world.post(path, attempt, "own-9").status == 409);
  CHECK(world.post(path, attempt, "runner").status == 409);
}

TEST_CASE("Revoking ends a runner at once, gives back what it holds, and answers who waits") {
  World world;
  const Day day = fill(world);
  const auto token = enrol(world, make_enrolment(world), "lab", "own-1").json;
  const auto runner = register_as(world, "lab", "own-1").json.at("runner");
  const auto claim = [&](double wait) {
    return world.post("/api/v1/agent/claim", {{"runner", runner}, {"wait_seconds", wait}}, "own-1");
  };
  const auto claimed = claim(0);
  REQUIRE(claimed.status == 200);
  auto waiting = std::async(std::launch::async, [&] { return claim(30); });
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  const auto path = "/api/v1/tokens/" + token.at("id").dump() + "/revoke";
  CHECK(world.send("POST", path, "runner").status == 403);
  const auto revoked = world.send("POST", path, "admin");
  CHECK(revoked.status == 200);
  CHECK(revoked.json.at("state") == "revoked");
  CHECK(waiting.get().status == 401);
  CHECK(claim(0).status == 401);
  CHECK(enrol(world, make_enrolment(world), "lab", "own-1").status == 409);
  const auto job = JobId{claimed.json.at("id").get<std::int64_t>()};
  CHECK(world.on_writer([&] { return storage::find_job(world.db, job)->state; }) ==
        JobState::queued);
  CHECK(actions(world).front() == "make-enrolment");
  CHECK(actions(world).at(1) == "revoke-token");
  CHECK(register_as(world, "lab", "runner").status == 200);  // the name is free again
  CHECK(world.send("POST", "/api/v1/tokens/99/revoke", "admin").status == 404);
}

TEST_CASE("An enrolled runner stays in the machine class that it registered with first") {
  World world;
  enrol(world, make_enrolment(world), "lab", "own-1");
  REQUIRE(register_as(world, "lab", "own-1", "x").status == 200);
  const auto moved = register_as(world, "lab", "own-1", "y");
  CHECK(moved.status == 403);
  CHECK_THAT(moved.json["detail"].get<std::string>(), Catch::Contains("machine class 1") &&
                                                          Catch::Contains("'cpu=y'") &&
                                                          Catch::Contains("enrols it again"));
  REQUIRE(rotate(world, "own-1", "own-2").status == 200);
  CHECK(register_as(world, "lab", "own-2", "y").status == 403);
  CHECK(register_as(world, "lab", "own-2", "x").status == 200);
  // An admin lets it in again, under its name.
  enrol(world, make_enrolment(world, {{"runner", "lab"}}), "lab", "own-3");
  CHECK(register_as(world, "lab", "own-3", "y").status == 200);
  CHECK(register_as(world, "lab", "own-3", "x").status == 403);
}

TEST_CASE("An enrolment can name the machine class of its runner") {
  World world;
  const auto known = register_as(world, "first", "runner", "x");
  REQUIRE(known.status == 200);
  const json machine = known.json["machine"];
  enrol(world, make_enrolment(world, {{"machine", machine}}), "lab", "own-1");
  CHECK(register_as(world, "lab", "own-1", "y").status == 403);
  CHECK(register_as(world, "lab", "own-1", "x").status == 200);
  const auto listed = world.send("GET", "/api/v1/enrolments", "admin").json["items"][0];
  CHECK(listed["machine"] == machine);
  CHECK(world.post("/api/v1/enrolments", {{"machine", 77}}, "admin").status == 422);
}

TEST_CASE("An enrolled runner is a builder only if its enrolment says so") {
  World world;
  const json label{{"build", "also"}};
  enrol(world, make_enrolment(world), "lab", "own-1");
  const auto refused = register_as(world, "lab", "own-1", "x", label);
  CHECK(refused.status == 403);
  CHECK_THAT(refused.json["detail"].get<std::string>(),
             Catch::Contains(R"("builder": true (POST /api/v1/enrolments))"));
  CHECK(register_as(world, "lab", "own-1").status == 200);
  enrol(world, make_enrolment(world, {{"runner", "lab"}, {"builder", true}}), "lab", "own-2");
  CHECK(register_as(world, "lab", "own-2", "x", label).status == 200);
  REQUIRE(rotate(world, "own-2", "own-3").status == 200);
  CHECK(register_as(world, "lab", "own-3", "x", label).status == 200);
  const auto listed = world.send("GET", "/api/v1/enrolments", "admin").json["items"];
  CHECK((listed[0]["builder"] == true && listed[1]["builder"] == false));
}

TEST_CASE("A configured token registers only runners of its machine classes") {
  World world;
  for (service::TokenConfig& token : world.config.tokens)
    if (token.role == web::Role::runner) token.machine_classes = {web::sha256("cpu=x\n")};
  CHECK(register_as(world, "lab", "runner", "x").status == 200);
  const auto other = register_as(world, "lab-2", "runner", "y");
  CHECK(other.status == 403);
  CHECK_THAT(other.json["detail"].get<std::string>(),
             Catch::Contains(web::sha256("cpu=y\n").str()) && Catch::Contains("machine_classes"));
  CHECK(world.get("/api/v1/runners").json["items"].size() == 1);
}

TEST_CASE("Tokens of runners outlive the service's process") {
  World world;
  REQUIRE(enrol(world, make_enrolment(world), "lab", "own-1").status == 200);
  Tokens again(world.config, world.clock);
  CHECK_FALSE(again.principal_of("own-1"));
  world.on_writer([&] {
    again.load(world.db);
    return 0;
  });
  REQUIRE(again.principal_of("own-1"));
  CHECK(again.principal_of("own-1")->name == "runner:lab");
  CHECK(again.principal_of("own-1")->role == web::Role::runner);
  CHECK(again.principal_of("admin")->role == web::Role::admin);
  CHECK_FALSE(again.principal_of(""));
  CHECK_FALSE(again.principal_of(web::sha256("own-1").str()));  // the hash is no token
}

namespace {

// A service that lets jobs of one repository in, and their issuer.
struct IssuerWorld {
  const Folder keys;
  const SigningIssuer issuer;
  World world{{of_repository()}};

  service::OidcConfig of_repository() {
    service::OidcConfig oidc;
    oidc.issuer = "https://issuer.test";
    oidc.audience = "https://nightjar.test";
    oidc.keys_file = keys.path / "jwks.json";
    std::ofstream(oidc.keys_file) << issuer.jwk_set();
    oidc.claims = {{"repository", "octo/pytorch"}};
    return oidc;
  }
  std::string job(const std::string& subject, const json& more = json::object()) {
    const auto now =
        std::chrono::duration_cast<std::chrono::seconds>(world.clock.now().time_since_epoch());
    json claims{{"iss", "https://issuer.test"},
                {"aud", "https://nightjar.test"},
                {"sub", subject},
                {"repository", "octo/pytorch"},
                {"exp", now.count() + 300},
                {"jti", web::random_token()}};
    claims.update(more);
    return issuer.signed_token(claims);
  }
  // Asks again while the keys are being fetched, as a runner does.
  Reply enrol_by(const std::string& jwt, const std::string& name, const std::string& own) {
    for (;;) {
      auto reply = enrol(world, {0, jwt}, name, own);
      if (reply.status != 503) return reply;
    }
  }
};

}  // namespace

TEST_CASE_METHOD(IssuerWorld, "A job's own token lets one runner in, until its time is over") {
  const std::string jwt = job("repo:octo/pytorch:ref:refs/heads/main");
  REQUIRE(enrol_by(jwt, "pod-1", "own-1").status == 200);
  CHECK(register_as(world, "pod-1", "own-1").status == 200);
  const auto replayed = enrol_by(jwt, "pod-2", "own-2");
  CHECK(replayed.status == 403);
  CHECK_THAT(replayed.json["detail"].get<std::string>(), Catch::Contains("was used"));
  CHECK(enrol_by(jwt, "pod-1", "own-1").status == 200);  // its answer was lost
  CHECK(rotate(world, "own-1", "own-3").status == 409);
  const auto listed = world.send("GET", "/api/v1/enrolments", "admin").json.at("items").at(0);
  CHECK(listed.at("actor") == "oidc:https://issuer.test repo:octo/pytorch:ref:refs/heads/main");
  settle(world);
  CHECK(actions(world) ==
        std::vector<std::string>{"register-runner", "use-token", "enrol-runner", "make-enrolment"});
  world.clock.advance(std::chrono::hours(6));
  CHECK(register_as(world, "pod-1", "own-1").status == 401);
}

TEST_CASE_METHOD(IssuerWorld, "A job that is not let in is told why") {
  const auto refused = [&](const std::string& jwt, const char* why) {
    const auto reply = enrol_by(jwt, "pod-1", "own-1");
    CHECK(reply.status == 403);
    CHECK_THAT(reply.json["detail"].get<std::string>(), Catch::Contains(why));
  };
  refused(job("x", {{"repository", "evil/pytorch"}}), "is 'evil/pytorch', not 'octo/pytorch'");
  refused(job("x", {{"event_name", "pull_request_target"}}), "of a pull request's job");
  refused(SigningIssuer().signed_token({{"iss", "https://issuer.test"},
                                        {"aud", "https://nightjar.test"},
                                        {"repository", "octo/pytorch"},
                                        {"exp", 2000000000}}),
          "signature is not of its issuer");
  CHECK(world.send("GET", "/api/v1/enrolments", "admin").json.at("items").empty());
}

TEST_CASE_METHOD(IssuerWorld, "Only the same subject takes a name over, once its runner is gone") {
  REQUIRE(enrol_by(job("pod"), "pod-1", "own-1").status == 200);
  REQUIRE(register_as(world, "pod-1", "own-1").status == 200);
  CHECK(enrol_by(job("pod"), "pod-1", "own-2").status == 409);
  world.clock.advance(world.config.queue.runner_silent + std::chrono::seconds(1));
  CHECK(enrol_by(job("other"), "pod-1", "own-3").status == 409);
  CHECK(enrol_by(job("pod"), "pod-1", "own-4").status == 200);
  CHECK(register_as(world, "pod-1", "own-1").status == 401);
}
