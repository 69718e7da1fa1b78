#include <sqlite3.h>
#include <system_error>

#include "storage/base/files.hpp"
#include "storage/connection.hpp"

namespace nightjar::storage {
namespace fs = std::filesystem;
namespace {

// Copies in one step: a single read snapshot, during which others go on writing to the log.
void copy(const Database::Impl& from, Database::Impl& to) {
  sqlite3_backup* backup = sqlite3_backup_init(to.connection, "main", from.connection, "main");
  if (!backup) to.fail("backup");
  sqlite3_backup_step(backup, -1);
  if (sqlite3_backup_finish(backup) != SQLITE_OK) to.fail("backup");
}

}  // namespace

void copy_database(const Database::Impl& from, const fs::path& to) {
  const fs::path partial = to.string() + ".partial";
  std::error_code failed;
  fs::remove(partial, failed);  // of a backup that was interrupted
  try {
    const auto copied = connect(partial, Access::create);
    copy(from, *copied);
    copied->require_sound("quick_check");
  } catch (const Error&) {
    for (const char* part : {"", "-journal", "-wal", "-shm"})
      fs::remove(partial.string() + part, failed);
    throw;
  }
  try {
    move_durably(partial, to);
  } catch (const std::system_error& error) {
    throw Error("backup to " + to.string() + ": " + error.what());
  }
}

void Database::backup(const fs::path& to) const {
  if (fs::exists(to)) throw Error("backup to " + to.string() + ": exists already; name a new file");
  copy_database(*impl_, to);
}

}  // namespace nightjar::storage
