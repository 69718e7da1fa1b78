// What a failing disk leaves, with the fault at each operation in turn.
#include <catch2/catch.hpp>

#include "storage/statement.hpp"
#include "tests/storage/story.hpp"
#include "tests/support/faulty_disk.hpp"

using namespace nightjar;
using namespace nightjar::storage;
using namespace nightjar::storage::test;

namespace {

constexpr int write_count = 6;

// A database that is migrated already, so that opening it takes few operations.
class Prepared {
 public:
  Prepared() : template_(folder_.path / "template.db") {
    const Database db = Database::open_writer(template_);
  }
  std::filesystem::path copy_to(const Folder& folder) const {
    const auto path = folder.path / "nightjar.db";
    std::filesystem::copy_file(template_, path);
    return path;
  }

 private:
  Folder folder_;
  std::filesystem::path template_;
};

// Several pages each, and a log so short that some of the writes are checkpoints, too.
void write_down(Database& db, int number) {
  db.impl().execute("PRAGMA wal_autocheckpoint = 16");
  write(db, [&](Transaction& transaction) {
    set_note(transaction, "number", std::to_string(number));
    set_note(transaction, "filler " + std::to_string(number % 4), std::string(9000, 'x'));
  });
}

int number_in(const Database& db) {
  return std::stoi(get_note(db, "number").value_or("0"));
}

// True if the power was cut at that change; then what was there afterwards is checked.
bool survives_cut_at(const Prepared& prepared, std::int64_t change, std::uint64_t seed) {
  const Folder folder;
  const auto path = prepared.copy_to(folder);
  FaultyDisk disk(path, seed);
  int acknowledged = 0;
  {
    Database db = Database::open_writer(path);
    disk.cut_power(change);
    try {
      while (acknowledged < write_count) {
        write_down(db, acknowledged + 1);
        ++acknowledged;
      }
    } catch (const Error&) {
      CHECK(disk.is_cut());
    }
  }
  if (!disk.is_cut()) return false;
  disk.restore_power();
  Database db = Database::open_writer(path);
  CHECK_NOTHROW(db.impl().require_sound("integrity_check"));
  INFO("cut at change " << change << ", seed " << seed);
  CHECK(number_in(db) >= acknowledged);
  CHECK(number_in(db) <= acknowledged + 1);
  write_down(db, 99);
  CHECK(number_in(db) == 99);
  return true;
}

}  // namespace

TEST_CASE("what was acknowledged survives a power cut at any change of the disk") {
  const Prepared prepared;
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    std::int64_t change = 0;
    while (survives_cut_at(prepared, change, seed)) ++change;
    CHECK(change > 5 * write_count);
  }
}

TEST_CASE(
    "a transaction that meets an error of the disk leaves all or nothing, and the next works") {
  const Prepared prepared;
  for (std::int64_t first = 0;; ++first) {
    const Folder folder;
    const auto path = prepared.copy_to(folder);
    FaultyDisk disk(path, 1);
    Database db = Database::open_writer(path);
    const std::int64_t before = disk.operations();
    disk.fail(first, 1);
    int acknowledged = 0;
    for (int number = 1; number <= write_count; ++number) try {
        write_down(db, number);
        acknowledged = number;
      } catch (const Error&) {
        CHECK(number_in(db) == acknowledged);
        CHECK_FALSE(trouble_of(db)->damaged);
      }
    INFO("failed at operation " << first);
    CHECK(acknowledged >= write_count - 1);
    CHECK(number_in(db) == acknowledged);
    CHECK_NOTHROW(db.impl().require_sound("integrity_check"));
    if (first > disk.operations() - before) break;
  }
}

TEST_CASE("a full disk loses nothing that was acknowledged, and it goes on when there is room") {
  const Prepared prepared;
  for (const std::int64_t first : {0, 1, 2, 3, 5, 8, 13, 21}) {
    const Folder folder;
    const auto path = prepared.copy_to(folder);
    FaultyDisk disk(path, 1);
    {
      Database db = Database::open_writer(path);
      disk.fill(first);
      int acknowledged = 0;
      for (int number = 1; number <= write_count; ++number) try {
          write_down(db, number);
          acknowledged = number;
        } catch (const Error& error) {
          CHECK_THAT(error.what(), Catch::Contains("free disk space"));
        }
      CHECK(number_in(db) == acknowledged);
      disk.make_room();
      write_down(db, 99);
    }
    CHECK(number_in(Database::open_writer(path)) == 99);
  }
}

TEST_CASE("a file that cannot be read for a moment is not taken for a damaged one") {
  const Prepared prepared;
  const Folder folder;
  const auto path = prepared.copy_to(folder);
  FaultyDisk disk(path, 1);
  int refused = 0;
  for (std::int64_t first = 0;; ++first) {
    const std::int64_t before = disk.operations();
    disk.fail(first, 1);
    INFO("failed at operation " << first);
    try {
      const Database db = Database::open_writer(path);
    } catch (const Damaged& error) {
      FAIL_CHECK(error.what());
    } catch (const Error&) {
      ++refused;
    }
    if (first > disk.operations() - before) break;
  }
  CHECK(refused > 10);
}
