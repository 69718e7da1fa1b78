#include "storage/ci_lookups.hpp"

#include "storage/paging.hpp"
#include "storage/text_map.hpp"

namespace nightjar::storage {
namespace {

#define CI_LOOKUP_SELECT                                                                    \
  "SELECT id, commit_sha, variant, native_state, state, fetch, urgent, reason, looked_at, " \
  "bytes, failures, build, wanted_at_us, looked_at_us, retry_at_us FROM ci_lookup"

CiLookup read_lookup(Statement& row) {
  return {row.next<std::int64_t>(),
          row.next<CommitSha>(),
          row.next<std::string>(),
          row.next<std::optional<Sha256>>(),
          row.next<CiLookupState>(),
          row.next<bool>(),
          row.next<bool>(),
          row.next<std::string>(),
          row.next<std::string>(),
          row.next<std::int64_t>(),
          row.next<int>(),
          row.next<std::optional<BuildId>>(),
          row.next<Time>(),
          row.next<std::optional<Time>>(),
          row.next<std::optional<Time>>()};
}

}  // namespace

CiLookup want_ci_wheel(Transaction& transaction, const CiLookup& wanted) {
  Statement(transaction,
            "INSERT INTO ci_lookup (commit_sha, variant, native_state, state, fetch, urgent, "
            "reason, looked_at, bytes, failures, wanted_at_us, retry_at_us) "
            "VALUES (?, ?, ?, 'wanted', ?, ?, '', '', 0, 0, ?, ?) "
            "ON CONFLICT (commit_sha, variant) DO UPDATE SET fetch = max(fetch, excluded.fetch), "
            "urgent = max(urgent, excluded.urgent), retry_at_us = "
            "iif(state = 'found' AND excluded.fetch = 1, excluded.retry_at_us, retry_at_us)")
      .bind(wanted.commit, wanted.variant, wanted.native_state, wanted.fetch, wanted.urgent,
            wanted.wanted_at, wanted.wanted_at)
      .run();
  auto stored = find_ci_lookup(transaction, wanted.commit, wanted.variant);
  return *std::move(stored);
}

void note_ci_look(Transaction& transaction, const CiLookup& lookup) {
  Statement(transaction,
            "UPDATE ci_lookup SET state = ?, reason = ?, looked_at = ?, bytes = ?, failures = ?, "
            "build = ?, looked_at_us = ?, retry_at_us = "
            "iif(? = 'found' AND fetch = 1, ?, ?) WHERE id = ?")
      .bind(lookup.state, lookup.reason, lookup.looked_at, lookup.bytes, lookup.failures,
            lookup.build, lookup.looked_at_time, lookup.state, lookup.looked_at_time,
            lookup.retry_at, lookup.id)
      .run();
}

std::optional<CiLookup> find_ci_lookup(const Database& db, const CommitSha& commit,
                                       std::string_view variant) {
  Statement find(db, CI_LOOKUP_SELECT " WHERE commit_sha = ? AND variant = ?");
  return read_one(find.bind(commit, variant), read_lookup);
}

std::optional<CiLookup> next_ci_lookup(const Database& db, const std::vector<std::string>& variants,
                                       Time now) {
  Statement find(db, CI_LOOKUP_SELECT
                 " WHERE retry_at_us <= ? AND " IS_AMONG("variant") " "
                 "ORDER BY urgent DESC, fetch DESC, retry_at_us, id LIMIT 1");
  const std::string among = to_text(variants);  // bound as it is, without a copy
  return read_one(find.bind(now, among), read_lookup);
}

std::vector<BuildId> ci_builds_of_open_searches(const Database& db) {
#define LOOKUPS_OF_OPEN_SEARCHES                                    \
  " FROM bisection JOIN bisection_commit AS tried "                 \
  "ON tried.bisection = bisection.id AND bisection.state = 'open' " \
  "JOIN ci_lookup AS own ON own.commit_sha = tried.commit_sha "
  Statement find(db, "SELECT own.build" LOOKUPS_OF_OPEN_SEARCHES
                     "WHERE own.build IS NOT NULL UNION SELECT same.build" LOOKUPS_OF_OPEN_SEARCHES
                     "JOIN ci_lookup AS same ON same.native_state = own.native_state "
                     "WHERE same.build IS NOT NULL");
#undef LOOKUPS_OF_OPEN_SEARCHES
  return read_all(find, [](Statement& row) { return row.next<BuildId>(); });
}

Page<CiLookup> list_ci_lookups(const Database& db, const PageRequest& page) {
  return Query(CI_LOOKUP_SELECT).page<CiLookup>(db, page, read_lookup);
}

}  // namespace nightjar::storage
