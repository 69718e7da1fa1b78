#include "storage/jobs.hpp"

#include <catch2/catch.hpp>

#include "storage/model/json.hpp"
#include "storage/sessions.hpp"
#include "tests/storage/story.hpp"
#include "tests/support/autocommit.hpp"

using namespace nightjar;
using namespace nightjar::storage;
using namespace nightjar::storage::test;

TEST_CASE("planning twice changes nothing") {
  Story story;
  const Job first = story.queue("night/1/screen");
  const Job again = story.queue("night/1/screen", JobKind::confirm, 9);
  CHECK(again.id == first.id);
  CHECK(again.spec.kind == JobKind::screen);
  CHECK(again.priority == 0);
  CHECK(count_jobs(story.db) == std::map<JobState, int>{{JobState::queued, 1}});
  CHECK(nlohmann::json(find_job(story.db, first.id)->spec) == nlohmann::json(story.spec()));
}

TEST_CASE("a claimed job is leased to its runner and claimed by nobody else") {
  Story story;
  story.queue("a");
  const auto job = story.claim(5);
  REQUIRE(job);
  CHECK(job->state == JobState::leased);
  CHECK(job->attempt == 1);
  CHECK(job->runner == story.runner.id);
  CHECK(job->lease_until == at(65));
  CHECK_FALSE(story.claim(6));
  CHECK(find_runner(story.db, story.runner.id)->seen_at == at(5));
}

TEST_CASE("the highest priority goes first, then the oldest") {
  Story story;
  story.queue("old");
  story.queue("young");
  story.queue("urgent", JobKind::bisect, 10);
  CHECK(story.claim()->key == "urgent");
  CHECK(story.claim()->key == "old");
  CHECK(story.claim()->key == "young");
  CHECK_FALSE(story.claim());
}

TEST_CASE("a job goes to a runner of its machine class only") {
  Story story;
  story.queue("a");
  Runner other = story.runner;
  other.name = "other";
  other.machine = intern_machine(Autocommit(story.db), {{}, sha256('2'), {}}).id;
  other = register_runner(Autocommit(story.db), other);
  CHECK_FALSE(claim_job(Autocommit(story.db), other, at(0), at(60)));
  CHECK(story.claim());
}

TEST_CASE("a session goes to a runner that measures the variant of its builds") {
  Story story;
  const ClaimRules cpu_if_unsaid{std::chrono::minutes(5), "cpu"};
  const auto runner_with = [&](const std::string& name, const std::string& variants) {
    Runner made = story.runner;
    made.name = name;
    if (!variants.empty()) made.labels["variant"] = variants;
    return register_runner(Autocommit(story.db), made);
  };
  const Runner plain = runner_with("plain", ""), cuda = runner_with("cuda", "cu126,cu130"),
               alike = runner_with("alike", "cu13,u130,cu1300");
  const Build build = add_build(Autocommit(story.db), nightly("2026-08-21", "2.15.0", "cu130"));
  JobSpec of_cuda = story.spec();
  of_cuda.environments = {{build.id, build.url, "torch.whl", sha256('a'), {}, "", ""}};
  of_cuda.order = {{0, 0}};
  story.queue("of cuda", of_cuda, 9);
  story.queue("of the CPU");
  std::map<std::string, std::optional<std::string>> waiting;
  for (const WaitingJob& job : waiting_jobs(story.db))
    waiting[find_job(story.db, job.id)->key] = job.variant;
  CHECK(waiting == decltype(waiting){{"of cuda", "cu130"}, {"of the CPU", "cpu"}});
  const auto claim = [&](const Runner& runner) {
    const auto job = claim_job(Autocommit(story.db), runner, at(1), at(61), cpu_if_unsaid);
    return job ? job->key : "nothing";
  };
  CHECK(claim(alike) == "nothing");
  CHECK(claim(plain) == "of the CPU");
  CHECK(claim(plain) == "nothing");
  CHECK(claim(cuda) == "of cuda");

  // After its restart it measures another variant: what it held goes to whoever measures that.
  Runner changed = cuda;
  changed.labels["variant"] = "cpu";
  return_jobs(Autocommit(story.db), changed.id);
  CHECK(claim(changed) == "nothing");
  CHECK(claim(cuda) == "of cuda");
}

