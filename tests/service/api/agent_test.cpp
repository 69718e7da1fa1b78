// The protocol between runner and service, over real sockets.
#include <future>
#include <thread>

#include "service/api/result_reader.hpp"
#include "tests/service/api/day.hpp"
#include "tests/support/autocommit.hpp"

using namespace nightjar;
using namespace nightjar::service::api;
using nlohmann::json;

namespace {

json registration(const std::string& name = "bench-2") {
  return {{"name", name},
          {"labels", {{"zone", "a"}}},
          {"version", "1"},
          {"workloads", {workload_text + "@1"}},
          {"facts", {{"cpu", "x"}}}};
}

// One machine, one queued job for it.
struct Shop {
  World world;
  Day day;
  std::int64_t runner = 0;
  std::map<int, std::string> nonces;  // of the claims, by attempt
  Shop() {
    world.on_writer([&] {
      day.good = add_nightly(world, 1, "2026-08-19");
      day.bad = add_nightly(world, 2, "2026-08-20");
      day.workload = storage::intern_workload(storage::Autocommit(world.db), day.workload.name, 1);
      day.night = add_night(world, day.bad, NightState::measuring);
    });
    const auto reply = world.post("/api/v1/agent/register", registration());
    REQUIRE(reply.status == 200);
    runner = reply.json["runner"];
    day.runner.id = {runner};
    day.runner.machine = {reply.json["machine"].get<std::int64_t>()};
  }
  void add_job(const std::string& key = "one") {
    world.on_writer(
        [&] { queue(world, day, day.night, job_spec(day, JobKind::screen, {day.bad}), key); });
  }
  Reply claim(double wait = 0) {
    const auto reply =
        world.post("/api/v1/agent/claim", {{"runner", runner}, {"wait_seconds", wait}});
    if (reply.status == 200) nonces[reply.json["attempt"]] = reply.json["nonce"];
    return reply;
  }
  // With the nonce of the attempt that the body names, unless it has one.
  Reply speak(std::int64_t job, const std::string& what, json body) {
    const auto nonce = nonces.find(body["attempt"]);
    if (nonce != nonces.end() && !body.contains("nonce")) body["nonce"] = nonce->second;
    return world.post("/api/v1/agent/jobs/" + std::to_string(job) + "/" + what, body);
  }
};

json session(int runs) {
  SessionResult result;
  for (int i = 0; i < runs; ++i) result.runs.push_back(run_result(i, 1));
  return result;
}

}  // namespace

TEST_CASE("A runner registers once a name, and its facts make its machine class") {
  World world;
  const auto first = world.post("/api/v1/agent/register", registration());
  REQUIRE(first.status == 200);
  auto again = registration();
  again["version"] = "2";
  CHECK(world.post("/api/v1/agent/register", again).json == first.json);
  const auto other = world.post("/api/v1/agent/register", registration("bench-3"));
  CHECK(other.json["machine"] == first.json["machine"]);
  CHECK(other.json["runner"] != first.json["runner"]);
  const auto stored = world.get("/api/v1/runners/" + first.json["runner"].dump()).json;
  CHECK(stored["version"] == "2");
  CHECK(stored["machine"]["fingerprint"] == web::sha256("cpu=x\n").str());
  CHECK(stored["live"] == true);
  auto lacking = registration();
  lacking.erase("facts");
  const auto refused = world.post("/api/v1/agent/register", lacking);
  CHECK(refused.status == 400);
  CHECK(refused.text.find("facts") != std::string::npos);
  CHECK(world.send("POST", "/api/v1/agent/register", "runner", "no json").status == 400);
}

