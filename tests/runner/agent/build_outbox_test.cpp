#include "runner/agent/build_outbox.hpp"

#include <catch2/catch.hpp>

#include "storage/base/digest.hpp"
#include "storage/model/json.hpp"
#include "tests/runner/fake_service.hpp"
#include "tests/support/scratch.hpp"

using namespace nightjar;
using namespace nightjar::runner;
namespace fs = std::filesystem;

namespace {

// A finished build as make_wheel() leaves it, of more than two parts, and whom it is sent to.
struct Finished {
  Finished() {
    spit(wheel, std::string(20 << 20, 'w'));
    spit(made.log, "+ make\n");
    made.result.outcome = SourceOutcome::built;
    made.result.wheel_file = "a-1-py3-none-any.whl";
    made.result.sha256 = digest_of_file(wheel);
    made.wheel = wheel;
  }
  const Scratch scratch;
  const fs::path wheel = scratch / "out/one/a-1-py3-none-any.whl";
  MadeWheel made{*CommitSha::parse(std::string(40, 'a')), {}, {}, scratch / "out/one/build.log"};
  BuildOutbox outbox{scratch / "outbox"};
  FakeService service;
  Coordinator coordinator{service.url(), "secret"};
};

Claim claim(int attempt) {
  return {{9}, attempt, "n1", 60, ""};
}

}  // namespace

TEST_CASE_METHOD(
    Finished, "A wheel is sent in parts, then its log and outcome, and is gone when it was taken") {
  outbox.put(claim(1), made);
  CHECK(outbox.send(coordinator, {}));
  CHECK((service.wheel() == std::string(20 << 20, 'w')));
  CHECK(service.count("/jobs/9/wheel") == 4);  // a question and three parts
  CHECK(service.count("/jobs/9/log") == 1);
  const auto outcome = service.wait_for("/jobs/9/outcome");
  CHECK(outcome["result"]["outcome"] == "built");
  CHECK(outcome["nonce"] == "n1");
  CHECK_FALSE(fs::exists(wheel));
  CHECK(outbox.send(coordinator, {}));
  CHECK(service.count("/jobs/9/outcome") == 1);
}

TEST_CASE_METHOD(Finished,
                 "A transfer that broke off goes on where it was, even in another process") {
  outbox.put(claim(1), made);
  service.set_wheel(std::string(9 << 20, 'w'));
  BuildOutbox restarted(scratch / "outbox");
  CHECK(restarted.send(coordinator, {}));
  CHECK(service.wheel().size() == std::size_t{20} << 20);
  CHECK(service.count("/jobs/9/wheel") == 3);  // a question and the rest in two parts
}

TEST_CASE_METHOD(Finished, "Nothing is lost while the service is away") {
  outbox.put(claim(1), made);
  service.set("outcome", 503);
  CHECK_FALSE(outbox.send(coordinator, {}));
  CHECK(fs::exists(wheel));
  service.set("outcome", 200);
  CHECK(outbox.send(coordinator, {}));
  CHECK_FALSE(fs::exists(wheel));
}

TEST_CASE_METHOD(Finished,
                 "A build that the service wants no more is forgotten, but its wheel stays") {
  outbox.put(claim(1), made);
  service.set("wheel", 409);
  CHECK(outbox.send(coordinator, {}));
  CHECK(fs::exists(wheel));
  CHECK(service.count("/jobs/9/outcome") == 0);
  service.set("wheel", 200);
  CHECK(outbox.send(coordinator, {}));
  CHECK(service.count("/jobs/9/wheel") == 1);
}

TEST_CASE_METHOD(Finished, "A build that failed has a log and an outcome, and no wheel") {
  MadeWheel failed{made.commit, {}, {}, made.log};
  failed.result.outcome = SourceOutcome::does_not_compile;
  failed.result.reason = "error: x";
  outbox.put(claim(2), failed);
  CHECK(outbox.send(coordinator, {}));
  CHECK(service.count("/jobs/9/wheel") == 0);
  CHECK(service.wait_for("/jobs/9/outcome")["attempt"] == 2);
}
