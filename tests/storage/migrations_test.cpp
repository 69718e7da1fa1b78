#include "storage/migrations.hpp"

#include <csignal>
#include <regex>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "storage/affected_classes.hpp"
#include "storage/bisections.hpp"
#include "storage/calibration.hpp"
#include "storage/fixes.hpp"
#include "storage/jobs.hpp"
#include "storage/replays.hpp"
#include "storage/runners.hpp"
#include "storage/statement.hpp"
#include "tests/storage/story.hpp"
#include "tests/support/any_state.hpp"
#include "tests/support/autocommit.hpp"
#include "tests/support/source_tree.hpp"

using namespace nightjar;
using namespace nightjar::storage;
using namespace nightjar::storage::test;

namespace {

std::vector<std::string> schema_of(Database& db) {
  std::vector<std::string> schema;
  Statement find(db, "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY type, name");
  while (find.step()) schema.push_back(find.next<std::string>());
  return schema;
}

}  // namespace

// tests/storage/data/version_1.db was written by the first schema with one measured night in it,
// and is never written again: it stands for every file of that time.
TEST_CASE("a file of the first version is migrated and keeps what it holds") {
  Folder folder;
  const auto path = folder.path / "old.db";
  std::filesystem::copy_file(nightjar::test::source_tree() / "tests/storage/data/version_1.db",
                             path);
  CHECK_THROWS_WITH(Database::open_reader(path),
                    Catch::Contains("has schema version 1, 39 is wanted; start nightjard"));

  Database db = Database::open_writer(path);
  CHECK(db.schema_version() == 39);
  Database fresh = Database::open_writer(":memory:");
  CHECK(schema_of(db) == schema_of(fresh));

  const auto job = find_job(db, "night/1");
  REQUIRE(job);
  const auto session = session_of(db, job->id);
  REQUIRE(session);
  CHECK(session->runs.size() == 6);
  CHECK(session->runs[2].samples.at("latency") == std::vector{2.5, 1.25, 1.25});
  CHECK(list_regressions(db, {}, {}).items.size() == 1);
  set_note(Autocommit(db), "migrated", "yes");
  CHECK(get_note(db, "migrated") == "yes");
}

TEST_CASE("before a file is migrated, a backup of its version is made beside it") {
  Folder folder;
  const auto path = folder.path / "old.db";
  std::filesystem::copy_file(nightjar::test::source_tree() / "tests/storage/data/version_1.db",
                             path);
  { Database::open_writer(path); }
  {
    const auto backup = connect(path.string() + ".before-v1", Access::write);
    CHECK(schema_version_of(*backup) == 1);
    CHECK(backup->ask("SELECT count(*) FROM regression") == 1);
  }
  { Database::open_writer(folder.path / "new.db"); }
  { Database::open_writer(folder.path / "new.db"); }
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path), {}) == 3);
}

// In a process of its own, which may write no file larger than 40 KiB.
TEST_CASE("without room for a backup nothing is migrated") {
  Folder folder;
  const auto path = folder.path / "old.db";
  std::filesystem::copy_file(nightjar::test::source_tree() / "tests/storage/data/version_1.db",
                             path);
  REQUIRE(std::filesystem::file_size(path) > 40960);
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    const rlimit small{40960, 40960};
    ::setrlimit(RLIMIT_FSIZE, &small);
    ::signal(SIGXFSZ, SIG_IGN);
    try {
      Database::open_writer(path);
    } catch (const Error& error) {
      ::_exit(std::string(error.what()).find("no backup could be made") != std::string::npos ? 7
                                                                                             : 1);
    }
    ::_exit(0);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WEXITSTATUS(status) == 7);
  CHECK(schema_version_of(*connect(path, Access::write)) == 1);
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path), {}) == 1);
}

TEST_CASE("a file that is up to date is not touched") {
  Folder folder;
  { Database::open_writer(folder.path / "a.db"); }
  const auto written = std::filesystem::last_write_time(folder.path / "a.db");
  Database again = Database::open_writer(folder.path / "a.db");
  CHECK(std::filesystem::last_write_time(folder.path / "a.db") == written);
}