TEST_CASE("a lost session is tried again by its runner if no other measures its variant") {
  Story story;
  Runner cuda = story.enrol("cuda");
  cuda.labels["variant"] = "cu130";
  cuda = register_runner(Autocommit(story.db), cuda);
  story.queue("a");
  REQUIRE(story.claim());
  expire_leases(Autocommit(story.db), at(100));
  touch_runner(Autocommit(story.db), cuda.id, at(100));
  CHECK(story.claim(101));
  expire_leases(Autocommit(story.db), at(200));
  cuda.labels.erase("variant");  // the usual one
  cuda.seen_at = at(200);
  register_runner(Autocommit(story.db), cuda);
  CHECK_FALSE(story.claim(201));
}

TEST_CASE("a job with affinity waits for its runner") {
  Story story;
  const Runner beta = story.enrol("beta");
  Job job = story.queue("free");
  job.key = "bound";
  job.priority = 5;
  job.affinity = beta.id;
  add_job(Autocommit(story.db), job);
  CHECK(story.claim()->key == "free");
  CHECK_FALSE(story.claim());
  CHECK(claim_job(Autocommit(story.db), beta, at(0), at(60))->key == "bound");
}

TEST_CASE("a job goes to a runner that can run all its workloads, of their versions") {
  Story story;
  JobSpec both = story.spec();
  both.workloads.push_back(story.add_workload("python/resnet18/eval/cpu/fp32/b4/eager"));
  story.queue("both", both);
  CHECK_FALSE(story.claim());
  story.runner.workloads.add("python/resnet18/eval/cpu/fp32/b4/eager@2");
  CHECK_FALSE(story.claim());
  story.runner.workloads.add("python/resnet18/eval/cpu/fp32/b4/eager@1");
  CHECK(story.claim()->key == "both");
  JobSpec controls = story.spec();
  controls.workloads.clear();
  controls.order = {{}};
  story.queue("controls", controls);
  story.runner.workloads = {};
  CHECK(story.claim()->key == "controls");
}

TEST_CASE("a lease is renewed by its attempt only, and only while it is held") {
  Story story;
  const JobId id = story.queue("a").id;
  CHECK_FALSE(renew_lease(Autocommit(story.db), id, 0, at(100)));
  story.claim();
  CHECK(renew_lease(Autocommit(story.db), id, 1, at(100)));
  CHECK(find_job(story.db, id)->lease_until == at(100));
  CHECK_FALSE(renew_lease(Autocommit(story.db), id, 2, at(200)));
  CHECK(expire_leases(Autocommit(story.db), at(99)).empty());
  CHECK(expire_leases(Autocommit(story.db), at(101)) == std::vector{id});
  CHECK_FALSE(renew_lease(Autocommit(story.db), id, 1, at(300)));
}

TEST_CASE("a lease does not end because the clock was set by a day") {
  for (const int day : {86400, -86400}) {
    Story story;
    const JobId held = story.queue("held").id, fresh = story.queue("fresh").id;
    REQUIRE(story.claim(100));
    const int now = 110 + day;  // ten seconds later
    REQUIRE(story.claim(now)->id == fresh);
    touch_runner(Autocommit(story.db), story.runner.id, at(100));
    follow_clock(Autocommit(story.db),
                 {at(now), std::chrono::seconds(day), std::chrono::seconds(60)});
    CHECK(find_job(story.db, held)->lease_until == at(160 + day));
    CHECK(find_job(story.db, fresh)->lease_until == at(now + 60));
    CHECK(find_runner(story.db, story.runner.id)->seen_at == at(100 + day));
    CHECK(expire_leases(Autocommit(story.db), at(now)).empty());
    CHECK(expire_leases(Autocommit(story.db), at(now + 51)) == std::vector{held});
  }
}

TEST_CASE("a lease does not end because the clock was set by less than a lease") {
  for (const int step : {40, -40}) {
    Story story;
    const JobId held = story.queue("held").id;
    REQUIRE(story.claim(100));
    const int now = 110 + step;
    follow_clock(Autocommit(story.db),
                 {at(now), std::chrono::seconds(step), std::chrono::seconds(60)});
    CHECK(expire_leases(Autocommit(story.db), at(now + 50)).empty());
    CHECK(expire_leases(Autocommit(story.db), at(now + 61)) == std::vector{held});
  }
}

