#include "runner/agent/agent.hpp"

#include <csignal>
#include <memory>
#include <sys/resource.h>

#include <catch2/catch.hpp>

#include "runner/run/scripted_executor.hpp"
#include "storage/model/json.hpp"
#include "tests/runner/fake_service.hpp"
#include "tests/runner/wheel.hpp"

using namespace nightjar;
using namespace nightjar::runner;

namespace {

std::string job_spec(int runs = 2) {
  JobSpec spec;
  spec.environments = {{BuildId{1}, "", "torch.whl", digest_of("x"), {}, "2.15.0", "abc"}};
  spec.workloads = {{{}, *WorkloadName::parse("python/dlrm/eval/cpu/fp32/b4/eager"), 1}};
  for (int i = 0; i < runs; ++i) spec.order.push_back({0, 0});
  return nlohmann::json(spec).dump();
}

Script script(double run_seconds = 0) {
  Script out;
  out.run_seconds = run_seconds;
  out.workloads = {"python/dlrm/eval/cpu/fp32/b4/eager@1"};
  Rule rule;
  rule.metrics["latency"] = {0.1, 0.01};
  out.rules = {rule};
  return out;
}

// When an agent ends by itself.
struct Ends {
  std::optional<Time> until = {};
  std::optional<std::chrono::seconds> idle = {};
};

Time in(std::chrono::milliseconds span) {
  return SystemClock().now() + span;
}

// An agent in a thread of its own; stop() or the destructor ends it and joins.
class Running {
 public:
  Running(const std::string& url, const Scratch& scratch, double run_seconds = 0,
          const std::string& token = "secret", const Ends& ends = {})
      : executor_(script(run_seconds), {}),
        thread_([this, url, token, ends, cache = scratch / "cache"](std::stop_token stop) {
          AgentConfig config{url, token, "tester", {{"site", "lab"}}, cache};
          config.doctor_note = "clocks are not fixed";
          config.until = ends.until;
          config.idle = ends.idle;
          config.claim_wait = std::chrono::seconds(1);
          config.backoff_first = std::chrono::milliseconds(10);
          config.backoff_most = std::chrono::milliseconds(50);
          try {
            Agent(config, executor_, clock_).run(stop);
          } catch (const std::exception& error) {
            failure = error.what();
          }
        }) {}
  void stop() {
    thread_.request_stop();
    if (thread_.joinable()) thread_.join();
  }
  void join() { thread_.join(); }
  std::string failure;  // after join

 private:
  const SystemClock clock_;
  ScriptedExecutor executor_;
  std::jthread thread_;
};

// No file of this process can grow meanwhile.
class FullDisk {
 public:
  FullDisk() {
    ::signal(SIGXFSZ, SIG_IGN);
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit none{0, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &none);
  }
  ~FullDisk() { ::setrlimit(RLIMIT_FSIZE, &before_); }

 private:
  rlimit before_{};
};

bool spool_is_empty(const Scratch& scratch) {
  return Spool(scratch / "cache/spool").pending().empty();
}

}  // namespace

TEST_CASE("A claim whose lease nobody can keep is no answer") {
  FakeService service;
  Coordinator coordinator(service.url(), "secret");
  for (const char* lease : {"-5", "0", "1e9", "\"60\"", "null"}) {
    INFO(lease);
    service.jobs.push_back(R"({"id": 9, "attempt": 1, "spec": {}, "lease_seconds": )" +
                           std::string(lease) + "}");
    Claim claim;
    CHECK(coordinator.claim(RunnerId{5}, "i", std::chrono::seconds(0), claim) == Answer::away);
    CHECK_THAT(coordinator.error(), Catch::Contains("lease_seconds"));
  }
}

TEST_CASE("What a service says of a refusal is one line in what the agent says of it") {
  FakeService service;
  service.text = "bad\n2026 [error] forged\x1b[2J" + std::string(5000, 'x');
  service.set("fail", 400);
  Coordinator coordinator(service.url(), "secret");
  CHECK(coordinator.fail(Claim{}, "x", Coordinator::Failure::final) == Answer::refused);
  CHECK_THAT(coordinator.error(), Catch::Contains(": bad 2026 [error] forged [2J"
                                                  "xxx"));
  CHECK(coordinator.error().size() < 600);
}

