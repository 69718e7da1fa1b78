#include "storage/migrations.hpp"

namespace nightjar::storage {
namespace {

constexpr int kSchema = 38;  // the version that schema.sql is

constexpr Migration kMigrations[] = {
#include "migrations.inc"
};
constexpr int kKnown = std::end(kMigrations)[-1].number;

constexpr bool numbered_without_gap() {
  for (int i = 0; i < static_cast<int>(std::size(kMigrations)); ++i)
    if (kMigrations[i].number != kSchema + i) return false;
  return true;
}
static_assert(numbered_without_gap(), "migrations/*.sql must be numbered from schema.sql's on");

constexpr std::int64_t kApplication = 0x4e4a4152;  // "NJAR", in the file's header

}  // namespace

int schema_version_of(Database::Impl& connection) {
  const auto version = static_cast<int>(connection.ask("PRAGMA user_version"));
  const bool ours = connection.ask("PRAGMA application_id") == kApplication;
  if (!ours && (version != 0 || connection.ask("SELECT count(*) FROM sqlite_master") != 0))
    throw Error(connection.path + " is a database of another program; name another file");
  if (version > kKnown)
    throw Error(connection.path + " has schema version " + std::to_string(version) +
                ", this program knows versions up to " + std::to_string(kKnown) +
                "; start the newer nightjard that wrote it, or restore a backup");
  if (version != 0 && version < kSchema)
    throw Error(connection.path + " has schema version " + std::to_string(version) +
                ", of a program before the first release; this one reads versions from " +
                std::to_string(kSchema) + " on");
  return version;
}

namespace {

void apply(Database::Impl& connection, const Migration& migration) {
  connection.execute("BEGIN IMMEDIATE");
  try {
    // Another process may have been faster: look again, now that nobody else writes.
    if (schema_version_of(connection) < migration.number) {
      connection.execute(migration.sql);
      if (connection.ask("SELECT count(*) FROM pragma_foreign_key_check") != 0)
        throw Error(connection.path + ": migration " + std::to_string(migration.number) + " (" +
                    migration.name + ") would leave rows that refer to nothing");
      connection.execute(("PRAGMA application_id = " + std::to_string(kApplication)).c_str());
      connection.execute(("PRAGMA user_version = " + std::to_string(migration.number)).c_str());
    }
    connection.execute("COMMIT");
  } catch (...) {
    try {
      connection.execute("ROLLBACK");
    } catch (const Error&) {
      // SQLite has rolled back already; the first error says why.
    }
    throw;
  }
}

}  // namespace

void require_plain(Database::Impl& connection) {
  if (connection.ask("SELECT count(*) FROM sqlite_master "
                     "WHERE type IN ('trigger', 'view') OR sql LIKE 'CREATE VIRTUAL%'") != 0)
    throw Error(connection.path +
                " has triggers, views or virtual tables, which no database of Nightjar has; do not "
                "use it");
}

int newest_schema() {
  return kKnown;
}

void migrate(Database::Impl& connection, int last) {
  const int found = schema_version_of(connection);
  // A table is rebuilt by copy, drop and rename, which enforcement would forbid; checked in
  // apply().
  connection.execute("PRAGMA foreign_keys = OFF");
  for (const Migration& migration : kMigrations)
    if (migration.number > found && migration.number <= last) apply(connection, migration);
  connection.execute("PRAGMA foreign_keys = ON");
}

void require_current(Database::Impl& connection) {
  const int found = schema_version_of(connection);
  if (found != kKnown)
    throw Error(connection.path + " has schema version " + std::to_string(found) + ", " +
                std::to_string(kKnown) + " is wanted; start nightjard once to migrate it");
}

}  // namespace nightjar::storage
