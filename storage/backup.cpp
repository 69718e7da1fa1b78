#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

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

void sync_path(const fs::path& path, int flags) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | flags);
  const bool synced = descriptor >= 0 && ::fsync(descriptor) == 0;
  const std::error_code error(errno, std::generic_category());
  if (descriptor >= 0) ::close(descriptor);
  if (!synced) throw Error("cannot sync " + path.string() + ": " + error.message());
}

}  // namespace

void sync_file(const fs::path& file) {
  sync_path(file, 0);
}

void sync_folder_of(const fs::path& file) {
  sync_path(file.has_parent_path() ? file.parent_path() : fs::path("."), O_DIRECTORY);
}

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
  sync_file(partial);
  fs::rename(partial, to, failed);
  if (failed) throw Error("backup to " + to.string() + ": " + failed.message());
  sync_folder_of(to);
}

void Database::backup(const fs::path& to) const {
  if (fs::exists(to)) throw Error("backup to " + to.string() + ": exists already; name a new file");
  copy_database(*impl_, to);
}

}  // namespace nightjar::storage