TEST_CASE("What one token registers within a day is limited") {
  World world;
  const auto registered = [&](const std::string& name, int machine, int workloads,
                              const std::string& token = "runner") {
    json body = registration(name);
    body["facts"] = {{"cpu_model", std::to_string(machine)}};
    body["workloads"] = json::array();
    for (int i = 0; i < workloads; ++i)
      body["workloads"].push_back("python/m" + std::to_string(i) + "/eval/cpu/fp32/b1/eager@1");
    return world.post("/api/v1/agent/register", body, token);
  };
  CHECK(registered("a", 1, 2001).status == 400);
  for (int machine = 1; machine <= 5; ++machine)
    CHECK(registered("a" + std::to_string(machine), machine, 2000).status == 200);
  CHECK(registered("twin", 1, 2000).status == 200);  // counts with the one that is like it
  const auto refused = registered("b", 6, 1);
  CHECK(refused.status == 429);
  CHECK_THAT(refused.json["detail"].get<std::string>(), Catch::Contains("10001 workloads"));
  CHECK(registered("boss", 6, 1, "admin").status == 200);  // another token
  // What a runner announced before it moved or had less counts for that day.
  CHECK(registered("a2", 2, 1).status == 200);
  CHECK(registered("b", 6, 1).status == 429);
  world.clock.advance(std::chrono::hours(25));
  CHECK(registered("b", 6, 1).status == 200);
  for (int machine = 7; machine < 7 + 31; ++machine)
    CHECK(registered("b", machine, 1).status == 200);
  CHECK(registered("b", 99, 1).status == 429);
}

TEST_CASE("A job goes from the queue to its result, and a repeated result changes nothing") {
  Shop shop;
  shop.add_job();
  const auto claimed = shop.claim();
  REQUIRE(claimed.status == 200);
  const std::int64_t job = claimed.json["id"];
  CHECK(claimed.json["attempt"] == 1);
  CHECK(claimed.json["lease_seconds"] == 120);
  CHECK(claimed.json["spec"]["environments"][0]["build"] == shop.day.bad.id.value);
  CHECK(shop.claim().status == 204);
  CHECK(shop.world.get("/api/v1/runners/" + std::to_string(shop.runner)).json["job"] == job);
  CHECK(shop.speak(job, "renew", {{"attempt", 1}}).json["lease_seconds"] == 120);
  CHECK(shop.speak(job, "renew", {{"attempt", 2}}).status == 409);
  CHECK(shop.speak(job + 1, "renew", {{"attempt", 1}}).status == 404);
  const int wakes = shop.world.wakes;
  const json result{{"attempt", 1}, {"result", session(4)}};
  CHECK(shop.speak(job, "result", result).json["accepted"] == "stored");
  CHECK(shop.world.wakes == wakes + 1);
  CHECK(shop.speak(job, "result", result).json["accepted"] == "already_stored");
  const auto runs = shop.world.get("/api/v1/runs?job=" + std::to_string(job)).json["items"];
  REQUIRE(runs.size() == 4);
  CHECK(runs[3]["build"].is_null());  // the control
  CHECK(runs[0]["values"]["latency"] == Approx(0.992));
}

TEST_CASE("A result that was not asked for or is no session is refused") {
  Shop shop;
  shop.add_job();
  const std::int64_t job = shop.claim().json["id"];
  CHECK(shop.speak(job, "result", {{"attempt", 1}, {"result", session(9)}}).status == 422);
  CHECK(shop.speak(job, "result", {{"attempt", 1}, {"result", {{"runs", 1}}}}).status == 400);
  CHECK(shop.speak(job, "result", {{"attempt", 1}}).status == 400);
  CHECK(shop.speak(job, "result", {{"attempt", 7}, {"result", session(4)}}).json["accepted"] ==
        "stale");
}

