#include "storage/builds.hpp"

#include "storage/filtered.hpp"
#include "storage/paging.hpp"

namespace nightjar::storage {
namespace {

#define BUILD_COLUMNS                                                                        \
  "id, kind, version, variant, date, url, commit_sha, nightly_commit, sha256, base, state, " \
  "reason, found_at_us, python_tag, platform_tag, glibc, gpu_architectures, lock"

Build read_build(Statement& row) {
  return {row.next<BuildId>(),
          row.next<BuildKind>(),
          row.next<std::string>(),
          row.next<std::string>(),
          row.next<std::string>(),
          row.next<std::string>(),
          row.next<std::optional<CommitSha>>(),
          row.next<std::optional<CommitSha>>(),
          row.next<std::optional<Sha256>>(),
          row.next<std::optional<BuildId>>(),
          row.next<BuildState>(),
          row.next<std::string>(),
          row.next<Time>(),
          {row.next<std::optional<std::string>>(), row.next<std::optional<std::string>>(),
           row.next<std::optional<std::string>>(), row.next<std::optional<std::string>>()},
          row.next<std::optional<Sha256>>()};
}

// All columns but the id, in the order of `add_build` and `update_build`.
Statement& bind_build(Statement& statement, const Build& build) {
  return statement.bind(build.kind, build.version, build.variant, build.date, build.url,
                        build.commit, build.nightly_commit, build.sha256, build.base, build.state,
                        build.reason, build.found_at, build.needs.python_tag,
                        build.needs.platform_tag, build.needs.glibc, build.needs.gpu_architectures,
                        build.lock);
}

}  // namespace

Build add_build(Transaction& transaction, const Build& build) {
  Statement insert(
      transaction,
      "INSERT INTO build (kind, version, variant, date, url, commit_sha, nightly_commit, "
      "sha256, base, state, reason, found_at_us, python_tag, platform_tag, glibc, "
      "gpu_architectures, lock) "
      "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "
      "ON CONFLICT DO NOTHING");
  bind_build(insert, build).run();
  Statement find(transaction,
                 "SELECT " BUILD_COLUMNS
                 " FROM build WHERE version = ? AND variant = ? AND kind = ? AND url = ?");
  auto stored =
      read_one(find.bind(build.version, build.variant, build.kind, build.url), read_build);
  return *std::move(stored);
}

void update_build(Transaction& transaction, const Build& build) {
  Statement update(
      transaction,
      "UPDATE build SET kind = ?, version = ?, variant = ?, date = ?, url = ?, "
      "commit_sha = ?, nightly_commit = ?, sha256 = ?, base = ?, state = ?, reason = ?, "
      "found_at_us = ?, python_tag = ?, platform_tag = ?, glibc = ?, gpu_architectures = ?, "
      "lock = ? WHERE id = ?");
  bind_build(update, build).bind(build.id).run();
}

std::optional<Build> find_build(const Database& db, BuildId id) {
  Statement find(db, "SELECT " BUILD_COLUMNS " FROM build WHERE id = ?");
  return read_one(find.bind(id), read_build);
}

std::vector<Build> builds_in_state(const Database& db, BuildState state) {
  Statement find(db, "SELECT " BUILD_COLUMNS " FROM build WHERE state = ? ORDER BY id");
  return read_all(find.bind(state), read_build);
}

std::optional<Build> newest_proved(const Database& db, std::string_view variant) {
  Statement find(db, "SELECT " BUILD_COLUMNS
                     " FROM build WHERE state = 'proved' AND kind = 'nightly' AND variant = ? "
                     "ORDER BY date DESC, version COLLATE by_number DESC LIMIT 1");
  return read_one(find.bind(variant), read_build);
}

std::vector<Build> builds_of_commit(const Database& db, const CommitSha& commit) {
  Statement find(db, "SELECT " BUILD_COLUMNS " FROM build WHERE commit_sha = ? ORDER BY id DESC");
  return read_all(find.bind(commit), read_build);
}

std::optional<Build> crossed_build(const Database& db, BuildId base, const Sha256& lock) {
  Statement find(
      db, "SELECT " BUILD_COLUMNS " FROM build WHERE base = ? AND lock = ? AND kind = 'crossed'");
  return read_one(find.bind(base, lock), read_build);
}

std::vector<Build> overlays_of_commit(const Database& db, const CommitSha& commit,
                                      std::string_view variant) {
  Statement find(db, "SELECT " BUILD_COLUMNS
                     " FROM build WHERE commit_sha = ? AND variant = ? AND kind = 'overlay' "
                     "AND base IS NOT NULL ORDER BY id DESC");
  return read_all(find.bind(commit, variant), read_build);
}

std::vector<BuildId> bases_of_open_searches(const Database& db) {
  Statement find(db,
                 "SELECT DISTINCT build.base FROM bisection "
                 "JOIN bisection_commit AS tried ON tried.bisection = bisection.id "
                 "JOIN build ON build.commit_sha = tried.commit_sha "
                 "WHERE bisection.state = 'open' AND build.base IS NOT NULL");
  return read_all(find, [](Statement& row) { return row.next<BuildId>(); });
}

void add_commit_state(Transaction& transaction, const CommitState& state) {
  Statement(transaction,
            "INSERT INTO commit_state (commit_sha, rules, native_state, library_state) "
            "VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING")
      .bind(state.commit, state.rules, state.native, state.library)
      .run();
}

std::optional<CommitState> find_commit_state(const Database& db, const CommitSha& commit,
                                             int rules) {
  Statement find(db,
                 "SELECT commit_sha, rules, native_state, library_state FROM commit_state "
                 "WHERE commit_sha = ? AND rules = ?");
  return read_one(find.bind(commit, rules), [](Statement& row) -> CommitState {
    return {row.next<CommitSha>(), row.next<int>(), row.next<Sha256>(), row.next<Sha256>()};
  });
}

std::vector<Build> wheels_of_native_group(const Database& db, std::string_view variant,
                                          const CommitState& state) {
  Statement find(
      db,
      "SELECT " BUILD_COLUMNS
      " FROM build WHERE state = 'proved' AND kind NOT IN ('overlay', 'crossed') AND variant = ? "
      "AND commit_sha IN (SELECT commit_sha FROM commit_state "
      "WHERE native_state = ? AND rules = ?) ORDER BY id DESC");
  return read_all(find.bind(variant, state.native, state.rules), read_build);
}

std::vector<Build> wheels_of_same_libraries(const Database& db, std::string_view variant,
                                            const CommitState& state) {
  Statement find(
      db,
      "SELECT " BUILD_COLUMNS
      " FROM build WHERE state = 'proved' AND kind NOT IN ('overlay', 'crossed') AND variant = ? "
      "AND commit_sha IN (SELECT commit_sha FROM commit_state "
      "WHERE library_state = ? AND rules = ?) ORDER BY id DESC");
  return read_all(find.bind(variant, state.library, state.rules), read_build);
}

std::vector<Build> proved_wheels(const Database& db, std::string_view variant) {
  Statement find(
      db,
      "SELECT " BUILD_COLUMNS
      " FROM build WHERE state = 'proved' AND kind NOT IN ('overlay', 'crossed') AND variant = ? "
      "ORDER BY id DESC");
  return read_all(find.bind(variant), read_build);
}

Page<Build> list_builds(const Database& db, const PageRequest& page) {
  return list_builds(db, {}, page);
}

Page<Build> list_builds(const Database& db, const BuildFilter& filter, const PageRequest& page) {
  return Query("SELECT " BUILD_COLUMNS " FROM build")
      .filter(db, filter)
      .page<Build>(db, page, read_build);
}

}  // namespace nightjar::storage