TEST_CASE("what waits for a time does not wait a day longer because the clock was set back") {
  constexpr int day = 86400;
  Story story;
  OutboxMessage message;
  message.key = "issue/1";
  message.regression = story.suspect().id;
  message.not_before = at(day + 130);
  add_message(Autocommit(story.db), message);
  follow_clock(Autocommit(story.db),
               {at(110), std::chrono::seconds(-day), std::chrono::seconds(60)});
  CHECK(pending_messages(story.db, at(129)).empty());
  CHECK(pending_messages(story.db, at(130)).size() == 1);
  follow_clock(Autocommit(story.db),
               {at(day + 110), std::chrono::seconds(day), std::chrono::seconds(60)});
  CHECK(pending_messages(story.db, at(day + 110)).size() == 1);
}

TEST_CASE("a third lost attempt fails the job") {
  Story story;
  const JobId id = story.queue("a").id;
  for (int attempt = 1; attempt <= 3; ++attempt) {
    const auto job = story.claim(attempt * 100);
    REQUIRE(job);
    CHECK(job->attempt == attempt);
    CHECK(expire_leases(Autocommit(story.db), at(attempt * 100 + 61)) == std::vector{id});
  }
  const Job job = *find_job(story.db, id);
  CHECK(job.state == JobState::failed);
  CHECK(job.reason == "its runner was lost in each of 3 attempts");
  CHECK_FALSE(job.lease_until);
  CHECK_FALSE(story.claim(1000));
  CHECK(expire_leases(Autocommit(story.db), at(2000)).empty());
}

TEST_CASE("a lost attempt is repeated by another live runner, if there is one") {
  Story story;
  const JobId id = story.queue("a").id;
  const Runner beta = story.enrol("beta");
  REQUIRE(story.claim(0));
  expire_leases(Autocommit(story.db), at(100));
  CHECK_FALSE(story.claim(101));  // beta, seen at 0, may try it
  CHECK(claim_job(Autocommit(story.db), beta, at(101), at(161))->id == id);
  expire_leases(Autocommit(story.db), at(200));
  CHECK(story.claim(201)->id == id);  // both have lost it
}

TEST_CASE("a lost attempt is repeated by the same runner when the others are silent or cannot") {
  Story story;
  const JobId id = story.queue("a").id;
  Runner beta = story.enrol("beta");
  const auto lose = [&](int now) {
    REQUIRE(story.claim(now)->id == id);
    expire_leases(Autocommit(story.db), at(now + 61));
  };
  SECTION("silent") {
    lose(300);
    CHECK(story.claim(361)->id == id);
  }
  SECTION("without the workload") {
    beta.workloads = {"python/other/eval/cpu/fp32/b4/eager@1"};
    register_runner(Autocommit(story.db), beta);
    lose(0);
    CHECK(story.claim(62)->id == id);
  }
  SECTION("in quarantine") {
    for (int i = 0; i < 3; ++i)
      note_failure(Autocommit(story.db), beta.id, "the disk is full", at(60));
    lose(0);
    CHECK(story.claim(62)->id == id);
  }
}

TEST_CASE("a runner that fails again and again pauses twice as long each time, until a result") {
  Story story;
  const RunnerId id = story.runner.id;
  const auto until = [&] { return find_runner(story.db, id)->quarantined_until; };
  for (const int minutes : {0, 0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 256}) {
    note_failure(Autocommit(story.db), id, "the disk is full", at(0));
    CHECK(until() == (minutes == 0 ? Time{} : at(60 * minutes)));
  }
  story.runner = register_runner(Autocommit(story.db), story.runner);  // it restarts
  story.queue("a");
  CHECK_FALSE(story.claim(60 * 256 - 1));
  CHECK(story.runner.trouble == "the disk is full");
  const Job job = *story.claim(60 * 256);
  CHECK(until() == at(60 * 256));  // a claim alone says nothing
  store_result(Autocommit(story.db), job.id, job.attempt, Story::result(), at(60 * 257));
  CHECK(find_runner(story.db, id)->failures == 0);
  CHECK(until() == Time{});
  CHECK(find_runner(story.db, id)->trouble.empty());
}