TEST_CASE("What a run cannot have measured is that run's failure, and the others are kept") {
  Shop shop;
  shop.add_job();
  const std::int64_t job = shop.claim().json["id"];
  const auto spoiled = [](const char* place, const json& value) {
    json result = session(4);
    result[json::json_pointer(place)] = value;
    return result;
  };
  const auto [place, value, told] = GENERATE(table<const char*, json, const char*>(
      {{"/runs/1/samples/latency/0", -.1, "a latency of -0.1"},
       {"/runs/1/samples/latency/2", 1e300, "a latency of 1"},
       {"/runs/1/samples/latency/0", 5e-324, "a latency of 4.94066e-324 s"},
       {"/runs/1/samples", {{"", {1}}}, "a metric that is called ''"},
       {"/runs/1/samples", {{"two\u202e words", {1}}}, "a metric that is called 'two  words'"},
       {"/runs/1/wait_seconds/0", -1, "a value of -1 in wait_seconds"},
       {"/runs/1/seconds", -5, "a duration of -5"},
       {"/runs/1/warmup_iterations", 1e10, "warmup_iterations must be at most"},
       {"/runs/1/warmup_iterations", -1, "warmup_iterations must be at least 0"},
       {"/runs/1/warmup_iterations", .5, "warmup_iterations must be of type integer"},
       {"/runs/1/checksum", "x", "checksum must be of type"},
       {"/runs/1/accuracy", "fine", "accuracy must be one of"},
       {"/runs/1/profile", {{"workload", 1}}, "profile: "}}));
  INFO(place);
  const json body{{"attempt", 1}, {"result", spoiled(place, value)}};
  CHECK(shop.speak(job, "result", body).json["accepted"] == "stored");
  const auto runs = shop.world.get("/api/v1/runs?job=" + std::to_string(job)).json["items"];
  REQUIRE(runs.size() == 4);
  int failed = 0;
  for (const json& run : runs) {
    if (run["status"] == "measured") continue;
    ++failed;
    CHECK(run["status"] == "failed");
    CHECK_THAT(run["reason"].get<std::string>(), Catch::Contains(told));
    CHECK(run["values"].value("latency", json()).is_null());
  }
  CHECK(failed == 1);
  shop.world.on_writer(
      [&] { CHECK(storage::find_runner(shop.world.db, RunnerId{shop.runner})->failures == 0); });
}

TEST_CASE("A result of another build is refused") {
  Shop shop;
  shop.add_job();
  const std::int64_t job = shop.claim().json["id"];
  const auto setup = [](const std::string& environment, double seconds) {
    json result = session(4);
    result["setup_seconds"] = json::array({{{"environment", environment}, {"seconds", seconds}}});
    return json{{"attempt", 1}, {"result", result}};
  };
  const auto refusal = [&](const json& body) {
    const auto reply = shop.speak(job, "result", body);
    CHECK(reply.status == 422);
    return reply.json.value("detail", "");
  };
  CHECK_THAT(refusal(setup("abc", 1)), Catch::Contains("the environment abc"));
  const std::string ours = shop.day.bad.sha256->str();
  CHECK_THAT(refusal(setup(ours, 1e300)), Catch::Contains("to set an environment up"));
  CHECK(shop.world.get("/api/v1/runs?job=" + std::to_string(job)).json["items"].empty());
  CHECK(shop.speak(job, "result", setup(ours, 1)).json["accepted"] == "stored");
}