TEST_CASE("a file of a newer program is refused, with its version and what to do") {
  Folder folder;
  const auto path = folder.path / "a.db";
  {
    Database db = Database::open_writer(path);
    db.impl().execute("PRAGMA user_version = 99");
  }
  for (const auto open : {&Database::open_writer, &Database::open_reader})
    CHECK_THROWS_WITH(open(path), Catch::Contains(path.string()) &&
                                      Catch::Contains("has schema version 99") &&
                                      Catch::Contains("knows versions up to 39") &&
                                      Catch::Contains("start the newer nightjard"));
}

TEST_CASE("another program's database is refused and stays as it is") {
  Folder folder;
  const auto path = folder.path / "a.db";
  {
    Database db = Database::open_writer(path);
    db.impl().execute("PRAGMA application_id = 7");
  }
  CHECK_THROWS_WITH(Database::open_writer(path), Catch::Contains("of another program"));
}

TEST_CASE("a migration that fails leaves the file as it was") {
  Database db = Database::open_writer(":memory:");
  db.impl().execute("DROP TABLE audit; PRAGMA user_version = 1");  // delivery is in the way
  CHECK_THROWS_WITH(migrate(db.impl(), 2), Catch::Contains("already exists"));
  CHECK(db.schema_version() == 1);
  CHECK(db.impl().ask("SELECT count(*) FROM sqlite_master WHERE name = 'audit'") == 0);
}

TEST_CASE("what was said of sessions in a note is kept") {
  Story story;
  const Job job = story.measure("a");
  story.db.impl().execute("DROP TABLE session_check; PRAGMA user_version = 6");
  const std::string id = std::to_string(job.id.value);
  set_note(
      Autocommit(story.db), "control/" + std::to_string(job.machine.value),
      R"([{"job": )" + id +
          R"(, "control": 0.25, "usable": false}, {"job": 77, "control": 1, "usable": true}])");
  migrate(story.db.impl(), 7);
  const auto check = find_check(story.db, job.id);
  REQUIRE(check);
  CHECK_FALSE(check->usable);
  CHECK(check->control == .25);
  CHECK(last_checks(story.db, job.machine, {}, 9).size() == 1);
  CHECK(story.db.impl().ask("SELECT count(*) FROM note WHERE name LIKE 'control/%'") == 0);
}

TEST_CASE("two machine classes that were reported as one issue become one regression") {
  Story story;
  Regression first = story.suspect();
  first.culprit = Culprit{{commit('c')}, .99, 1.25, 1.2, 1.3};
  first.fingerprint = "f1";
  nightjar::test::change_to_any(Autocommit(story.db), first,
                                {RegressionState::reported, at(30), "{}"});
  const auto memory =
      find_series(story.db, story.workload.id, "peak_cpu_memory", story.machine.id, "cpu");
  Regression second = first;
  second.machine = intern_machine(Autocommit(story.db), {{}, sha256('2'), {}}).id;
  second.series = {{memory->id, 1.0, 1.2, 1.2, 1.1, 1.3}};
  second = add_regression(Autocommit(story.db), second, {RegressionState::suspected, at(20), "{}"});
  second.fingerprint = "f1";
  nightjar::test::change_to_any(Autocommit(story.db), second,
                                {RegressionState::reported, at(31), "{}"});
  OutboxMessage issue;
  issue.key = "regression:f1";
  issue.regression = first.id;
  issue.created_at = at(30);
  add_message(Autocommit(story.db), issue);
  const std::string sql = migrations()[10].sql;
  const auto begin = sql.find("CREATE TEMP TABLE joined");
  REQUIRE(begin != std::string::npos);  // what comes before is in this file's schema already
  story.db.impl().execute(sql.c_str() + begin);
  const auto joined = find_regression(story.db, second.id);
  CHECK(joined->state == RegressionState::merged);
  CHECK(joined->merged_into == first.id);
  CHECK(changes_of(story.db, second.id).back().state == RegressionState::merged);
  const auto kept = find_regression(story.db, first.id);
  CHECK(kept->state == RegressionState::reported);
  REQUIRE(kept->series.size() == 2);
  CHECK(kept->series[1].series == memory->id);
}

