// Build jobs from claim to outcome, with a real build.

#include <memory>

#include <catch2/catch.hpp>

#include "runner/agent/agent.hpp"
#include "runner/run/scripted_executor.hpp"
#include "storage/base/digest.hpp"
#include "storage/model/json.hpp"
#include "tests/runner/fake_service.hpp"
#include "tests/runner/make/tiny_project.hpp"

using namespace nightjar;
using namespace nightjar::runner;
using Catch::Matchers::Contains;
namespace fs = std::filesystem;

namespace {

std::string build_spec(const TinyProject& project, const std::string& commit,
                       const std::string& recipe = tiny_recipe) {
  JobSpec spec;
  spec.kind = JobKind::build;
  spec.source = SourceSpec{project.repository().string(), *CommitSha::parse(commit), recipe,
                           digest_of(recipe)};
  return nlohmann::json(spec).dump();
}

class Building {
 public:
  Building(const std::string& url, const TinyProject& project, bool builder = true)
      : executor_(Script{}, {}), thread_([this, url, &project, builder](std::stop_token stop) {
          AgentConfig config{
              url, "secret", "builder", {{"build", "only"}}, project.scratch / "cache"};
          config.claim_wait = std::chrono::seconds(1);
          config.backoff_first = std::chrono::milliseconds(10);
          config.backoff_most = std::chrono::milliseconds(50);
          if (builder) config.builder = BuilderConfig{project.scratch / "work", "/usr/bin/python3"};
          Agent(config, executor_, clock_).run(stop);
        }) {}

 private:
  const SystemClock clock_;
  ScriptedExecutor executor_;
  std::jthread thread_;
};

}  // namespace

TEST_CASE("A builder makes a job's wheel and sends wheel, log and outcome") {
  TinyProject project;
  FakeService service;
  service.add_job(build_spec(project, project.first), 3);
  const Building agent(service.url(), project);
  const auto outcome = service.wait_for("/jobs/9/outcome");
  REQUIRE(outcome.is_object());
  CHECK(outcome["attempt"] == 3);
  CHECK(outcome["result"]["outcome"] == "built");
  CHECK(digest_of(service.wheel()).str() == outcome["result"]["sha256"]);
  CHECK(service.count("/jobs/9/log") == 1);
  CHECK(service.count("/jobs/9/renew") > 0);
}

TEST_CASE("A commit that does not compile is no failure of the job") {
  TinyProject project;
  FakeService service;
  const std::string broken = project.commit("unit.c", "int unit(void) { return x; }\n");
  service.add_job(build_spec(project, broken));
  const Building agent(service.url(), project);
  const auto outcome = service.wait_for("/jobs/9/outcome");
  REQUIRE(outcome.is_object());
  CHECK(outcome["result"]["outcome"] == "does_not_compile");
  CHECK(service.count("/jobs/9/fail") == 0);
  CHECK(service.count("/jobs/9/wheel") == 0);
}

TEST_CASE("What cannot be begun is the infrastructure's fault") {
  TinyProject project;
  FakeService service;
  bool builder = true;
  std::string reason;
  SECTION("a recipe that cannot be read") {
    service.add_job(build_spec(project, project.first, "nonsense = 1\n"));
    reason = "is required";
  }
  SECTION("a commit that is not there") {
    service.add_job(build_spec(project, std::string(40, 'a')));
    reason = "there is no commit";
  }
  SECTION("a runner that is no builder") {
    builder = false;
    service.add_job(build_spec(project, project.first));
    reason = "builds nothing";
  }
  const Building agent(service.url(), project, builder);
  const auto outcome = service.wait_for("/jobs/9/outcome");
  REQUIRE(outcome.is_object());
  CHECK(outcome["result"]["outcome"] == "infrastructure");
  CHECK_THAT(outcome["result"]["reason"].get<std::string>(), Contains(reason));
}

TEST_CASE("A wheel that was made before a service died is sent by the next process") {
  TinyProject project;
  FakeService service;
  service.set("wheel", 503);
  service.add_job(build_spec(project, project.first));
  {
    const Building agent(service.url(), project);
    service.wait_for("/jobs/9/wheel", 2);
  }
  service.set("wheel", 200);
  const Building agent(service.url(), project);
  CHECK(service.wait_for("/jobs/9/outcome")["result"]["outcome"] == "built");
}