TEST_CASE("A result is judged by its head, before its body comes") {
  Shop shop;
  shop.add_job();
  const std::int64_t job = shop.claim().json["id"];
  const auto announced = [&](std::int64_t id, const std::string& attempt, const std::string& nonce,
                             const std::string& token = "runner") {
    web::RawClient client(shop.world.server.port());
    client.write("POST /api/v1/agent/jobs/" + std::to_string(id) +
                 "/result HTTP/1.1\r\nHost: nightjar\r\nContent-Length: 120000000\r\n"
                 "Authorization: Bearer " +
                 token + "\r\n" + (attempt.empty() ? "" : "Nightjar-Attempt: " + attempt + "\r\n") +
                 (nonce.empty() ? "" : "Nightjar-Nonce: " + nonce + "\r\n") + "\r\n");
    const auto answer = client.read();
    return answer.head + answer.body;
  };
  using Catch::Contains;
  CHECK_THAT(announced(job + 1, "1", shop.nonces[1]), Contains(" 404 ") && Contains("close"));
  CHECK_THAT(announced(job, "1", "another"), Contains("\"stale\"") && Contains("close"));
  CHECK_THAT(announced(job, "2", shop.nonces[1]), Contains("\"stale\""));
  CHECK_THAT(announced(job, "one", shop.nonces[1]), Contains(" 400 "));
  CHECK_THAT(announced(job, "", "", "admin"), Contains("\"stale\""));  // it made no claim
  CHECK_THAT(announced(job, "1", shop.nonces[1], "nobody"), Contains(" 401 "));
  CHECK(shop.speak(job, "result", {{"attempt", 1}, {"result", session(4)}}).status == 200);
  CHECK_THAT(announced(job, "1", shop.nonces[1]), Contains("\"already_stored\""));
}

TEST_CASE("The writer answers others while a result is read") {
  Shop shop;
  shop.add_job();
  const std::int64_t job = shop.claim().json["id"];
  std::promise<void> go_on;
  boost::asio::post(shop.world.intake, [future = go_on.get_future().share()] { future.wait(); });
  auto sent = std::async(std::launch::async, [&] {
    return shop.speak(job, "result", {{"attempt", 1}, {"result", session(4)}});
  });
  CHECK(shop.speak(job, "renew", {{"attempt", 1}}).status == 200);
  CHECK(shop.claim().status == 204);
  go_on.set_value();
  CHECK(sent.get().json["accepted"] == "stored");
}

TEST_CASE("A result above a limit is refused with the limit") {
  Shop shop;
  shop.add_job();
  const std::int64_t job = shop.claim().json["id"];
  const auto refusal = [&](const json& result) {
    const auto reply = shop.speak(job, "result", {{"attempt", 1}, {"result", result}});
    CHECK(reply.status == 422);
    return reply.json.value("detail", "");
  };
  json long_text = session(4);
  long_text["runs"][0]["reason"] = std::string(longest_text + 1, 'x');
  CHECK_THAT(refusal(long_text), Catch::Contains("has more than 65536 bytes"));
  json many_runs = session(0);
  const json one = run_result(0, 1);
  for (std::size_t i = 0; i <= most_runs; ++i) many_runs["runs"].push_back(one);
  CHECK_THAT(refusal(many_runs), Catch::Contains("at most 10000 runs"));
  CHECK(shop.speak(job, "result", {{"attempt", 1}, {"result", session(4)}}).status == 200);
}

TEST_CASE("Texts that a build may say at any length are cut, and lose nobody a session") {
  Shop shop;
  shop.add_job();
  const std::int64_t job = shop.claim().json["id"];
  json result = session(4);
  result["settings"]["omp"] = std::string(20000, 'x');
  for (int i = 0; i < 5000; ++i) result["packages"]["p" + std::to_string(i)] = "1";
  const std::string raw(
      "\x1b[31mred\0 \r\n\xE2\x80\xAE"
      "end",
      18);
  result["runs"][1]["reason"] = raw;
  result["settings"]["cpus"] = raw;
  result["settings"][raw] = "1";
  CHECK(shop.speak(job, "result", {{"attempt", 1}, {"result", result}}).status == 200);
  shop.world.on_writer([&] {
    const auto stored = storage::session_of(shop.world.db, {job});
    REQUIRE(stored);
    CHECK(stored->settings.at("omp").size() == longest_line);
    CHECK(stored->settings.at("cpus") == " [31mred     end");
    CHECK(stored->settings.size() == 2);
    CHECK(stored->runs[1].reason == " [31mred     end");
    CHECK(stored->packages.size() == most_texts);
  });
}