namespace {

// What the schema before columns held: a confirmation in its second round whose session was void
// once, a creep, a further culprit, a machine class with a budget, and a night half replayed.
constexpr const char* state_in_text = R"(
INSERT INTO build (id, kind, version, variant, date, url, state, reason, found_at_us) VALUES
  (1, 'nightly', '1', 'cpu', '2026-08-19', 'a', 'proved', '', 0),
  (2, 'nightly', '2', 'cpu', '2026-08-20', 'b', 'proved', '', 0);
INSERT INTO machine (id, fingerprint, facts) VALUES (1, printf('%064d', 1), '{}'), (2, printf('%064d', 2), '{}');
INSERT INTO workload (id, name, version) VALUES (5, 'python/m/eval/cpu/fp32/b1/eager', 1),
  (6, 'python/m/eval/cpu/fp32/b1/eager', 2);
INSERT INTO series (id, workload, metric, machine, variant) VALUES
  (1, 6, 'latency', 1, 'cpu'), (2, 6, 'peak_cpu_memory', 1, 'cpu'), (3, 5, 'latency', 1, 'cpu');
INSERT INTO night (id, trigger, state, build, reason, started_at_us) VALUES
  (1, 'api', 'done', 1, '', 0), (2, 'api', 'done', 2, '', 0);
INSERT INTO job (id, key, night, machine, kind, spec, state, priority, attempt, reason, created_at_us)
SELECT value ->> 0, value ->> 1, 2, 1, value ->> 2, json_object('kind', value ->> 2,
  'environments', json('[{"build": 1}, {"build": 2}]'),
  'workloads', json('[{"id": 6, "name": "python/m/eval/cpu/fp32/b1/eager", "version": 2}]')),
  'done', 0, 1, '', 0
FROM json_each('[
  [1, "night:2/machine:1/screen:0", "screen"],
  [2, "night:2/machine:1/confirm:python/m/eval/cpu/fp32/b1/eager@2/1-2/to:5/0", "confirm"],
  [3, "night:2/machine:1/confirm:python/m/eval/cpu/fp32/b1/eager@2/1-2/round:2/to:5/0", "confirm"],
  [4, "night:2/machine:1/confirm:python/m/eval/cpu/fp32/b1/eager@2/1-2/round:2/to:5/0/again:1", "confirm"],
  [5, "night:2/machine:1/confirm:python/m/eval/cpu/fp32/b1/eager@2/1-2/round:2/to:5/0/again:2", "confirm"],
  [6, "night:2/machine:1/confirm:python/m/eval/cpu/fp32/b1/eager@2/1-2/round:2/to:10/1", "confirm"]]');
INSERT INTO regression (id, state, night, machine, good, bad, lead, part, fingerprint, issue_url, opened_at_us,
  updated_at_us) VALUES (1, 'suspected', 2, 1, 1, 2, 1, 0, '', '', 0, 0),
  (2, 'dismissed', 2, 1, 1, 2, 2, 0, '', '', 0, 0), (3, 'blamed', 2, 1, 1, 2, 1, 1, '', '', 0, 0);
INSERT INTO regression_series (regression, position, series) VALUES (1, 0, 1), (2, 0, 2), (3, 0, 1);
INSERT INTO regression_change (regression, state, at_us, evidence) VALUES
  (1, 'suspected', 0, '{"stage": "screening"}'), (2, 'suspected', 0, '{"stage": "creep"}'),
  (2, 'dismissed', 1, '{"stage": "confirmation"}'), (3, 'bisecting', 0, '{"reason": "a further culprit"}');
INSERT INTO note (name, value) VALUES ('calibration/2', '{"saved": 12.5, "number": 7}'),
  ('calibration/9', '{"saved": 1, "number": 1}'), ('replays', '{"night": 2, "left": [3, 1]}'),
  ('scheduled-night', '2026-08-20');
)";

}  // namespace

