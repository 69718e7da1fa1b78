#include "storage/database.hpp"

#include <fstream>

#include <catch2/catch.hpp>

#include "storage/statement.hpp"
#include "tests/storage/story.hpp"
#include "tests/support/autocommit.hpp"

using namespace nightjar;
using namespace nightjar::storage;
using namespace nightjar::storage::test;

TEST_CASE("a file is written as write-ahead log with foreign keys on and every commit synced") {
  Folder folder;
  Database db = Database::open_writer(folder.path / "a.db");
  Statement mode(db.impl(), "PRAGMA journal_mode");
  REQUIRE(mode.step());
  CHECK(mode.next<std::string>() == "wal");
  CHECK(db.impl().ask("PRAGMA foreign_keys") == 1);
  CHECK(db.impl().ask("PRAGMA synchronous") == 2);
  CHECK(db.schema_version() == 46);
}

TEST_CASE("a transaction that is not committed leaves nothing") {
  Database db = Database::open_writer(":memory:");
  {
    Transaction transaction(db);
    set_note(transaction, "a", "1");
  }
  CHECK_FALSE(get_note(db, "a"));
  {
    Transaction transaction(db);
    set_note(transaction, "a", "2");
    transaction.commit();
  }
  CHECK(get_note(db, "a") == "2");
}

TEST_CASE("a nested transaction rolls back alone, and its outer one takes it along") {
  Database db = Database::open_writer(":memory:");
  {
    Transaction outer(db);
    set_note(outer, "outer", "1");
    {
      Transaction lost(db);
      set_note(lost, "lost", "1");
    }
    {
      Transaction kept(db);
      set_note(kept, "kept", "1");
      kept.commit();
    }
    outer.commit();
  }
  CHECK(get_note(db, "outer"));
  CHECK_FALSE(get_note(db, "lost"));
  CHECK(get_note(db, "kept"));
  {
    Transaction outer(db);
    Transaction inner(db);
    set_note(inner, "gone", "1");
    inner.commit();
  }
  CHECK_FALSE(get_note(db, "gone"));
}

TEST_CASE("a reader sees what the writer has committed, and not before") {
  Folder folder;
  Story story(folder.path / "a.db");
  Database reader = Database::open_reader(folder.path / "a.db");
  {
    Transaction transaction(story.db);
    set_note(transaction, "a", "1");
    CHECK_FALSE(get_note(reader, "a"));
    transaction.commit();
  }
  CHECK(get_note(reader, "a") == "1");
  CHECK(find_build(reader, story.bad.id)->version == story.bad.version);
}

TEST_CASE("a reader cannot write") {
  Folder folder;
  Story story(folder.path / "a.db");
  Database reader = Database::open_reader(folder.path / "a.db");
  CHECK_THROWS_WITH(Transaction(reader), Catch::Contains("opened for reading"));
}

TEST_CASE("a statement that writes needs a transaction") {
  Database db = Database::open_writer(":memory:");
  CHECK_THROWS_AS(Statement(db, "DELETE FROM note"), std::logic_error);
  write(db, [](Transaction& transaction) { Statement(transaction, "DELETE FROM note").run(); });
}

TEST_CASE("the data version changes with every commit, whoever makes it") {
  Folder folder;
  Database writer = Database::open_writer(folder.path / "a.db");
  Database reader = Database::open_reader(folder.path / "a.db");
  const auto writers = writer.data_version(), readers = reader.data_version();
  CHECK(writer.data_version() == writers);
  CHECK(reader.data_version() == readers);
  set_note(Autocommit(writer), "a", "1");
  CHECK(writer.data_version() != writers);
  CHECK(reader.data_version() != readers);
  const auto later = reader.data_version();
  get_note(writer, "a");
  get_note(reader, "a");
  CHECK(reader.data_version() == later);
}

TEST_CASE("a file that cannot be opened says which and why") {
  Folder folder;
  const auto missing = folder.path / "no" / "such" / "folder" / "a.db";
  CHECK_THROWS_WITH(Database::open_writer(missing),
                    Catch::Contains(missing.string()) && Catch::Contains("check that the folder"));
  CHECK_THROWS_AS(Database::open_reader(folder.path / "a.db"), Error);
  CHECK_FALSE(std::filesystem::exists(folder.path / "a.db"));
  std::ofstream(folder.path / "text.db") << std::string(4096, 'x');
  CHECK_THROWS_WITH(Database::open_writer(folder.path / "text.db"),
                    Catch::Contains("file is not a database"));
}

TEST_CASE("a full disk is an error and loses nothing") {
  Folder folder;
  Story story(folder.path / "a.db");
  story.queue("a");
  const Job job = *story.claim();
  SessionResult large = Story::result();
  large.runs[1].samples["latency"].assign(200'000, 1.0);
  large.runs[1].wait_seconds.assign(200'000, 0.0);
  const auto pages = story.db.impl().ask("PRAGMA page_count");
  const auto most = story.db.impl().ask("PRAGMA max_page_count");
  story.db.impl().ask("PRAGMA max_page_count = " + std::to_string(pages + 40));
  CHECK_THROWS_WITH(
      store_result(Autocommit(story.db), job.id, job.attempt, large, at(10)),
      Catch::Contains("database or disk is full") && Catch::Contains("free disk space"));
  CHECK(find_job(story.db, job.id)->state == JobState::leased);
  CHECK(story.db.impl().ask("SELECT count(*) FROM run") == 0);
  CHECK(story.db.impl().ask("SELECT count(*) FROM series") == 0);

  story.db.impl().ask("PRAGMA max_page_count = " + std::to_string(most));
  CHECK(store_result(Autocommit(story.db), job.id, job.attempt, large, at(11)) == Accepted::stored);
  CHECK(session_of(story.db, job.id)->runs[1].samples["latency"].size() == 200'000);
}

TEST_CASE("a full disk in a nested transaction ends the outer one too") {
  Folder folder;
  Database db = Database::open_writer(folder.path / "a.db");
  const auto pages = db.impl().ask("PRAGMA page_count");
  db.impl().ask("PRAGMA max_page_count = " + std::to_string(pages + 5));
  {
    Transaction outer(db);
    set_note(outer, "a", "1");
    try {
      Transaction inner(db);
      set_note(inner, "b", std::string(1 << 20, 'x'));
      FAIL("a megabyte fits into five pages");
    } catch (const Error&) {
    }
  }
  CHECK_FALSE(get_note(db, "a"));
  set_note(Autocommit(db), "c", "1");
  CHECK(get_note(db, "c") == "1");
}

TEST_CASE("a statement in use twice at once is two statements") {
  Database db = Database::open_writer(":memory:");
  set_note(Autocommit(db), "a", "1");
  set_note(Autocommit(db), "b", "2");
  const char* sql = "SELECT name FROM note ORDER BY name";
  Statement outer(db, sql);
  int pairs = 0;
  while (outer.step()) {
    Statement inner(db, sql);
    while (inner.step()) ++pairs;
  }
  CHECK(pairs == 4);
}