TEST_CASE(
    "What another database's claim came to is no answer, though job and attempt are the same") {
  const auto claimed_job = [](Shop& shop) {
    shop.add_job();
    const auto claimed = shop.claim();
    REQUIRE(claimed.status == 200);
    return claimed.json;
  };
  Shop before, after;  // the folder was emptied in between: ids start again
  const json old = claimed_job(before), now = claimed_job(after);
  REQUIRE(old["id"] == now["id"]);
  REQUIRE(old["attempt"] == now["attempt"]);
  CHECK(old["nonce"] != now["nonce"]);
  const std::int64_t job = now["id"];
  for (const json& nonce : {old["nonce"], json("")}) {
    const json said{{"attempt", 1}, {"nonce", nonce}};
    CHECK(after.speak(job, "renew", said).status == 409);
    CHECK(after.speak(job, "release", said).status == 409);
    CHECK(after.speak(job, "fail", {{"attempt", 1}, {"nonce", nonce}, {"reason", "x"}}).status ==
          409);
    const json result{{"attempt", 1}, {"nonce", nonce}, {"result", session(4)}};
    CHECK(after.speak(job, "result", result).json["accepted"] == "stale");
  }
  CHECK(after.world.get("/api/v1/runs?job=" + std::to_string(job)).json["items"].empty());
  const json result{{"attempt", 1}, {"result", session(4)}};
  CHECK(after.speak(job, "result", result).json["accepted"] == "stored");
}

TEST_CASE("A job is answered for by the token that registered its runner alone") {
  Shop shop;
  shop.add_job();
  const std::int64_t job = shop.claim().json["id"];
  const json body{{"attempt", 1}, {"nonce", shop.nonces[1]}, {"result", session(4)}};
  const auto path = "/api/v1/agent/jobs/" + std::to_string(job) + "/result";
  CHECK(shop.world.post(path, body, "admin").json["accepted"] == "stale");
  CHECK(shop.world.post(path, body).json["accepted"] == "stored");
}

TEST_CASE("A released job is claimed again, a failed one is not") {
  Shop shop;
  shop.add_job();
  const std::int64_t job = shop.claim().json["id"];
  CHECK(shop.speak(job, "release", {{"attempt", 1}}).status == 200);
  CHECK(shop.speak(job, "release", {{"attempt", 1}}).status == 409);
  const auto again = shop.claim();
  REQUIRE(again.status == 200);
  CHECK(again.json["id"] == job);
  const json failure{{"attempt", again.json["attempt"]}, {"reason", "the disk is full"}};
  CHECK(shop.speak(job, "fail", failure).status == 200);
  CHECK(shop.speak(job, "fail", failure).status == 409);
  CHECK(shop.claim().status == 204);
  const auto stored = shop.world.get("/api/v1/jobs/" + std::to_string(job)).json;
  CHECK(stored["state"] == "failed");
  CHECK(stored["reason"] == "the disk is full");
}

TEST_CASE("A runner whose disk is full gets no more jobs for a while, and the page can say why") {
  Shop shop;
  shop.add_job("one"), shop.add_job("two");
  const auto runner = [&] {
    return shop.world.get("/api/v1/runners/" + std::to_string(shop.runner)).json;
  };
  for (int time = 1; time <= 3; ++time) {
    const auto claimed = shop.claim();
    REQUIRE(claimed.status == 200);
    CHECK(runner()["quarantined_until"].is_null());
    const json put_off{
        {"attempt", claimed.json["attempt"]}, {"reason", "no space left"}, {"transient", true}};
    CHECK(shop.speak(claimed.json["id"], "fail", put_off).status == 200);
    CHECK(shop.world.get("/api/v1/jobs/" + claimed.json["id"].dump()).json["state"] == "queued");
  }
  CHECK(shop.claim().status == 204);
  CHECK(runner()["quarantined_until"] == "2026-08-20T20:01:00Z");
  CHECK(runner()["trouble"] == "no space left");
  CHECK(runner()["live"] == true);
  CHECK(shop.world.post("/api/v1/agent/register", registration()).status == 200);
  CHECK(shop.claim().status == 204);
  shop.world.on_writer([&] { shop.world.clock.advance(std::chrono::minutes(1)); });
  CHECK(shop.claim().status == 200);
}