TEST_CASE("what was read out of keys, evidence and notes is in columns after the migration") {
  Folder folder;
  const auto path = folder.path / "old.db";
  {
    const auto old = connect(path, Access::create);
    migrate(*old, 11);
    old->execute(state_in_text);
  }
  Database db = Database::open_writer(path);

  Statement jobs(db, "SELECT id, repeats FROM job ORDER BY id");
  std::map<std::int64_t, std::int64_t> repeats;
  while (jobs.step()) {
    const auto id = jobs.next<std::int64_t>();
    repeats[id] = jobs.next<std::int64_t>();
  }
  CHECK(repeats ==
        std::map<std::int64_t, std::int64_t>{{1, 0}, {2, 0}, {3, 0}, {4, 3}, {5, 3}, {6, 0}});
  CHECK(to_us(find_regression(db, RegressionId{2})->updated_at) == 1);  // of its second change
  CHECK(to_us(find_regression(db, RegressionId{3})->updated_at) == 0);
  Statement compared(db, "SELECT job, workload, good, bad, round FROM confirmation_job");
  std::vector<std::vector<int>> rows;
  while (compared.step())
    rows.push_back({compared.next<int>(), compared.next<int>(), compared.next<int>(),
                    compared.next<int>(), compared.next<int>()});
  CHECK(rows == std::vector<std::vector<int>>{{2, 6, 1, 2, 1}, {3, 6, 1, 2, 2}, {6, 6, 1, 2, 2}});
  CHECK(find_regression(db, RegressionId{1})->found_by == FoundBy::screening);
  CHECK(find_regression(db, RegressionId{2})->found_by == FoundBy::creep);
  CHECK(find_regression(db, RegressionId{3})->found_by == FoundBy::search);
  CHECK(calibration_budget(db, MachineId{2}).saved_seconds == 12.5);
  CHECK(calibration_budget(db, MachineId{2}).cases == 7);
  CHECK(calibration_budget(db, MachineId{1}).cases == 0);
  CHECK_FALSE(replays_are_queued(db, NightId{1}));
  CHECK(replays_are_queued(db, NightId{2}));
  CHECK(next_replay(db, NightId{2}) == SeriesId{3});
  dequeue_replay(Autocommit(db), NightId{2}, SeriesId{3});
  CHECK(next_replay(db, NightId{2}) == SeriesId{1});
  CHECK(db.impl().ask("SELECT count(*) FROM note") == 1);
  CHECK(get_note(db, "scheduled-night") == "2026-08-20");
}

namespace {

// A search of five commits, of which none between the ends could be measured.
constexpr const char* search_without_causes = R"(
INSERT INTO build (id, kind, version, variant, date, url, commit_sha, state, reason, found_at_us) VALUES
  (3, 'overlay', '1+a', 'cpu', '', '', printf('%040d', 2), 'proved', '', 0),
  (4, 'overlay', '1+b', 'cpu', '', '', printf('%040d', 3), 'proved', '', 0),
  (5, 'overlay', '1+c', 'cpu', '', '', printf('%040d', 4), 'proved', '', 0);
INSERT INTO bisection (id, regression, series, state, good, bad, posterior, started_at_us)
  VALUES (1, 3, 1, 'culprit', 1, 2, '[]', 0);
INSERT INTO bisection_commit (bisection, position, commit_sha)
  SELECT 1, value, printf('%040d', value) FROM json_each('[0, 1, 2, 3, 4, 5]');
INSERT INTO job (id, key, night, machine, kind, spec, state, priority, attempt, reason, created_at_us)
  VALUES (9, 'bisection:1/step:0', 2, 1, 'bisect', '{}', 'done', 0, 1, '', 0);
INSERT INTO bisection_job (bisection, job, session) VALUES (1, 9, 0);
INSERT INTO run (job, position, build, workload, status, reason, warmup_iterations, started_at_us, seconds, cpu_seconds,
  wait_seconds) VALUES (9, 0, 3, 6, 'broken_environment', 'ImportError: x', 0, 0, 0, x'', x''),
  (9, 1, 4, 6, 'crashed', 'signal 11', 0, 0, 0, x'', x''), (9, 2, 5, 6, 'unavailable', 'no module y', 0, 0, 0, x'', x'');
INSERT INTO bisection_untestable (bisection, position, reason) VALUES
  (1, 1, 'c10/y.h differs from 2.15.0 and needs a native build'), (1, 2, 'ImportError: x'), (1, 3, 'signal 11'),
  (1, 4, 'no module y');
)";

}  // namespace

TEST_CASE("untestable commits get the cause that their sentence and their runs tell") {
  using enum UntestableCause;
  Folder folder;
  const auto path = folder.path / "old.db";
  {
    const auto old = connect(path, Access::create);
    migrate(*old, 11);
    old->execute(state_in_text);
    migrate(*old, 12);
    old->execute(search_without_causes);
  }
  Database db = Database::open_writer(path);
  std::vector<UntestableCause> causes;
  for (const Untestable& commit : untestable_of(db, BisectionId{1})) causes.push_back(commit.cause);
  CHECK(causes == std::vector{no_build_here, does_not_import, does_not_run, infrastructure});
  Bisection search = *find_bisection(db, BisectionId{1});
  search.state = BisectionState::range;
  update_bisection(Autocommit(db), search);
  Regression regression = *find_regression(db, RegressionId{3});
  regression.range = Culprit{{commit('c')}, .99, 1.25, 1.2, 1.3};
  nightjar::test::change_to_any(Autocommit(db), regression, {RegressionState::range, at(30), "{}"});
  CHECK(find_regression(db, RegressionId{3})->range->commits == std::vector{commit('c')});
  CHECK_FALSE(find_regression(db, RegressionId{3})->culprit);
}

