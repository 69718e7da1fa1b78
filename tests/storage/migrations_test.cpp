#include "storage/migrations.hpp"

#include <csignal>
#include <fstream>
#include <regex>
#include <sstream>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "storage/affected_classes.hpp"
#include "storage/bisections.hpp"
#include "storage/fixes.hpp"
#include "storage/jobs.hpp"
#include "storage/package_searches.hpp"
#include "storage/regressions.hpp"
#include "storage/runners.hpp"
#include "storage/statement.hpp"
#include "tests/storage/story.hpp"
#include "tests/support/autocommit.hpp"
#include "tests/support/source_tree.hpp"

using namespace nightjar;
using namespace nightjar::storage;
using namespace nightjar::storage::test;

namespace {

// Without comments and line breaks.
std::vector<std::string> schema_of(Database& db) {
  std::vector<std::string> schema;
  Statement find(db, "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY type, name");
  while (find.step()) {
    const auto bare = std::regex_replace(find.next<std::string>(), std::regex("--[^\n]*"), "");
    schema.push_back(std::regex_replace(bare, std::regex("\\s+"), " "));
  }
  return schema;
}

// The oldest file that is read, with one measured night in it.
std::filesystem::path oldest(const Folder& folder) {
  const auto path = folder.path / "old.db";
  std::ifstream file(nightjar::test::source_tree() / "tests/storage/data/rows_38.sql");
  std::ostringstream rows;
  rows << file.rdbuf();
  const auto old = connect(path, Access::create);
  old->execute("PRAGMA auto_vacuum = INCREMENTAL");
  migrate(*old, 38);
  old->execute(rows.str().c_str());
  return path;
}

}  // namespace

TEST_CASE("a file of the oldest version is migrated and keeps what it holds") {
  Folder folder;
  const auto path = oldest(folder);
  CHECK_THROWS_WITH(Database::open_reader(path),
                    Catch::Contains("has schema version 38, 46 is wanted; start nightjard"));

  Database db = Database::open_writer(path);
  CHECK(db.schema_version() == 46);
  Database fresh = Database::open_writer(":memory:");
  CHECK(schema_of(db) == schema_of(fresh));

  const auto job = find_job(db, "night/1");
  REQUIRE(job);
  const auto session = session_of(db, job->id);
  REQUIRE(session);
  CHECK(session->runs.size() == 6);
  CHECK(session->runs[2].samples.at("latency") == std::vector{2.5, 1.25, 1.25});
  CHECK(list_regressions(db, {}, {}).items.size() == 1);
  const auto search = find_bisection(db, BisectionId{1});
  REQUIRE(search);
  CHECK(search->posterior == std::vector<CellMass>{{1, 1, .75}, {2, 2, .25}});
  CHECK(search->outcome == SearchOutcome::several_small);
  CHECK(search->found == std::vector<NamedStep>{{1, 1, .75, 1.25, 1.125, 1.5, false}});
  CHECK(changes_of(db, RegressionId{1}).back().evidence.rule == "three steps together");
  const auto packages = find_package_search(db, PackageSearchId{1});
  REQUIRE(packages);
  CHECK(packages->posterior == std::vector<CellMass>{{1, 2, .5}});
  CHECK(packages->found == std::vector<NamedStep>{{1, 2, .5, 1.25, 1.125, 1.5}});
  CHECK(jobs_of_package_search(db, packages->id).size() == 1);
  set_note(Autocommit(db), "migrated", "yes");
  CHECK(get_note(db, "migrated") == "yes");
}

TEST_CASE("before a file is migrated, a backup of its version is made beside it") {
  Folder folder;
  const auto path = oldest(folder);
  { Database::open_writer(path); }
  {
    const auto backup = connect(path.string() + ".before-v38", Access::write);
    CHECK(schema_version_of(*backup) == 38);
    CHECK(backup->ask("SELECT count(*) FROM regression") == 1);
  }
  { Database::open_writer(folder.path / "new.db"); }
  { Database::open_writer(folder.path / "new.db"); }
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path), {}) == 3);
}

// In a process of its own, which may write no file larger than 40 KiB.
TEST_CASE("without room for a backup nothing is migrated") {
  Folder folder;
  const auto path = oldest(folder);
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
  CHECK(schema_version_of(*connect(path, Access::write)) == 38);
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
                                      Catch::Contains("knows versions up to 46") &&
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

TEST_CASE("a file of a program before the first release is refused") {
  Folder folder;
  const auto path = folder.path / "a.db";
  {
    Database db = Database::open_writer(path);
    db.impl().execute("PRAGMA user_version = 37");
  }
  CHECK_THROWS_WITH(Database::open_writer(path),
                    Catch::Contains("has schema version 37") &&
                        Catch::Contains("this one reads versions from 38 on"));
}

TEST_CASE("a migration that fails leaves the file as it was") {
  Database db = Database::open_writer(":memory:");
  db.impl().execute("PRAGMA user_version = 38");  // the index that comes next is in the way
  CHECK_THROWS_WITH(migrate(db.impl(), 39), Catch::Contains("already exists"));
  CHECK(db.schema_version() == 38);
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