TEST_CASE("A waiting claim gets the job as soon as one is queued") {
  Shop shop;
  auto waiting = std::async(std::launch::async, [&] { return shop.claim(50); });
  // The claim touches the runner when it starts to wait.
  shop.world.on_writer([&] { shop.world.clock.advance(std::chrono::seconds(1)); });
  shop.add_job();
  shop.world.context.claims.notify();
  const auto claimed = waiting.get();
  CHECK(claimed.status == 200);
  CHECK(claimed.json["attempt"] == 1);
}

TEST_CASE("Of a runner's claims only the latest waits") {
  Shop shop;
  const auto requests = shop.world.server.counters().requests;
  auto first = std::async(std::launch::async, [&] { return shop.claim(50).status; });
  while (shop.world.server.counters().requests == requests) std::this_thread::yield();
  shop.world.on_writer([] {});  // the claim waits now
  auto second = std::async(std::launch::async, [&] { return shop.claim(50).status; });
  CHECK(first.get() == 204);
  shop.add_job();
  shop.world.context.claims.notify();
  CHECK(second.get() == 200);
}

TEST_CASE("A claim whose time is over takes no job") {
  Shop shop;
  CHECK(shop.claim(.05).status == 204);
  shop.add_job();
  shop.world.context.claims.notify();
  for (int i = 0; i < 3; ++i) shop.world.on_writer([] {});  // whoever waits is asked
  const auto claimed = shop.claim();
  CHECK(claimed.status == 200);
  CHECK(claimed.json["attempt"] == 1);
}

TEST_CASE("A claim ends with nothing after its time, and when the server stops") {
  Shop shop;
  CHECK(shop.claim(.05).status == 204);
  const auto requests = shop.world.server.counters().requests;
  auto waiting = std::async(std::launch::async, [&] {
    web::RawClient client(shop.world.server.port());
    const auto body = json{{"runner", shop.runner}, {"wait_seconds", 50}}.dump();
    client.write(
        "POST /api/v1/agent/claim HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer runner\r\n"
        "Content-Length: " +
        std::to_string(body.size()) + "\r\n\r\n" + body);
    return client.read().status;
  });
  while (shop.world.server.counters().requests == requests) std::this_thread::yield();
  shop.world.stop();
  CHECK(waiting.get() == 204);
}

TEST_CASE("A job is not given to a runner that has hung up") {
  Shop shop;
  const auto body = json{{"runner", shop.runner}, {"wait_seconds", 50}}.dump();
  {
    web::RawClient client(shop.world.server.port());
    const auto requests = shop.world.server.counters().requests;
    client.write(
        "POST /api/v1/agent/claim HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer runner\r\n"
        "Content-Length: " +
        std::to_string(body.size()) + "\r\n\r\n" + body);
    while (shop.world.server.counters().requests == requests) std::this_thread::yield();
    shop.world.on_writer([] {});  // the claim waits now
  }
  // Once the server answers somebody who connected later, it has seen the end of the first.
  CHECK(shop.world.get("/healthz").status == 200);
  shop.add_job();
  shop.world.context.claims.notify();
  const auto job = shop.world.on_writer([&] { return storage::find_job(shop.world.db, "one"); });
  CHECK(job->state == JobState::queued);
  CHECK(shop.claim().status == 200);
}

TEST_CASE("A claim of a runner that nobody knows asks it to register") {
  Shop shop;
  const auto reply = shop.world.post("/api/v1/agent/claim", {{"runner", 99}, {"wait_seconds", 0}});
  CHECK(reply.status == 404);
  CHECK(reply.text.find("register again") != std::string::npos);
}