TEST_CASE(
    "machines that differ by an update are one class, and the one used last keeps its levels") {
  Folder folder;
  const auto path = folder.path / "old.db";
  {
    const auto old = connect(path, Access::create);
    migrate(*old, 20);
    old->execute(R"(
INSERT INTO machine (id, fingerprint, facts) VALUES
  (1, printf('%064d', 1), '{"cpu_model":"EPYC","kernel":"6.1"}'),
  (2, printf('%064d', 2), '{"cpu_model":"EPYC","kernel":"6.8"}'),
  (3, printf('%064d', 3), '{"cpu_model":"Xeon","kernel":"6.8"}');
INSERT INTO runner (id, name, machine, labels, workloads, version, seen_at_us)
  VALUES (1, 'lab', 2, '{}', '[]', '1', 0);
INSERT INTO night (id, trigger, state, reason, started_at_us) VALUES (1, 'api', 'done', '', 0);
INSERT INTO job (id, key, night, machine, kind, spec, state, priority, attempt, reason, created_at_us, runner)
  VALUES (1, 'a', 1, 1, 'screen', '{}', 'done', 0, 1, '', 5, 1), (2, 'b', 1, 2, 'screen', '{}', 'done', 0, 1, '', 9, 1);
)");
  }
  Database db = Database::open_writer(path);
  const std::map<std::string, std::string> updated{{"cpu_model", "EPYC"}, {"kernel", "6.12"}};
  const MachineClass machine =
      intern_machine(Autocommit(db), {{}, *Sha256::parse(std::string(64, 'a')), updated});
  CHECK(machine.id == MachineId{2});
  CHECK(machine.facts == updated);
  CHECK(find_machine(db, MachineId{1})->facts.at("kernel") == "6.1");
  intern_facts(Autocommit(db), machine, at(20));
  std::vector<std::string> kernels;
  for (const MachineFacts& facts : facts_of_machine(db, machine.id))
    kernels.push_back(facts.facts.at("kernel"));
  CHECK(kernels == std::vector<std::string>{"6.8", "6.12"});
  const auto measured = facts_of_sessions(db, NightId{1}, machine.id);
  REQUIRE(measured.size() == 1);
  CHECK(find_facts(db, *measured.begin())->facts.at("kernel") == "6.8");
  CHECK(find_runner(db, "lab")->facts == *measured.begin());
}

