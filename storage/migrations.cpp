#include "storage/migrations.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <sqlite3.h>

#include "storage/base/foreign_text.hpp"
#include "storage/statement.hpp"

namespace nightjar::storage {
namespace {

constexpr int schema_version_of_file = 38;  // the version that schema.sql is

constexpr Migration migration_table[] = {
#include "migrations.inc"
};
constexpr int known = std::end(migration_table)[-1].number;

constexpr bool numbered_without_gap() {
  for (int i = 0; i < static_cast<int>(std::size(migration_table)); ++i)
    if (migration_table[i].number != schema_version_of_file + i) return false;
  return true;
}
static_assert(numbered_without_gap(), "migrations/*.sql must be numbered from schema.sql's on");

constexpr std::int64_t application = 0x4e4a4152;  // "NJAR", in the file's header

}  // namespace

int schema_version_of(Database::Impl& connection) {
  const auto version = static_cast<int>(connection.ask("PRAGMA user_version"));
  const bool ours = connection.ask("PRAGMA application_id") == application;
  if (!ours && (version != 0 || connection.ask("SELECT count(*) FROM sqlite_master") != 0))
    throw Error(connection.path + " is a database of another program; name another file");
  if (version > known)
    throw Error(connection.path + " has schema version " + std::to_string(version) +
                ", this program knows versions up to " + std::to_string(known) +
                "; start the newer nightjard that wrote it, or restore a backup");
  if (version != 0 && version < schema_version_of_file)
    throw Error(connection.path + " has schema version " + std::to_string(version) +
                ", of a program before the first release; this one reads versions from " +
                std::to_string(schema_version_of_file) + " on");
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
      connection.execute(("PRAGMA application_id = " + std::to_string(application)).c_str());
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

int newest_schema() {
  return known;
}

void migrate(Database::Impl& connection, int last) {
  const int found = schema_version_of(connection);
  // A table is rebuilt by copy, drop and rename, which enforcement would forbid; checked in
  // apply(). A constraint is changed in place (writable_schema), which defensive mode would forbid.
  connection.execute("PRAGMA foreign_keys = OFF");
  sqlite3_db_config(connection.connection, SQLITE_DBCONFIG_DEFENSIVE, 0, nullptr);
  for (const Migration& migration : migration_table)
    if (migration.number > found && migration.number <= last) apply(connection, migration);
  sqlite3_db_config(connection.connection, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  connection.execute("PRAGMA foreign_keys = ON");
}

namespace {

// SQL without comments, and with one space for any other, but none beside a bracket or a comma:
// where a column was added later there is one. Texts and names in quotes stay.
std::string bare(std::string_view sql) {
  constexpr std::string_view apart = "(),";
  std::string out;
  while (!sql.empty()) {
    const char c = sql[0];
    std::size_t size = 1;
    if (c == '\'' || c == '"' || c == '`' || c == '[')
      size = std::min(sql.find(c == '[' ? ']' : c, 1), sql.size() - 1) + 1;
    if (sql.starts_with("--")) {
      sql.remove_prefix(std::min(sql.find('\n'), sql.size()));
      continue;
    }
    if (apart.find(c) != apart.npos && out.ends_with(' ')) out.pop_back();
    if (size > 1 || !std::isspace(static_cast<unsigned char>(c)))
      out += sql.substr(0, size);
    else if (!out.empty() && out.back() != ' ' && apart.find(out.back()) == apart.npos)
      out += ' ';
    sql.remove_prefix(size);
  }
  return out;
}

// What the file defines: "table 'build'" to its SQL. The statistics that ANALYZE makes are left
// out.
std::map<std::string, std::string> schema_of(Database::Impl& connection) {
  Statement find(connection,
                 "SELECT type, name, tbl_name, coalesce(sql, '') FROM sqlite_master WHERE "
                 "coalesce(sql, '') NOT IN ('CREATE TABLE sqlite_stat1(tbl,idx,stat)', "
                 "'CREATE TABLE sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)')");
  std::map<std::string, std::string> schema;
  while (find.step()) {
    const auto type = find.next<std::string>(), name = find.next<std::string>(),
               table = find.next<std::string>();
    schema[one_line(type) + " " + in_quotes(name)] += table + ": " + bare(find.next<std::string>());
  }
  return schema;
}

}  // namespace

void require_own_schema(Database::Impl& connection) {
  const int version = schema_version_of(connection);
  const auto fresh = connect(":memory:", Access::create);
  if (version > 0) migrate(*fresh, version);
  const auto found = schema_of(connection), wanted = schema_of(*fresh);
  const auto refuse = [&](const std::string& what) {
    throw Error(connection.path + " " + what + " schema version " + std::to_string(version) +
                ", so somebody changed it; do not use it");
  };
  for (const auto& [name, sql] : found) {
    const auto same = wanted.find(name);
    if (same == wanted.end()) refuse("has " + name + ", which is not in");
    if (same->second != sql) refuse("has another " + name + " than");
  }
  for (const auto& [name, sql] : wanted)
    if (!found.contains(name)) refuse("lacks " + name + " of");
}

void require_current(Database::Impl& connection) {
  const int found = schema_version_of(connection);
  if (found != known)
    throw Error(connection.path + " has schema version " + std::to_string(found) + ", " +
                std::to_string(known) + " is wanted; start nightjard once to migrate it");
}

}  // namespace nightjar::storage