TEST_CASE("A runner at work stays live by renewing") {
  Shop shop;
  shop.add_job();
  const std::int64_t job = shop.claim().json["id"];
  const auto live = [&] {
    return shop.world.get("/api/v1/runners/" + std::to_string(shop.runner)).json["live"] == true;
  };
  shop.world.on_writer([&] { shop.world.clock.advance(std::chrono::seconds(100)); });
  CHECK(shop.speak(job, "renew", {{"attempt", 1}}).status == 200);
  shop.world.on_writer([&] { shop.world.clock.advance(std::chrono::seconds(250)); });
  CHECK(live());
  shop.world.on_writer([&] { shop.world.clock.advance(std::chrono::seconds(100)); });
  CHECK_FALSE(live());
}

TEST_CASE("An artifact is handed out by its hash, in parts if asked") {
  World world;
  const auto file = world.artifacts.temporary();
  std::ofstream(file) << "wheel bytes";
  const auto sha = world.artifacts.add(file);
  const auto path = "/api/v1/artifacts/" + sha.str();
  CHECK(world.send("GET", path, "runner").text == "wheel bytes");
  const auto part = world.send("GET", path, "runner", "", {{"Range", "bytes=6-"}});
  CHECK(part.status == 206);
  CHECK(part.text == "bytes");
  CHECK(world.send("GET", path).status == 401);
  CHECK(world.send("GET", "/api/v1/artifacts/" + web::sha256("x").str(), "runner").status == 404);
  CHECK(world.send("GET", "/api/v1/artifacts/..%2Fsecret", "runner").status == 404);
}

TEST_CASE("A runner that registers again has its old job back with its next claim") {
  Shop shop;
  shop.add_job();
  const std::int64_t job = shop.claim().json["id"];
  REQUIRE(shop.claim().status == 204);
  CHECK(shop.world.post("/api/v1/agent/register", registration()).status == 200);
  const auto again = shop.claim();
  REQUIRE(again.status == 200);
  CHECK(again.json["id"] == job);
  CHECK(again.json["attempt"] == 2);
  CHECK(shop.speak(job, "renew", {{"attempt", 1}}).status == 409);
  const json old{{"attempt", 1}, {"result", session(4)}};
  CHECK(shop.speak(job, "result", old).json["accepted"] == "stale");
  const json fresh{{"attempt", 2}, {"result", session(4)}};
  CHECK(shop.speak(job, "result", fresh).json["accepted"] == "stored");
  CHECK(shop.world.get("/api/v1/runs?job=" + std::to_string(job)).json["items"].size() == 4);
}

TEST_CASE("Another token that registers the same name does not get the job") {
  Shop shop;
  shop.add_job();
  REQUIRE(shop.claim().status == 200);
  CHECK(shop.world.post("/api/v1/agent/register", registration(), "admin").status == 200);
  CHECK(shop.claim().status == 404);
  const json claim{{"runner", shop.runner}, {"wait_seconds", 0}};
  CHECK(shop.world.post("/api/v1/agent/claim", claim, "admin").status == 204);
}

TEST_CASE("Two hosts of one name are not one runner") {
  World world;
  const auto enrol = [&](const char* host) {
    auto body = registration();
    body["instance"] = host;
    return world.post("/api/v1/agent/register", body);
  };
  const auto claim = [&](const Reply& enrolled, const char* host) {
    return world
        .post("/api/v1/agent/claim",
              {{"runner", enrolled.json["runner"]}, {"instance", host}, {"wait_seconds", 0}})
        .status;
  };
  const auto first = enrol("host a");
  REQUIRE(first.status == 200);
  CHECK(enrol("host a").status == 200);  // it has restarted
  const auto twin = enrol("host b");
  CHECK(twin.status == 409);
  CHECK(twin.text.find("--name") != std::string::npos);
  CHECK(world.post("/api/v1/agent/register", registration()).status == 409);
  CHECK(claim(first, "host a") == 204);
  CHECK(claim(first, "host b") == 404);
  // Once the first is silent its name is free. When it comes back it is told to register.
  world.on_writer([&] { world.clock.advance(std::chrono::seconds(301)); });
  CHECK(enrol("host b").status == 200);
  CHECK(claim(first, "host a") == 404);
  CHECK(enrol("host a").status == 409);
}

