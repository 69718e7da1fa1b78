#include "storage/restore.hpp"

#include <csignal>
#include <fstream>
#include <sqlite3.h>
#include <sys/wait.h>

#include <catch2/catch.hpp>

#include "storage/statement.hpp"
#include "storage/trouble.hpp"
#include "tests/storage/story.hpp"
#include "tests/support/autocommit.hpp"

using namespace nightjar;
using namespace nightjar::storage;
using namespace nightjar::storage::test;
namespace fs = std::filesystem;

namespace {

const Time tonight = *parse_rfc3339("2026-08-20T20:00:00Z");

// Makes a database that has `note`; its backup is `<path>.bak`.
fs::path noted(const fs::path& path, const std::string& note) {
  Database db = Database::open_writer(path);
  set_note(Autocommit(db), "note", note);
  db.backup(path.string() + ".bak");
  return path.string() + ".bak";
}

std::string note_in(const fs::path& path) {
  Database db = Database::open_writer(path);
  return get_note(db, "note").value_or("none");
}

// Writes in a process of its own that is killed, so that the write-ahead log stays as it is.
void write_and_die(const fs::path& path, const std::string& note) {
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    Database db = Database::open_writer(path);
    set_note(Autocommit(db), "note", note);
    ::raise(SIGKILL);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(fs::file_size(path.string() + "-wal") > 0);
}

void overwrite_page(const fs::path& path, std::streamoff page) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(page * 4096);
  file << std::string(4096, 'x');
}