TEST_CASE("An agent registers, measures a job and sends its result with the attempt") {
  const Scratch scratch;
  FakeService service;
  service.add_job(job_spec(), 2);
  Running agent(service.url(), scratch);
  const auto result = service.wait_for("/jobs/9/result");
  REQUIRE(result.is_object());
  CHECK(result.at("attempt") == 2);
  CHECK(result.at("nonce") == "n1");
  CHECK(result.at("result").at("runs").size() == 2);
  CHECK(result.at("result").at("settings").at("doctor") == "clocks are not fixed");
  agent.stop();
  const auto registration = service.wait_for("/register");
  CHECK(registration.at("name") == "tester");
  CHECK(registration.at("labels").at("site") == "lab");
  CHECK(registration.at("workloads")[0] == "python/dlrm/eval/cpu/fp32/b4/eager@1");
  CHECK(registration.at("facts").contains("cpu_model"));
  CHECK(service.wait_for("/claim").at("runner") == 5);
  CHECK(spool_is_empty(scratch));
}

TEST_CASE("A result outlives a service that is away, and a runner that is restarted") {
  const Scratch scratch;
  std::uint16_t port = 0;
  {
    FakeService service;
    port = service.port();
    service.set("result", 503);
    service.add_job(job_spec());
    Running agent(service.url(), scratch);
    service.wait_for("/jobs/9/result", 2);  // it tries again
    agent.stop();
    CHECK_FALSE(spool_is_empty(scratch));
  }
  Running agent("http://127.0.0.1:" + std::to_string(port), scratch);  // nobody is there yet
  FakeService service(port);
  CHECK(service.wait_for("/jobs/9/result").at("attempt") == 1);
  service.wait_for("/claim");
  agent.stop();
  CHECK(spool_is_empty(scratch));
}

TEST_CASE("A result that the service refuses for good is kept aside and does not block") {
  const Scratch scratch;
  FakeService service;
  service.set("result", 404);
  service.add_job(job_spec());
  Running agent(service.url(), scratch);
  service.wait_for("/jobs/9/result");
  service.wait_for("/claim", service.count("/claim") + 1);
  agent.stop();
  CHECK(spool_is_empty(scratch));
  CHECK(std::filesystem::exists(scratch / "cache/spool/rejected/9-1.json"));
}

TEST_CASE("A result that a proxy refuses for its size stays in the spool and does not block") {
  const Scratch scratch;
  FakeService service;
  service.is_proxy = true;
  service.set("result", 413);
  service.add_job(job_spec());
  {
    Running agent(service.url(), scratch);
    service.wait_for("/jobs/9/result");
    service.wait_for("/claim", service.count("/claim") + 1);
    agent.stop();
  }
  CHECK_FALSE(spool_is_empty(scratch));
  CHECK_FALSE(std::filesystem::exists(scratch / "cache/spool/rejected/9-1.json"));
  service.set("result", 200);  // the proxy was mended, and the agent restarted
  Running agent(service.url(), scratch);
  service.wait_for("/jobs/9/result", 2);
  service.wait_for("/claim", service.count("/claim") + 1);
  agent.stop();
  CHECK(spool_is_empty(scratch));
}

TEST_CASE("A result names its claim in the head, too, so that it can be judged before it comes") {
  const Scratch scratch;
  FakeService service;
  service.add_job(job_spec(), 2);
  Running agent(service.url(), scratch);
  service.wait_for("/jobs/9/result");
  agent.stop();
  const auto headers = service.headers_of("/jobs/9/result");
  CHECK(headers.at("nightjar-attempt") == "2");
  CHECK(headers.at("nightjar-nonce") == "n1");
}

TEST_CASE("A result that the service refuses fails its job at once, with the reason") {
  const Scratch scratch;
  FakeService service;
  service.set("result", 422);
  service.add_job(job_spec(), 2);
  Running agent(service.url(), scratch);
  const auto failure = service.wait_for("/jobs/9/fail");
  REQUIRE(failure.is_object());
  CHECK(failure.at("attempt") == 2);
  CHECK(failure.at("nonce") == "n1");
  CHECK_FALSE(failure.contains("transient"));
  const auto reason = failure.at("reason").get<std::string>();
  CHECK(reason.starts_with("its result was refused: "));
  CHECK(reason.find("422") != std::string::npos);
  agent.stop();
}

TEST_CASE("A proxy's refusal ends neither a job nor its result") {
  const Scratch scratch;
  FakeService service;
  service.is_proxy = true;
  service.set("renew", 400);
  service.set("result", 400);
  service.add_job(job_spec(1), 1);
  Running agent(service.url(), scratch, 1);
  CHECK(service.wait_for("/jobs/9/renew", 2).is_object());
  CHECK(service.wait_for("/jobs/9/result", 2).is_object());
  service.set("result", 200);
  service.wait_for("/claim", 2);
  agent.stop();
  CHECK(spool_is_empty(scratch));
  CHECK_FALSE(std::filesystem::exists(scratch / "cache/spool/rejected/9-1.json"));
}