TEST_CASE("A runner that leaves frees its name and the jobs that only it could claim") {
  Shop shop;
  const auto register_as = [&](const std::string& name, const char* host) {
    auto body = registration(name);
    body["instance"] = host;
    return shop.world.post("/api/v1/agent/register", body);
  };
  REQUIRE(register_as("bench-2", "host a").status == 200);
  CHECK(register_as("bench-2", "host b").status == 409);
  shop.world.on_writer([&] {
    Job job;
    job.key = "its own";
    job.night = shop.day.night.id;
    job.machine = shop.day.runner.machine;
    job.affinity = shop.day.runner.id;
    job.spec = job_spec(shop.day, JobKind::bisect, {shop.day.bad});
    storage::add_job(storage::Autocommit(shop.world.db), job);
  });
  const std::int64_t other = register_as("bench-3", "host c").json["runner"];
  const json claim{{"runner", other}, {"instance", "host c"}, {"wait_seconds", 0}};
  CHECK(shop.world.post("/api/v1/agent/claim", claim).status == 204);
  const json wrong{{"runner", shop.runner}, {"instance", "host b"}};
  CHECK(shop.world.post("/api/v1/agent/leave", wrong).status == 404);
  CHECK(shop.world.post("/api/v1/agent/leave", {{"runner", 99}}).status == 404);
  const json own{{"runner", shop.runner}, {"instance", "host a"}};
  CHECK(shop.world.post("/api/v1/agent/leave", own).status == 200);
  CHECK(shop.world.post("/api/v1/agent/claim", claim).status == 200);
  CHECK(register_as("bench-2", "host b").status == 200);
}

TEST_CASE("A job can be cancelled, and its runner is told when it renews its lease") {
  Shop shop;
  shop.add_job("held"), shop.add_job("queued");
  const std::int64_t held = shop.claim().json["id"];
  const auto cancel = [&](std::int64_t job, const char* token) {
    return shop.world.send("POST", "/api/v1/jobs/" + std::to_string(job) + "/cancel", token);
  };
  CHECK(cancel(held, "runner").status == 403);
  for (const std::int64_t job : {held, held + 1}) {
    const auto cancelled = cancel(job, "admin");
    REQUIRE(cancelled.status == 200);
    CHECK(cancelled.json["state"] == "cancelled");
    CHECK(cancelled.json["reason"] == "cancelled by token:t-admin");
    CHECK(cancel(job, "admin").status == 409);
  }
  CHECK(cancel(99, "admin").status == 404);
  CHECK(shop.claim().status == 204);
  CHECK(shop.speak(held, "renew", {{"attempt", 1}}).json["title"] == "Job cancelled");
  const auto audit = shop.world.send("GET", "/api/v1/audit", "admin").json["items"];
  CHECK(audit[0]["action"] == "cancel-job");
}

TEST_CASE("A runner whose night was cancelled is told so when it renews its lease") {
  Shop shop;
  shop.add_job();
  const std::int64_t job = shop.claim().json["id"];
  const auto night = std::to_string(shop.day.night.id.value);
  CHECK(shop.world.send("POST", "/api/v1/nights/" + night + "/cancel", "admin").status == 200);
  const auto told = shop.speak(job, "renew", {{"attempt", 1}});
  CHECK(told.status == 409);
  CHECK(told.json["title"] == "Job cancelled");
  CHECK(told.text.find("night " + night + " was cancelled by token:t-admin") != std::string::npos);
  CHECK(shop.speak(job, "result", {{"attempt", 1}, {"result", session(4)}}).json["accepted"] ==
        "stale");
}
