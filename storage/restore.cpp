#include "storage/restore.hpp"

#include <algorithm>

#include "storage/base/files.hpp"
#include "storage/connection.hpp"
#include "storage/migrations.hpp"

namespace nightjar::storage {
namespace fs = std::filesystem;
namespace {

fs::path beside(const fs::path& file, const std::string& suffix) {
  return file.string() + suffix;
}

void remove_files(const fs::path& database) {
  for (const char* part : {"", "-journal", "-wal", "-shm"}) fs::remove(beside(database, part));
}

void move(const fs::path& from, const fs::path& to) {
  if (fs::exists(from)) fs::rename(from, to);
}

// The copy with what its own write-ahead log holds, as one file.
void make_ready(const fs::path& copy, const fs::path& ready) {
  remove_files(ready);
  fs::copy_file(copy, ready);
  if (fs::exists(beside(copy, "-wal"))) fs::copy_file(beside(copy, "-wal"), beside(ready, "-wal"));
  {
    const auto connection = connect(ready, Access::write);
    connection->path = copy.string();  // what errors name
    if (schema_version_of(*connection) == 0) throw Error(copy.string() + " is an empty database");
    connection->require_sound("integrity_check");
    require_own_schema(*connection);
    connection->execute("PRAGMA journal_mode = DELETE");
  }
  sync(ready);
}

fs::path free_name(const fs::path& database, Time now) {
  std::string stamp = to_rfc3339(now).substr(0, 19);
  std::erase_if(stamp, [](char c) { return c == '-' || c == ':'; });
  const std::string name = database.string() + ".replaced-" + stamp;
  fs::path free = name;
  for (int i = 2; fs::exists(free) || fs::exists(beside(free, "-wal")); ++i)
    free = name + "." + std::to_string(i);
  return free;
}

}  // namespace

fs::path restoring_file(const fs::path& database) {
  return beside(database, ".restoring");
}

std::optional<fs::path> restore(const fs::path& copy, const fs::path& database, Time now) {
  const fs::path ready = restoring_file(database);
  const std::string attempt = "cannot restore " + copy.string() + ": ";
  if (!fs::is_regular_file(copy)) throw Error(attempt + "there is no such file");
  for (const fs::path& ours : {database, ready})
    if (fs::exists(ours) && fs::equivalent(copy, ours))
      throw Error(attempt + "it is the database itself; name a copy");
  try {
    make_ready(copy, ready);
  } catch (const std::exception& error) {
    remove_files(ready);
    throw Error(attempt + error.what() + "; " + database.string() + " is as it was");
  }
  const bool replaces = fs::exists(database);
  const fs::path kept = free_name(database, now);
  // The database first: without it open_writer() sees that the restore is not complete.
  move(database, kept);
  for (const char* log : {"-wal", "-journal"}) move(beside(database, log), beside(kept, log));
  fs::remove(beside(database, "-shm"));
  sync(fs::absolute(database).parent_path());
  move_durably(ready, database);
  return replaces ? std::optional(kept) : std::nullopt;
}

}  // namespace nightjar::storage