// Regression 1 is shown on classes 1 and 2, where 2 joined it two nights later. Class 3 made a
// level in its night, class 4 measured another model, and class 5 measured for the first time.
TEST_CASE("affected machine classes are filled from series, merged regressions and levels") {
  Folder folder;
  const auto path = folder.path / "old.db";
  {
    const auto old = connect(path, Access::create);
    migrate(*old, 24);
    old->execute(R"(
INSERT INTO build (id, kind, version, variant, date, url, state, reason, found_at_us)
SELECT value, 'nightly', value, 'cpu', '2026-08-1' || value, 'u', 'proved', '', 0
FROM json_each('[1, 2, 3, 4]');
INSERT INTO machine (id, fingerprint, facts, class)
SELECT value, printf('%064d', value), iif(value = 2, '{"gpu": "NVIDIA H100, NVIDIA H100"}', '{}'), value
FROM json_each('[1, 2, 3, 4, 5]');
INSERT INTO workload (id, name, version) VALUES (1, 'python/dlrm/eval/cpu/fp32/b1/eager', 1),
  (2, 'native/dlrm/train/cpu/fp32/b1/eager', 1), (3, 'python/gpt2/eval/cpu/fp32/b1/eager', 1);
INSERT INTO series (id, workload, metric, machine, variant) VALUES (1, 1, 'latency', 1, 'cpu'),
  (2, 1, 'latency', 2, 'cpu'), (3, 2, 'latency', 3, 'cpu'), (4, 3, 'latency', 4, 'cpu'),
  (5, 1, 'latency', 5, 'cpu'), (6, 2, 'latency', 1, 'cpu');
INSERT INTO night (id, trigger, state, build, reason, started_at_us)
SELECT value, 'api', 'done', value, '', 0 FROM json_each('[1, 2, 3, 4]');
INSERT INTO level (series, build, night, value, runs) VALUES (3, 1, 1, 1, 5), (3, 2, 2, 1, 5),
  (4, 1, 1, 1, 5), (4, 2, 2, 1, 5), (5, 2, 2, 1, 5);
INSERT INTO regression (id, state, night, machine, good, bad, lead, part, merged_into, fingerprint,
  issue_url, opened_at_us, updated_at_us) VALUES
  (1, 'reported', 2, 1, 1, 2, 1, 0, NULL, 'f', '', 0, 0),
  (2, 'merged', 4, 2, 3, 4, 2, 0, 1, '', '', 0, 0);
INSERT INTO regression_series (regression, position, series, ratio, low, high) VALUES
  (1, 0, 1, 1.2, 1.1, 1.3), (1, 1, 6, 1.9, 1.8, 2), (1, 2, 2, 1.4, 1.3, 1.5), (2, 0, 2, 1.4, 1.3, 1.5);
)");
  }
  const Database db = Database::open_writer(path);
  const auto classes = affected_classes(db, RegressionId{1});
  REQUIRE(classes.size() == 3);
  CHECK(classes[0].state == ClassState::seen);
  CHECK(classes[0].first_seen == NightId{2});
  CHECK(classes[0].ratio == 1.2);
  CHECK(classes[1].state == ClassState::seen);
  CHECK(classes[1].first_seen == NightId{4});
  CHECK(classes[1].high == 1.5);
  CHECK(classes[1].gpu == "NVIDIA H100");
  CHECK(classes[2].machine == MachineId{3});
  CHECK(classes[2].state == ClassState::not_seen);
  CHECK_FALSE(classes[2].ratio);
  const auto merged = affected_classes(db, RegressionId{2});
  REQUIRE(merged.size() == 1);
  CHECK(merged[0].machine == MachineId{2});
}

TEST_CASE("open sessions get the variant of their builds; others may go to any runner") {
  Folder folder;
  const auto path = folder.path / "old.db";
  {
    const auto old = connect(path, Access::create);
    migrate(*old, 27);
    old->execute(R"(
INSERT INTO build (id, kind, version, variant, date, url, state, reason, found_at_us) VALUES
  (1, 'nightly', '1', 'cpu', '2026-08-20', 'u', 'proved', '', 0),
  (2, 'nightly', '1', 'cu130', '2026-08-20', 'v', 'proved', '', 0);
INSERT INTO machine (id, fingerprint, facts) VALUES (1, printf('%064d', 1), '{}');
INSERT INTO night (id, trigger, state, build, reason, started_at_us) VALUES (1, 'api', 'measuring', 1, '', 0);
INSERT INTO job (id, key, night, machine, kind, spec, state, priority, attempt, reason, created_at_us)
SELECT key + 1, key, 1, 1, iif(key = 2, 'build', 'screen'), value, iif(key = 3, 'done', 'queued'), 0, 0, '', 0
FROM json_each('[{"environments": [{"build": 2}, {"build": 1}]}, {"environments": [{"build": 1}]},
  {"environments": []}, {"environments": [{"build": 2}]}]');
)");
  }
  const Database db = Database::open_writer(path);
  Statement find(db, "SELECT variant FROM job ORDER BY id");
  std::vector<std::optional<std::string>> variants;
  while (find.step()) variants.push_back(find.next<std::optional<std::string>>());
  CHECK(variants ==
        std::vector<std::optional<std::string>>{"cu130", "cpu", std::nullopt, std::nullopt});
}

TEST_CASE("every table is strict") {
  Database db = Database::open_writer(":memory:");
  CHECK(db.impl().ask("SELECT count(*) FROM pragma_table_list WHERE schema = 'main' AND strict = 0 "
                      "AND name NOT LIKE 'sqlite%'") == 0);
}

