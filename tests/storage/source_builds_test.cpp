#include "storage/source_builds.hpp"

#include <catch2/catch.hpp>

#include "tests/storage/story.hpp"

using namespace nightjar;
using namespace nightjar::storage;
using namespace nightjar::storage::test;

namespace {

constexpr int minute = 60, hour = 3600;

struct Yard : Story {
  Runner builder = enrol_builder("builder");
  Runner other = enrol_builder("other");

  Runner enrol_builder(const std::string& name) {
    Runner made{{}, name, machine.id, {{"build", "also"}}, {}, "0.1.0", at(0)};
    return register_runner(Autocommit(db), made);
  }
  char wheel = 'f';  // hash of what a builder makes

  std::optional<SourceBuild> group(char of = '1') {
    return find_source_build(db, sha256('a'), "cpu", sha256('e'), commit(of));
  }
  SourceBuild ask(char state = 'a', char of = '1', int now = 0, bool wheel_is_lost = false) {
    const SourceRequest request{
        sha256(state), "cpu", SourceSpec{"https://example.org/x", commit(of), "r", sha256('e')},
        night.id,      0,     at(now),
        wheel_is_lost};
    return request_build(Autocommit(db), request);
  }
  std::optional<Job> claim_as(const Runner& by, int now) {
    return claim_job(Autocommit(db), by, at(now), at(now + 60));
  }
  Accepted answer(const Job& job, SourceOutcome outcome, int now, const std::string& reason = "x") {
    SourceResult result;
    result.outcome = outcome;
    std::optional<Build> build;
    if (outcome == SourceOutcome::built) {
      result.wheel_file = "torch-2.15.0-cp311-cp311-linux_x86_64.whl";
      result.sha256 = sha256(wheel);
      build = nightly("2026-08-20");
      build->sha256 = result.sha256;
      build->kind = BuildKind::source;
      build->state = BuildState::found;
      build->url = "job:" + std::to_string(job.id.value) + "/" + result.wheel_file;
    } else {
      result.reason = reason;
    }
    return store_source_result(Autocommit(db), job.id, job.attempt, result, build, at(now));
  }
};

}  // namespace

TEST_CASE("a native group is asked for once, whichever of its commits asks") {
  Yard yard;
  const SourceBuild first = yard.ask('a', '1');
  CHECK(first.state == SourceState::waiting);
  CHECK(yard.ask('a', '1').job == first.job);
  CHECK(yard.ask('a', '2').job == first.job);
  CHECK(yard.ask('b', '2').job != first.job);
  CHECK(count_jobs(yard.db)[JobState::queued] == 2);
  CHECK(find_job(yard.db, first.job)->spec.source->commit == commit('1'));
}

TEST_CASE("a build goes to a builder only, of whatever machine class, and to one at a time") {
  Yard yard;
  const SourceBuild asked = yard.ask();
  CHECK_FALSE(yard.claim_as(yard.runner, 1));
  Runner far = yard.builder;
  far.name = "far";
  far.machine = intern_machine(Autocommit(yard.db), {{}, sha256('2'), {}}).id;
  far = register_runner(Autocommit(yard.db), far);
  const auto job = yard.claim_as(far, 1);
  REQUIRE(job);
  CHECK(job->id == asked.job);
  CHECK(job->spec.kind == JobKind::build);
  CHECK_FALSE(yard.claim_as(yard.builder, 2));
}

TEST_CASE("a session goes before a build on a runner that does both") {
  Yard yard;
  yard.ask();
  const Job session = yard.queue("session");
  Runner both = yard.runner;
  both.name = "both";
  both.labels["build"] = "also";
  both = register_runner(Autocommit(yard.db), both);
  CHECK(yard.claim_as(both, 1)->id == session.id);
  CHECK(yard.claim_as(both, 2)->spec.kind == JobKind::build);
}

TEST_CASE("what is built has a build to prove, and a repeated answer changes nothing") {
  Yard yard;
  yard.ask();
  const Job job = *yard.claim_as(yard.builder, 1);
  CHECK(yard.answer(job, SourceOutcome::built, 2) == Accepted::stored);
  CHECK(yard.answer(job, SourceOutcome::built, 3) == Accepted::already_stored);
  const auto group = yard.group();
  REQUIRE(group->build);
  CHECK(group->state == SourceState::built);
  CHECK(group->result->sha256 == sha256('f'));
  CHECK(find_build(yard.db, *group->build)->kind == BuildKind::source);
  CHECK(unproved_source_build(yard.db)->job == job.id);
  CHECK(find_job(yard.db, job.id)->state == JobState::done);
  CHECK(yard.ask('a', '3').state == SourceState::built);
  CHECK_FALSE(find_source_build(yard.db, sha256('a'), "cu130", sha256('e'), commit('1')));
}