std::string error_of(const fs::path& copy, const fs::path& database) {
  try {
    restore(copy, database, tonight);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("a copy is restored beside the live log of a killed writer, and what was there is kept") {
  Folder folder;
  const auto path = folder.path / "nightjar.sqlite";
  const auto copy = noted(path, "old");
  write_and_die(path, "new");
  const auto kept = restore(copy, path, tonight);
  REQUIRE(kept);
  CHECK(kept->filename() == "nightjar.sqlite.replaced-20260820T200000");
  CHECK(fs::exists(copy));
  CHECK_FALSE(fs::exists(path.string() + "-wal"));
  CHECK_FALSE(fs::exists(path.string() + "-shm"));
  CHECK(note_in(path) == "old");
  CHECK(note_in(*kept) == "new");
}

TEST_CASE("what was moved aside can itself be restored, with what only its log holds") {
  Folder folder;
  const auto path = folder.path / "nightjar.sqlite";
  const auto copy = noted(path, "old");
  write_and_die(path, "new");
  const auto first = restore(copy, path, tonight);
  const auto second = restore(*first, path, tonight);
  CHECK(note_in(path) == "new");
  CHECK(second->filename() == "nightjar.sqlite.replaced-20260820T200000.2");
}

TEST_CASE("a copy is restored where no database is") {
  Folder folder;
  const auto copy = noted(folder.path / "a.db", "old");
  CHECK_FALSE(restore(copy, folder.path / "b.db", tonight));
  CHECK(note_in(folder.path / "b.db") == "old");
}

TEST_CASE("a copy that is no sound database of ours is refused, and nothing changes") {
  Folder folder;
  const auto path = folder.path / "nightjar.sqlite";
  const auto copy = noted(path, "mine");
  std::string reason;
  SECTION("damaged") {
    overwrite_page(copy, 3);
    reason = "is damaged";
  }
  SECTION("no database") {
    std::ofstream(copy) << "a letter to a friend";
    reason = "file is not a database";
  }
  SECTION("empty") {
    std::ofstream(copy, std::ios::trunc).close();
    reason = "empty database";
  }
  SECTION("of a newer program") {
    Database::open_writer(copy).impl().execute("PRAGMA user_version = 99");
    reason = "has schema version 99";
  }
  SECTION("of another program") {
    Database::open_writer(copy).impl().execute("PRAGMA application_id = 7");
    reason = "of another program";
  }
  SECTION("not there") {
    fs::remove(copy);
    reason = "no such file";
  }
  const std::string error = error_of(copy, path);
  CHECK_THAT(error, Catch::StartsWith("cannot restore " + copy.string()));
  CHECK_THAT(error, Catch::Contains(reason));
  CHECK(note_in(path) == "mine");
  CHECK_FALSE(fs::exists(restoring_file(path)));
}

TEST_CASE("a copy with another schema than its version has is refused, and told what differs") {
  Folder folder;
  const auto copy = noted(folder.path / "a.db", "here");
  const auto [sql, told] = GENERATE(table<const char*, const char*>({
      {"CREATE TRIGGER t AFTER INSERT ON audit BEGIN UPDATE note SET value = 'x'; END",
       "has trigger 't', which is not in schema version "},
      {"CREATE VIEW v AS SELECT * FROM note", "has view 'v', which"},
      {"CREATE VIRTUAL TABLE t USING rtree(id, a, b)", "has table 't', which"},
      {"CREATE INDEX \"i\n\" ON note (value)", "has index 'i ', which"},
      {"ALTER TABLE note ADD COLUMN more TEXT", "has another table 'note' than"},
      {"DROP INDEX build_by_commit", "lacks index 'build_by_commit' of"},
      {"PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = replace(sql, "
       "'''overlay''', '''over--' || char(10) || 'lay''') WHERE name = 'build'",
       "has another table 'build' than"},
  }));
  {
    const auto connection = connect(copy, Access::write);
    sqlite3_db_config(connection->connection, SQLITE_DBCONFIG_DEFENSIVE, 0, nullptr);
    connection->execute(sql);
  }
  CHECK_THAT(error_of(copy, folder.path / "b.db"), Catch::Contains(told));
  CHECK_FALSE(fs::exists(folder.path / "b.db"));
}

TEST_CASE("statistics of a copy, and how its schema is spaced, are no difference") {
  Folder folder;
  const auto copy = noted(folder.path / "a.db", "here");
  {
    const auto connection = connect(copy, Access::write);
    sqlite3_db_config(connection->connection, SQLITE_DBCONFIG_DEFENSIVE, 0, nullptr);
    connection->execute(
        "ANALYZE; PRAGMA writable_schema = ON;"
        "UPDATE sqlite_master SET sql = replace(sql, ',', ', -- a note' || char(10)) "
        "WHERE name = 'note';"
        // As SQLite leaves it where ADD COLUMN made columns one by one.
        "UPDATE sqlite_master SET sql = replace(replace(sql, ',', ' , '), ')', ' )') "
        "WHERE name = 'runner'");
  }
  CHECK_FALSE(restore(copy, folder.path / "b.db", tonight));
}

TEST_CASE("the database cannot be restored from itself") {
  Folder folder;
  const auto path = folder.path / "nightjar.sqlite";
  noted(path, "mine");
  CHECK_THAT(error_of(path, path), Catch::Contains("the database itself"));
  CHECK(note_in(path) == "mine");
}

TEST_CASE("after an interrupted restore nothing starts with an empty database") {
  Folder folder;
  const auto path = folder.path / "nightjar.sqlite";
  const auto copy = noted(path, "old");
  fs::copy_file(copy, restoring_file(path));
  CHECK(note_in(path) == "old");  // interrupted before the database was moved aside
  fs::remove(path);
  CHECK_THROWS_WITH(Database::open_writer(path),
                    Catch::Contains("was interrupted") && Catch::Contains("--restore"));
  restore(copy, path, tonight);
  CHECK(note_in(path) == "old");
}

TEST_CASE("a damaged file is not opened, and the error says how to restore") {
  Folder folder;
  const auto path = folder.path / "nightjar.sqlite";
  noted(path, "mine");
  overwrite_page(path, 3);
  CHECK_THROWS_WITH(Database::open_writer(path),
                    Catch::Contains(path.string() + " is damaged") &&
                        Catch::Contains("nightjard --config FILE --restore COPY"));
}

TEST_CASE("a backup of a damaged database is no backup") {
  Folder folder;
  const auto path = folder.path / "a.db";
  noted(path, "mine");
  overwrite_page(path, 3);
  CHECK_THROWS_WITH(Database::open_reader(path).backup(folder.path / "b.db"),
                    Catch::Contains("is damaged"));
  CHECK_FALSE(fs::exists(folder.path / "b.db"));
  CHECK_FALSE(fs::exists(folder.path / "b.db.partial"));
}

TEST_CASE("damage that a running writer meets is remembered with what to do") {
  Folder folder;
  const auto path = folder.path / "a.db";
  noted(path, "mine");
  Database db = Database::open_writer(path);
  CHECK_FALSE(trouble_of(db));
  const auto pages = db.impl().ask("PRAGMA page_count");
  for (std::int64_t page = 1; page < pages; ++page) overwrite_page(path, page);
  db.impl().execute("PRAGMA shrink_memory");  // or it would go on with what it has read
  CHECK_THROWS_AS(get_note(db, "note"), Error);
  REQUIRE(trouble_of(db));
  CHECK(trouble_of(db)->damaged);
  CHECK_THAT(trouble_of(db)->what, Catch::Contains("--restore"));
}

TEST_CASE("a full disk is remembered until something can be written again") {
  Folder folder;
  Database db = Database::open_writer(folder.path / "a.db");
  db.impl().execute(
      ("PRAGMA max_page_count = " + std::to_string(db.impl().ask("PRAGMA page_count"))).c_str());
  CHECK_THROWS_AS(set_note(Autocommit(db), "large", std::string(100'000, 'x')), Error);
  REQUIRE(trouble_of(db));
  CHECK_FALSE(trouble_of(db)->damaged);
  CHECK_THAT(trouble_of(db)->what, Catch::Contains("free disk space"));
  db.impl().execute("PRAGMA max_page_count = 1000000");
  set_note(Autocommit(db), "large", std::string(100'000, 'x'));
  CHECK_FALSE(trouble_of(db));
}
