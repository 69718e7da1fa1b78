#include <fstream>

#include <catch2/catch.hpp>

#include "storage/statement.hpp"
#include "tests/storage/story.hpp"
#include "tests/support/autocommit.hpp"

using namespace nightjar;
using namespace nightjar::storage;
using namespace nightjar::storage::test;

TEST_CASE("a backup holds everything that was committed and opens like any file") {
  Folder folder;
  Story story(folder.path / "a.db");
  const Job job = story.measure("a");
  story.db.backup(folder.path / "b.db");
  Database copy = Database::open_writer(folder.path / "b.db");
  CHECK(session_of(copy, job.id)->runs.size() == 6);
  CHECK(copy.impl().ask("SELECT count(*) FROM pragma_integrity_check "
                        "WHERE integrity_check <> 'ok'") == 0);
  CHECK_FALSE(std::filesystem::exists(folder.path / "b.db.partial"));
}

TEST_CASE("a backup by a reader does not wait for the writer, nor the writer for it") {
  Folder folder;
  Story story(folder.path / "a.db");
  Database reader = Database::open_reader(folder.path / "a.db");
  {
    Transaction writing(story.db);
    set_note(Autocommit(story.db), "half", "written");
    reader.backup(folder.path / "b.db");
    set_note(Autocommit(story.db), "other half", "written");
    writing.commit();
  }
  reader.backup(folder.path / "c.db");
  Database before = Database::open_reader(folder.path / "b.db");
  Database after = Database::open_reader(folder.path / "c.db");
  CHECK_FALSE(get_note(before, "half"));
  CHECK(get_note(after, "half"));
  CHECK(get_note(after, "other half"));
}

TEST_CASE("a backup replaces no file, but what an interrupted one left") {
  Folder folder;
  Story story(folder.path / "a.db");
  std::ofstream(folder.path / "b.db") << "mine";
  CHECK_THROWS_WITH(story.db.backup(folder.path / "b.db"), Catch::Contains("exists already"));
  std::ofstream(folder.path / "c.db.partial") << "half a backup";
  story.db.backup(folder.path / "c.db");
  CHECK(find_night(*std::make_unique<Database>(Database::open_reader(folder.path / "c.db")),
                   story.night.id));
}

TEST_CASE("a backup that cannot be written says where, and leaves nothing") {
  Folder folder;
  Story story;
  const auto to = folder.path / "none" / "b.db";
  CHECK_THROWS_WITH(story.db.backup(to), Catch::Contains(to.string()));
  CHECK(std::filesystem::is_empty(folder.path));
}