TEST_CASE("a failure of the infrastructure is retried elsewhere first, then later, and stays one") {
  Yard yard;
  yard.ask();
  int now = 0;
  for (int failure = 1; failure <= 12; ++failure) {
    const auto job = yard.claim_as(yard.builder, now);
    REQUIRE(job);
    CHECK(yard.answer(*job, SourceOutcome::infrastructure, now, "disk full") == Accepted::stored);
    const auto group = yard.group();
    CHECK(group->state == SourceState::waiting);
    CHECK(group->failures == failure);
    CHECK(group->reason == "disk full");
    const auto pause =
        std::chrono::duration_cast<std::chrono::seconds>(group->not_before - at(now));
    CHECK(pause.count() == std::min(minute << (failure - 1), 4 * hour));
    const int due = now + static_cast<int>(pause.count());
    CHECK_FALSE(yard.claim_as(yard.other, due - 1));
    CHECK_FALSE(yard.claim_as(yard.builder, due));  // this one waits longer
    now += 4 * static_cast<int>(pause.count());
  }
  const auto elsewhere = yard.claim_as(yard.other, now);
  REQUIRE(elsewhere);
  CHECK(yard.answer(*elsewhere, SourceOutcome::does_not_compile, now, "error: x") ==
        Accepted::stored);
  CHECK(yard.group()->state == SourceState::does_not_compile);
}

TEST_CASE("a builder that is lost again and again never fails a build") {
  Yard yard;
  const SourceBuild asked = yard.ask();
  for (int now = 0, lost = 1; lost <= 5; ++lost, now += 20 * hour) {
    REQUIRE(yard.claim_as(yard.builder, now));
    CHECK(expire_leases(Autocommit(yard.db), at(now + 61)) == std::vector{asked.job});
    CHECK(find_job(yard.db, asked.job)->state == JobState::queued);
    CHECK(find_source_build(yard.db, asked.job)->failures == lost);
  }
}

TEST_CASE("an answer after the lease ran out counts until somebody claims the build anew") {
  Yard yard;
  yard.ask();
  const Job first = *yard.claim_as(yard.builder, 0);
  expire_leases(Autocommit(yard.db), at(61));
  const Job second = *yard.claim_as(yard.other, 10 * minute);
  CHECK(yard.answer(first, SourceOutcome::built, 11 * minute) == Accepted::stale);
  expire_leases(Autocommit(yard.db), at(20 * minute));
  CHECK(yard.answer(second, SourceOutcome::built, 21 * minute) == Accepted::stored);
}

TEST_CASE("where a wheel cannot be imported, another commit of its group may be asked for") {
  Yard yard;
  const SourceBuild first = yard.ask('a', '1');
  yard.answer(*yard.claim_as(yard.builder, 1), SourceOutcome::does_not_import, 2, "import: no");
  CHECK(yard.ask('a', '1').state == SourceState::does_not_import);
  CHECK(yard.group('1')->reason == "import: no");
  CHECK_FALSE(yard.group('2'));
  const SourceBuild second = yard.ask('a', '2');
  CHECK(second.job != first.job);
  CHECK(yard.ask('a', '3').job == second.job);
  yard.answer(*yard.claim_as(yard.builder, 3), SourceOutcome::built, 4);
  CHECK(yard.group('2')->state == SourceState::built);
}

TEST_CASE("a wheel that is gone is made again, and proved anew if it came out otherwise") {
  Yard yard;
  const SourceBuild asked = yard.ask();
  yard.answer(*yard.claim_as(yard.builder, 1), SourceOutcome::built, 2);
  const BuildId made = *yard.group()->build;
  Build proved = *find_build(yard.db, made);
  proved.state = BuildState::proved;
  update_build(Autocommit(yard.db), proved);
  CHECK(yard.ask().state == SourceState::built);  // its file is here
  CHECK_FALSE(yard.claim_as(yard.builder, 3));
  const bool same = GENERATE(true, false);
  CHECK(yard.ask('a', '1', 4, true).state == SourceState::waiting);
  const auto again = yard.claim_as(yard.builder, 5);
  REQUIRE(again);
  CHECK(again->id == asked.job);
  yard.wheel = same ? 'f' : 'd';
  CHECK(yard.answer(*again, SourceOutcome::built, 6) == Accepted::stored);
  CHECK(yard.group()->build == made);  // runs name it
  const Build stored = *find_build(yard.db, made);
  CHECK(stored.sha256 == sha256(yard.wheel));
  CHECK(stored.state == (same ? BuildState::proved : BuildState::found));
}

TEST_CASE("a build that was cancelled is queued again when it is wanted again") {
  Yard yard;
  const SourceBuild asked = yard.ask();
  cancel_job(Autocommit(yard.db), asked.job, "the disk is needed");
  CHECK_FALSE(yard.claim_as(yard.builder, 1));
  CHECK(yard.ask('a', '1', 2).job == asked.job);
  CHECK(yard.claim_as(yard.builder, 3));
}

TEST_CASE("a builder that restarts gets its build back, unless it builds no more") {
  Yard yard;
  const SourceBuild asked = yard.ask();
  REQUIRE(yard.claim_as(yard.builder, 0));
  return_jobs(Autocommit(yard.db), yard.builder.id);
  Runner measuring = yard.builder;
  measuring.labels.clear();
  CHECK_FALSE(yard.claim_as(measuring, 1));
  const auto again = yard.claim_as(yard.builder, 2);
  REQUIRE(again);
  CHECK(again->id == asked.job);
  CHECK(again->attempt == 2);
}