TEST_CASE("a job that is put off is queued again, and the sixth time fails it with the reason") {
  Story story;
  const JobId id = story.queue("a").id;
  for (int time = 1; time <= 6; ++time) {
    story.runner = *find_runner(story.db, story.runner.id);
    const int now = 3600 * time;
    REQUIRE(story.claim(now));
    CHECK_FALSE(put_off_job(Autocommit(story.db), id, time - 1, "no space", at(now)));
    CHECK(put_off_job(Autocommit(story.db), id, time, "no space", at(now)));
    CHECK(find_job(story.db, id)->state == (time < 6 ? JobState::queued : JobState::failed));
    CHECK(find_job(story.db, id)->reason == "no space");
  }
  CHECK(find_runner(story.db, story.runner.id)->failures == 6);
}

TEST_CASE("a job for one runner that puts it off is for any runner of the class") {
  Story story;
  const Runner other = story.enrol("beta");
  Job asked = *find_job(story.db, story.queue("a").id);
  asked.key = "for alpha alone";
  asked.affinity = story.runner.id;
  const JobId id = add_job(Autocommit(story.db), asked).id;
  cancel_job(Autocommit(story.db), asked.id, "only its copy counts");
  CHECK_FALSE(claim_job(Autocommit(story.db), other, at(10), at(70)));
  REQUIRE(story.claim()->id == id);
  put_off_job(Autocommit(story.db), id, 1, "no space", at(10));
  const auto claimed = claim_job(Autocommit(story.db), other, at(20), at(80));
  REQUIRE(claimed);
  CHECK(claimed->id == id);
}

TEST_CASE("a released job goes back at once and its attempt is not counted as lost") {
  Story story;
  const JobId id = story.queue("a").id;
  for (int attempt = 1; attempt <= 5; ++attempt) {
    REQUIRE(story.claim()->attempt == attempt);
    CHECK_FALSE(release_job(Autocommit(story.db), id, attempt + 1));
    CHECK(release_job(Autocommit(story.db), id, attempt));
    CHECK(find_job(story.db, id)->state == JobState::queued);
    CHECK_FALSE(release_job(Autocommit(story.db), id, attempt));
  }
}

TEST_CASE("a runner can give up a job, its latest attempt only") {
  Story story;
  const JobId id = story.queue("a").id;
  CHECK_FALSE(fail_job(Autocommit(story.db), id, 0, "never claimed"));
  story.claim();
  CHECK_FALSE(fail_job(Autocommit(story.db), id, 7, "not mine"));
  CHECK(fail_job(Autocommit(story.db), id, 1, "no space"));
  CHECK_FALSE(fail_job(Autocommit(story.db), id, 1, "again"));
  const Job job = *find_job(story.db, id);
  CHECK(job.state == JobState::failed);
  CHECK(job.reason == "no space");
  CHECK(store_result(Autocommit(story.db), id, 1, Story::result(), at(10)) == Accepted::stale);
}

TEST_CASE("a cancelled job is not run, and a done one is not cancelled") {
  Story story;
  const JobId queued = story.queue("a").id;
  cancel_job(Autocommit(story.db), queued, "no longer needed");
  CHECK(find_job(story.db, queued)->state == JobState::cancelled);
  CHECK(find_job(story.db, queued)->reason == "no longer needed");
  CHECK_FALSE(story.claim());
  const JobId done = story.measure("b").id;
  cancel_job(Autocommit(story.db), done, "too late");
  CHECK(find_job(story.db, done)->state == JobState::done);
}