TEST_CASE("A lease is renewed while the job runs, and a lost one stops it without a result") {
  const Scratch scratch;
  FakeService service;
  service.add_job(job_spec(1), 1);
  Running agent(service.url(), scratch, 60);
  CHECK(service.wait_for("/jobs/9/renew", 2).at("nonce") == "n1");
  service.set("renew", 409);
  service.wait_for("/claim", 2);  // it goes on to the next job
  agent.stop();
  CHECK(service.count("/result") == 0);
  CHECK(service.count("/release") == 0);
}

TEST_CASE("A graceful stop gives the running job back") {
  const Scratch scratch;
  FakeService service;
  service.add_job(job_spec(1));
  Running agent(service.url(), scratch, 60);
  service.wait_for("/jobs/9/renew");
  agent.stop();
  CHECK(agent.failure.empty());
  CHECK(service.wait_for("/jobs/9/release").at("attempt") == 1);
  CHECK(service.count("/result") == 0);
  const auto leave = service.wait_for("/leave");
  CHECK(leave.at("runner") == 5);
  CHECK(leave.at("instance") == service.wait_for("/register").at("instance"));
}

TEST_CASE("A job that cannot be understood is failed with the reason") {
  const Scratch scratch;
  FakeService service;
  service.add_job(R"({"kind": "nonsense"})");
  Running agent(service.url(), scratch);
  CHECK_FALSE(service.wait_for("/jobs/9/fail").at("reason").get<std::string>().empty());
  agent.stop();
}

TEST_CASE("A result that cannot be written to disk puts the job off, and the agent goes on") {
  const Scratch scratch;
  FakeService service;
  Running agent(service.url(), scratch);
  service.wait_for("/claim");
  {
    const FullDisk full;
    service.add_job(job_spec());
    const auto failure = service.wait_for("/jobs/9/fail");
    CHECK(failure.at("transient") == true);
    CHECK(failure.at("nonce") == "n1");
    CHECK_FALSE(failure.at("reason").get<std::string>().empty());
  }
  CHECK(service.count("/result") == 0);
  service.add_job(job_spec());
  CHECK(service.wait_for("/jobs/9/result").is_object());
  agent.stop();
}

TEST_CASE("A host names itself by the same random id after a restart, another host by another") {
  const Scratch scratch, other;
  FakeService service;
  std::vector<std::string> ids;
  for (const Scratch* host : {&scratch, &scratch, &other}) {
    Running agent(service.url(), *host);
    const int times = static_cast<int>(ids.size()) + 1;
    ids.push_back(service.wait_for("/register", times).at("instance"));
    CHECK(service.wait_for("/claim", service.count("/claim") + 1).at("instance") == ids.back());
    agent.stop();
  }
  CHECK(ids[0].size() == 64);
  CHECK(ids[0] == ids[1]);
  CHECK(ids[0] != ids[2]);
}

TEST_CASE("A wrong token ends the agent with a clear sentence") {
  const Scratch scratch;
  FakeService service;
  Running agent(service.url(), scratch, 0, "wrong");
  agent.join();
  CHECK(agent.failure.find("cannot register at " + service.url()) == 0);
  CHECK(agent.failure.find("wrong") == std::string::npos);
}

TEST_CASE("An agent whose time is over finishes its job, claims no other, and ends") {
  const Scratch scratch;
  FakeService service;
  service.add_job(job_spec(2));
  service.add_job(job_spec(2));
  Running agent(service.url(), scratch, 1, "secret", {.until = in(std::chrono::seconds(1))});
  agent.join();
  CHECK(agent.failure.empty());
  CHECK(service.count("/claim") == 1);
  CHECK(service.count("/jobs/9/result") == 1);
  CHECK(service.count("/release") == 0);
  CHECK(spool_is_empty(scratch));
}

TEST_CASE("An agent whose time is over before it begins claims nothing") {
  const Scratch scratch;
  FakeService service;
  service.add_job(job_spec());
  Running agent(service.url(), scratch, 0, "secret", {.until = in(std::chrono::seconds(-1))});
  agent.join();
  CHECK(agent.failure.empty());
  CHECK(service.count("/claim") == 0);
}

TEST_CASE("An agent without a service ends when its time is over") {
  const Scratch scratch;
  Running agent("http://127.0.0.1:1", scratch, 0, "secret", {.until = in(std::chrono::seconds(1))});
  agent.join();
  CHECK(agent.failure.empty());
}

TEST_CASE("An idle agent ends, and a job is no idleness") {
  const Scratch scratch;
  FakeService service;
  service.add_job(job_spec(2));
  Running agent(service.url(), scratch, .6, "secret", {.idle = std::chrono::seconds(1)});
  agent.join();
  CHECK(agent.failure.empty());
  CHECK(service.count("/jobs/9/result") == 1);
  CHECK(service.count("/claim") > 2);
  CHECK(service.count("/leave") == 1);
}
