#include "storage/database.hpp"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <sqlite3.h>

#include "storage/migrations.hpp"
#include "storage/model/variants.hpp"
#include "storage/model/workload.hpp"
#include "storage/natural_order.hpp"
#include "storage/restore.hpp"
#include "storage/statement.hpp"

namespace nightjar::storage {
namespace {

constexpr const char* how_to_restore =
    "restore a sound backup: nightjard --config FILE --restore COPY";

std::string_view text_of(sqlite3_value* value) {
  const auto* text = reinterpret_cast<const char*>(sqlite3_value_text(value));
  return {text ? text : "", static_cast<std::size_t>(sqlite3_value_bytes(value))};
}

// SQL: glob_match(glob, text), as the model defines it.
void sql_glob_match(sqlite3_context* context, int, sqlite3_value** arguments) {
  try {
    sqlite3_result_int(context, glob_match(text_of(arguments[0]), text_of(arguments[1])) ? 1 : 0);
  } catch (const std::bad_alloc&) {
    sqlite3_result_error_nomem(context);
  }
}

// SQL: measures(label or NULL, variant, usual), as the model defines it.
void sql_measures(sqlite3_context* context, int, sqlite3_value** arguments) {
  const bool has_label = sqlite3_value_type(arguments[0]) != SQLITE_NULL;
  const auto label = has_label ? std::optional(text_of(arguments[0])) : std::nullopt;
  sqlite3_result_int(context,
                     measures(label, text_of(arguments[1]), text_of(arguments[2])) ? 1 : 0);
}

// SQL: ORDER BY version COLLATE by_number; 2.10 comes after 2.9. Used in queries, never in an
// index.
int sql_natural(void*, int left_size, const void* left, int right_size, const void* right) {
  return natural_compare({static_cast<const char*>(left), static_cast<std::size_t>(left_size)},
                         {static_cast<const char*>(right), static_cast<std::size_t>(right_size)});
}

int note_commit(void* connection) {
  auto& impl = *static_cast<Database::Impl*>(connection);
  ++impl.commits;
  if (impl.trouble && !impl.trouble->damaged) impl.trouble.reset();
  return 0;
}

std::string advice(int code) {
  switch (code & 0xff) {
    case SQLITE_FULL:
      return "; free disk space, then it goes on";
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return "; another process holds the file: is a second nightjard running?";
    case SQLITE_CANTOPEN:
      return "; check that the folder exists and its permissions";
    case SQLITE_READONLY:
      return "; check the file's and its folder's permissions";
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
      return std::string("; ") + how_to_restore;
    default:
      return "";
  }
}

bool is_damage(int code) {
  return (code & 0xff) == SQLITE_CORRUPT || (code & 0xff) == SQLITE_NOTADB;
}

bool is_of_disk(int code) {
  return (code & 0xff) == SQLITE_FULL || (code & 0xff) == SQLITE_IOERR;
}

// The checks report a page that the disk did not give as they report a damaged one; some of their
// words stand for either.
bool may_be_unread(const std::string& found) {
  for (const char* either : {"failed to get page", "Failed to read ptrmap"})
    if (found.find(either) != std::string::npos) return true;
  const std::string name = "error code=";
  const auto at = found.find(name);
  return at != std::string::npos && is_of_disk(std::atoi(found.c_str() + at + name.size()));
}

void use_wal(Database::Impl& connection) {
  std::string mode;
  {
    Statement pragma(connection, "PRAGMA journal_mode = WAL");
    if (pragma.step()) mode = pragma.next<std::string>();
  }
  if (mode != "wal" && mode != "memory")
    throw Error(connection.path +
                ": SQLite cannot use its write-ahead log there (journal mode is " + mode +
                "); put the file on a local disk");
}

// An empty database in place of one that was being restored would look like a fresh start.
void refuse_half_restored(const std::filesystem::path& path) {
  if (!std::filesystem::exists(path) && std::filesystem::exists(restoring_file(path)))
    throw Error("restoring " + path.string() +
                " was interrupted; run nightjard --config FILE --restore COPY again");
}

void back_up_before_migrating(const Database::Impl& connection, int version) {
  const std::string to = connection.path + ".before-v" + std::to_string(version);
  try {
    copy_database(connection, to);
  } catch (const Error& error) {
    throw Error("cannot migrate " + connection.path + " from schema version " +
                std::to_string(version) + " because no backup could be made: " + error.what());
  }
}

// A file that was restored may hold more than the schema: triggers and views would run at our
// statements. We have none, so none run.
void distrust_schema(sqlite3* connection) {
  for (const auto& [option, value] :
       {std::pair(SQLITE_DBCONFIG_ENABLE_TRIGGER, 0), std::pair(SQLITE_DBCONFIG_ENABLE_VIEW, 0),
        std::pair(SQLITE_DBCONFIG_DEFENSIVE, 1)})
    sqlite3_db_config(connection, option, value, nullptr);
}

}  // namespace

std::unique_ptr<Database::Impl> connect(const std::filesystem::path& path, Access access) {
  // Nobody asks how much memory SQLite has, and counting it takes a lock of the whole process at
  // each allocation. Only a program that has used SQLite already keeps on counting.
  static const int uncounted = sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
  static_cast<void>(uncounted);
  auto impl = std::make_unique<Database::Impl>();
  impl->path = path.string();
  int flags = SQLITE_OPEN_NOMUTEX;
  flags |= access == Access::read ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE;
  if (access == Access::create) flags |= SQLITE_OPEN_CREATE;
  if (sqlite3_open_v2(impl->path.c_str(), &impl->connection, flags, nullptr) != SQLITE_OK)
    impl->fail("open");
  sqlite3_extended_result_codes(impl->connection, 1);
  sqlite3_busy_timeout(impl->connection, 10'000);
  distrust_schema(impl->connection);
  sqlite3_create_function_v2(impl->connection, "glob_match", 2, SQLITE_UTF8 | SQLITE_DETERMINISTIC,
                             nullptr, sql_glob_match, nullptr, nullptr, nullptr);
  sqlite3_create_function_v2(impl->connection, "measures", 3, SQLITE_UTF8 | SQLITE_DETERMINISTIC,
                             nullptr, sql_measures, nullptr, nullptr, nullptr);
  sqlite3_create_collation_v2(impl->connection, "by_number", SQLITE_UTF8, nullptr, sql_natural,
                              nullptr);
  sqlite3_commit_hook(impl->connection, note_commit, impl.get());
  return impl;
}

Database::Impl::~Impl() {
  for (auto& [sql, statements] : idle)
    for (sqlite3_stmt* statement : statements) sqlite3_finalize(statement);
  sqlite3_close_v2(connection);
}

void Database::Impl::execute(const char* sql) {
  if (sqlite3_exec(connection, sql, nullptr, nullptr, nullptr) != SQLITE_OK) fail(sql);
}

std::int64_t Database::Impl::ask(std::string_view sql) {
  Statement statement(*this, sql);
  return statement.step() ? statement.next<std::int64_t>() : 0;
}

void Database::Impl::fail(std::string_view sql) const {
  const int code = connection ? sqlite3_extended_errcode(connection) : SQLITE_NOMEM;
  const std::string what(path + ": " + (connection ? sqlite3_errmsg(connection) : "out of memory") +
                         " (SQLite error " + std::to_string(code) + ") in '" + std::string(sql) +
                         "'" + advice(code));
  const bool damaged = is_damage(code);
  if (damaged || (is_of_disk(code) && !(trouble && trouble->damaged)))
    trouble = Trouble{damaged, what};
  if (damaged) throw Damaged(what);
  throw Error(what);
}

void Database::Impl::require_sound(std::string_view pragma) {
  Statement check(*this, "PRAGMA " + std::string(pragma) + "(1)");
  std::string found = check.step() ? check.next<std::string>() : "nothing";
  if (found == "ok") return;
  if (found.starts_with("***")) found.erase(0, found.find('\n') + 1);  // a heading
  found.resize(std::min(found.find('\n'), found.size()));
  if (may_be_unread(found))
    throw Error(path + " could not be read (" + found +
                "); check its disk and start again; if it stays so, " + how_to_restore);
  throw Damaged(path + " is damaged (" + found + "); " + how_to_restore);
}

Database::Database(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Database::Database(Database&&) noexcept = default;
Database& Database::operator=(Database&&) noexcept = default;
Database::~Database() = default;

Database Database::open_writer(const std::filesystem::path& path) {
  refuse_half_restored(path);
  auto impl = connect(path, Access::create);
  const int found =
      schema_version_of(*impl);  // refuses what is not ours before anything is written
  // Must come before the first table: with tables, the whole file would have to be rewritten.
  if (found == 0) impl->execute("PRAGMA auto_vacuum = INCREMENTAL");
  impl->require_sound("quick_check");
  require_own_schema(*impl);
  if (found > 0 && found < newest_schema()) back_up_before_migrating(*impl, found);
  use_wal(*impl);
  // FULL: what was acknowledged to a runner survives a power cut too. A session is one transaction,
  // so this costs one sync of the disk a session.
  impl->execute(
      "PRAGMA synchronous = FULL; PRAGMA cache_size = -8000;"
      "PRAGMA journal_size_limit = 67108864");
  migrate(*impl, newest_schema());
  return Database(std::move(impl));
}

Database Database::open_reader(const std::filesystem::path& path) {
  auto impl = connect(path, Access::read);
  require_current(*impl);
  return Database(std::move(impl));
}

std::int64_t Database::data_version() const {
  // SQLite's own counts the commits of every other connection, but not those of this one.
  const auto others = static_cast<std::uint64_t>(impl_->ask("PRAGMA data_version"));
  return static_cast<std::int64_t>(others << 32 | impl_->commits);
}

int Database::schema_version() const {
  return static_cast<int>(impl_->ask("PRAGMA user_version"));
}

std::optional<Trouble> trouble_of(const Database& db) {
  return db.impl().trouble;
}

Transaction::Transaction(Database& database) : database_(database), depth_(database.impl().depth) {
  Database::Impl& impl = database_.impl();
  // SQLite itself begins a reader's transaction and fails at its first write only.
  if (sqlite3_db_readonly(impl.connection, "main") == 1)
    throw Error(impl.path + " was opened for reading: nothing can be written through it");
  Statement(impl, depth_ == 0 ? "BEGIN IMMEDIATE" : "SAVEPOINT nested").run();
  ++impl.depth;
}

Transaction::~Transaction() {
  if (!open_) return;
  Database::Impl& impl = database_.impl();
  impl.depth = depth_;
  // After some errors (disk full) SQLite has rolled the whole transaction back by itself.
  if (sqlite3_get_autocommit(impl.connection)) return;
  const char* sql = depth_ == 0 ? "ROLLBACK" : "ROLLBACK TO nested; RELEASE nested";
  sqlite3_exec(impl.connection, sql, nullptr, nullptr, nullptr);
}

void Transaction::commit() {
  if (sqlite3_get_autocommit(database_.impl().connection))
    throw Error(database_.impl().path + ": the transaction was rolled back by an earlier error");
  Statement(database_.impl(), depth_ == 0 ? "COMMIT" : "RELEASE nested").run();
  open_ = false;
  database_.impl().depth = depth_;
}

}  // namespace nightjar::storage