TEST_CASE("jobs are listed by night and kind, by state, and counted") {
  Story story;
  story.measure("done");
  story.queue("screen");
  story.queue("confirm", JobKind::confirm);
  CHECK(jobs_of_night(story.db, story.night.id, JobKind::screen).size() == 2);
  CHECK(jobs_of_night(story.db, story.night.id, JobKind::confirm).size() == 1);
  CHECK(jobs_of_night(story.db, NightId{9}, JobKind::screen).empty());
  CHECK(list_jobs(story.db, {JobState::queued}, {}).items.size() == 2);
  CHECK(list_jobs(story.db, {}, {}).items[0].key == "confirm");
  CHECK(list_jobs(story.db, {{}, story.night.id}, {}).items.size() == 3);
  CHECK(list_jobs(story.db, {JobState::done, story.night.id}, {}).items.size() == 1);
  CHECK(list_jobs(story.db, {{}, NightId{9}}, {}).items.empty());
  CHECK(list_jobs(story.db, {}, {2, std::nullopt}).next == 2);
  CHECK(count_jobs(story.db) ==
        std::map<JobState, int>{{JobState::queued, 2}, {JobState::done, 1}});
  CHECK(count_jobs_of_night(story.db, story.night.id) == count_jobs(story.db));
  CHECK(count_jobs_of_night(story.db, NightId{9}).empty());
  CHECK(find_job(story.db, "confirm")->spec.kind == JobKind::confirm);
  CHECK_FALSE(find_job(story.db, "unknown"));
  CHECK_FALSE(find_job(story.db, JobId{99}));
}

TEST_CASE("a job for a build or machine that does not exist is refused") {
  Story story;
  Job job;
  job.key = "a";
  job.night = NightId{99};
  job.machine = story.machine.id;
  CHECK_THROWS_WITH(add_job(Autocommit(story.db), job), Catch::Contains("FOREIGN KEY"));
  CHECK_FALSE(find_job(story.db, "a"));
}

TEST_CASE(
    "a runner that begins anew gets its job back at once, and the old process's result no more") {
  Story story;
  story.queue("a");
  const Job old = *story.claim(0);
  return_jobs(Autocommit(story.db), story.runner.id);
  story.queue("urgent", JobKind::bisect, 10);
  const Runner beta = story.enrol("beta");
  CHECK(claim_job(Autocommit(story.db), beta, at(1), at(61))->key == "urgent");
  CHECK_FALSE(claim_job(Autocommit(story.db), beta, at(1), at(61)));
  const auto again = story.claim(2);
  REQUIRE(again);
  CHECK(again->id == old.id);
  CHECK(again->attempt == 2);
  CHECK(again->lease_until == at(62));
  CHECK_FALSE(renew_lease(Autocommit(story.db), old.id, 1, at(90)));
  CHECK(store_result(Autocommit(story.db), old.id, 1, Story::result(), at(3)) == Accepted::stale);
  CHECK(store_result(Autocommit(story.db), old.id, 2, Story::result(), at(4)) == Accepted::stored);
  CHECK(store_result(Autocommit(story.db), old.id, 2, Story::result(), at(5)) ==
        Accepted::already_stored);
}

TEST_CASE("a result that the old process left is accepted once, before the job is claimed anew") {
  Story story;
  story.queue("a");
  const Job old = *story.claim(0);
  return_jobs(Autocommit(story.db), story.runner.id);
  CHECK(store_result(Autocommit(story.db), old.id, 1, Story::result(), at(3)) == Accepted::stored);
  CHECK_FALSE(story.claim(4));
}

TEST_CASE(
    "restarts are no lost attempts, but a runner that dies of its job does not get it back for "
    "ever") {
  Story story;
  story.queue("a");
  int now = 0, given = 0;
  while (story.claim(++now)) {
    ++given;
    return_jobs(Autocommit(story.db), story.runner.id);
  }
  CHECK(given == 9);
  for (int lost = 0; lost < 3; ++lost) {
    expire_leases(Autocommit(story.db), at(now += 100));
    story.claim(now);
  }
  CHECK(find_job(story.db, "a")->state == JobState::failed);
}

TEST_CASE("a night that is called off ends its own jobs and leaves searches alone") {
  Story story;
  story.queue("screen");
  story.queue("confirm", JobKind::confirm, 5);
  story.queue("search", JobKind::bisect, -1);
  const Job leased = *story.claim();
  REQUIRE(leased.key == "confirm");
  CHECK(cancel_jobs_of_night(Autocommit(story.db), story.night.id, "night 1 was cancelled") == 2);
  CHECK(find_job(story.db, "screen")->state == JobState::cancelled);
  CHECK(find_job(story.db, "confirm")->reason == "night 1 was cancelled");
  CHECK(find_job(story.db, "search")->state == JobState::queued);
  CHECK_FALSE(renew_lease(Autocommit(story.db), leased.id, 1, at(99)));
  CHECK(store_result(Autocommit(story.db), leased.id, 1, Story::result(), at(9)) ==
        Accepted::stale);
}