namespace {

// The names in `CHECK (column IN ('a', 'b'))` of a table, joined as enum_names joins them.
std::string checked(Database& db, const std::string& table, const std::string& column) {
  Statement find(db, "SELECT sql FROM sqlite_master WHERE name = ?");
  if (!find.bind(table).step()) return "no such table";
  const auto sql = find.next<std::string>();
  std::smatch found;
  if (!std::regex_search(sql, found, std::regex("\\b" + column + " IN \\(([^)]*)\\)")))
    return "no such check";
  const auto names = std::regex_replace(found[1].str(), std::regex("'"), "");
  return std::regex_replace(names, std::regex("\\s+"), " ");
}

}  // namespace

TEST_CASE("the columns of enums take exactly the enumerators") {
  Database db = Database::open_writer(":memory:");
  const auto matches = [&](auto value, const char* table, const char* column) {
    INFO(table << '.' << column);
    CHECK(checked(db, table, column) == enum_names(value));
  };
  matches(BuildKind{}, "build", "kind");
  matches(BuildState{}, "build", "state");
  matches(NightTrigger{}, "night", "trigger");
  matches(NightState{}, "night", "state");
  matches(JobKind{}, "job", "kind");
  matches(JobState{}, "job", "state");
  matches(RunStatus{}, "run", "status");
  matches(Accuracy{}, "run", "accuracy");
  matches(RegressionState{}, "regression", "state");
  matches(FoundBy{}, "regression", "found_by");
  matches(RegressionState{}, "regression_change", "state");
  matches(ClassState{}, "regression_class", "state");
  matches(BisectionState{}, "bisection", "state");
  matches(UntestableCause{}, "bisection_untestable", "cause");
  matches(FixNotSearched{}, "fix_search", "not_searched");
  matches(OutboxKind{}, "outbox", "kind");
  matches(OutboxState{}, "outbox", "state");
}

TEST_CASE("garbage in an enum's column is refused") {
  Story story;
  story.suspect();
  for (const char* sql :
       {"UPDATE build SET kind = 'weird'", "UPDATE build SET state = ''",
        "UPDATE night SET trigger = 'moon'", "UPDATE night SET state = 'Done'",
        "UPDATE job SET kind = 'x'", "UPDATE job SET state = 'x'", "UPDATE run SET status = 'x'",
        "UPDATE regression SET state = 'x'", "UPDATE regression_change SET state = NULL"}) {
    INFO(sql);
    CHECK_THROWS_AS(story.db.impl().execute(sql), Error);
  }
  CHECK_THROWS_WITH(story.db.impl().execute("UPDATE run SET seconds = 'long'"),
                    Catch::Contains("cannot store TEXT"));
  CHECK_THROWS_WITH(story.db.impl().execute("UPDATE job SET night = 77"),
                    Catch::Contains("FOREIGN KEY"));
  CHECK_THROWS_AS(story.db.impl().execute("UPDATE regression_change SET evidence = '{'"), Error);
}

TEST_CASE("people's dismissals of before are rulings, and say whether the level was accepted") {
  Folder folder;
  const auto path = folder.path / "old.db";
  {
    const auto old = connect(path, Access::create);
    migrate(*old, 11);
    old->execute(state_in_text);
    migrate(*old, 24);
    old->execute(R"(
UPDATE regression SET state = 'dismissed';
INSERT INTO regression_change (regression, state, at_us, evidence) VALUES (3, 'confirmed', 1, '{}');
INSERT INTO audit (at_us, actor, action, subject) VALUES
  (50, 'token:ops', 'dismiss-regression', 'regression/3'), (60, 'token:ops', 'dismiss-regression', 'regression/1'),
  (70, 'token:ops', 'tell-cause', 'regression/2'), (80, 'token:ops', 'dismiss-regression', 'regression/77');
INSERT INTO mark (at_us, actor, after_night, workload, metric, reason) VALUES (50, 'token:ops', 2, '**', '*', 'x');)");
  }
  Database db = Database::open_writer(path);
  Statement find(db, "SELECT regression, kind, confirmed FROM ruling ORDER BY regression");
  std::vector<std::tuple<int, std::string, bool>> rulings;
  while (find.step()) {
    const auto regression = find.next<int>();
    const auto kind = find.next<std::string>();
    rulings.emplace_back(regression, kind, find.next<bool>());
  }
  CHECK(rulings == std::vector<std::tuple<int, std::string, bool>>{{1, "no_regression", false},
                                                                   {3, "meant", true}});
}
