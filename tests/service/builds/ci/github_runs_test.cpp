#include "service/builds/ci/github_runs.hpp"

#include <catch2/catch.hpp>

#include "service/builds/ci/trouble.hpp"
#include "tests/support/ci/double.hpp"

using namespace nightjar;
using namespace nightjar::service::ci;
using nlohmann::json;

namespace {

const CommitSha run_head = *CommitSha::parse("0123456789012345678901234567890123456789");

struct RunsSite {
  tests::CiDouble& ci = tests::CiDouble::fresh();
  web::Client client;
  SystemClock clock;
  GithubRuns runs{client, ci.api(), tests::CiDouble::repository, "", clock};
  ~RunsSite() { CHECK(ci.violations() == json::array()); }

  std::optional<std::chrono::seconds> wait() {
    try {
      runs.runs_of(run_head);
    } catch (const Unanswered& none) {
      return none.wait;
    }
    FAIL("it must throw");
    return {};
  }
};

}  // namespace

TEST_CASE("a commit's runs come from all pages, newest first, without those of strangers") {
  RunsSite site;
  for (int id = 1; id <= 5; ++id) site.ci.run(id, run_head);
  site.ci.run(6, run_head, {{"event", "pull_request"}});
  site.ci.run(7, run_head, {{"head_repository", "stranger/pytorch"}});
  site.ci.run(8, run_head, {{"status", "in_progress"}});
  const auto runs = site.runs.runs_of(run_head);
  REQUIRE(runs.size() == 6);
  CHECK(runs[0].id == 8);
  CHECK_FALSE(runs[0].finished());
  CHECK(runs[5].id == 1);
  CHECK(runs[5].finished());
}

TEST_CASE("what has not changed is taken from memory, and what has is read anew") {
  RunsSite site;
  site.ci.run(1, run_head);
  CHECK(site.runs.runs_of(run_head).size() == 1);
  CHECK(site.runs.runs_of(run_head).size() == 1);
  CHECK(site.ci.state()["requests"].back()["if_none_match"].is_string());
  site.ci.run(2, run_head);
  CHECK(site.runs.runs_of(run_head).size() == 2);
}

TEST_CASE("a limit says when to come back, and is never a no") {
  RunsSite site;
  site.ci.fault("GET /api", "403_retry_after", 1, 120);
  CHECK(site.wait() == std::chrono::seconds(120));
  site.ci.fault("GET /api", "403_limit", 1, 300);
  const auto reset = site.wait();
  REQUIRE(reset);
  CHECK(*reset > std::chrono::seconds(290));
  site.ci.fault("GET /api", "404");
  CHECK(site.wait() == std::chrono::hours(1));
}

TEST_CASE("runs of which a page does not come are no answer") {
  RunsSite site;
  for (int id = 1; id <= 5; ++id) site.ci.run(id, run_head);
  const char* kind = GENERATE("404", "503", "cut_before");
  site.ci.fault("page=2", kind, 3);
  CHECK_THROWS_AS(site.runs.runs_of(run_head), Unanswered);
}
