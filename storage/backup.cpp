#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include "storage/connection.hpp"

namespace nightjar::storage {
namespace {

// Copies in one step: a single read snapshot, during which others go on writing to the log.
void copy(const Database::Impl& from, Database::Impl& to) {
  sqlite3_backup* backup =
      sqlite3_backup_init(to.connection, "main", from.connection, "main");
  if (!backup) to.fail("backup");
  sqlite3_backup_step(backup, -1);
  if (sqlite3_backup_finish(backup) != SQLITE_OK) to.fail("backup");
}

void sync_folder(const std::filesystem::path& file) {
  const auto folder = file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  ::fsync(descriptor);
  ::close(descriptor);
}

}  // namespace

void Database::backup(const std::filesystem::path& to) const {
  namespace fs = std::filesystem;
  if (fs::exists(to)) throw Error("backup to " + to.string() + ": exists already; name a new file");
  const fs::path partial = to.string() + ".partial";
  std::error_code failed;
  fs::remove(partial, failed);  // of a backup that was interrupted
  try {
    Impl copied;
    copied.path = partial.string();
    if (sqlite3_open_v2(copied.path.c_str(), &copied.connection,
                        SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr) != SQLITE_OK)
      copied.fail("open");
    copy(*impl_, copied);
  } catch (const Error&) {
    fs::remove(partial, failed);
    throw;
  }
  fs::rename(partial, to, failed);
  if (failed) throw Error("backup to " + to.string() + ": " + failed.message());
  sync_folder(to);
}

}  // namespace nightjar::storage
