#include "storage/fixes.hpp"

#include "storage/commits.hpp"
#include "storage/paging.hpp"

namespace nightjar::storage {
namespace {

#define FIX_SELECT                                                                               \
  "SELECT id, night, machine, before, build, series, opened_at_us, not_searched, evidence FROM " \
  "fix_search"

using FixCauseId = Id<struct FixCauseTag>;

std::vector<NamedCause> causes_of_fix(const Database& db, FixId fix) {
  Statement find(db,
                 "SELECT id, is_range, probability, ratio, low, high FROM fix_cause "
                 "WHERE fix_search = ? ORDER BY id");
  return read_all(find.bind(fix), [&db](Statement& row) {
    NamedCause cause;
    cause.commits.commits = read_commits(db, "fix_cause", row.next<FixCauseId>());
    cause.is_range = row.next<bool>();
    cause.commits.probability = row.next<double>();
    cause.commits.ratio = row.next<double>();
    cause.commits.low = row.next<double>();
    cause.commits.high = row.next<double>();
    return cause;
  });
}

auto fix_reader(const Database& db) {
  return [&db](Statement& row) {
    FixSearch fix;
    fix.id = row.next<FixId>();
    fix.night = row.next<NightId>();
    fix.machine = row.next<MachineId>();
    fix.before = row.next<std::optional<BuildId>>();
    fix.build = row.next<BuildId>();
    fix.series = row.next<SeriesId>();
    fix.opened_at = row.next<Time>();
    fix.not_searched = row.next<std::optional<FixNotSearched>>();
    fix.evidence = row.next<std::string>();
    fix.causes = causes_of_fix(db, fix.id);
    return fix;
  };
}

}  // namespace

FixSearch add_fix_search(Transaction& transaction, const FixSearch& fix) {
  Statement(transaction,
            "INSERT INTO fix_search (night, machine, before, build, series, opened_at_us, "
            "not_searched, evidence) VALUES (?, ?, ?, ?, ?, ?, ?, '') ON CONFLICT DO NOTHING")
      .bind(fix.night, fix.machine, fix.before, fix.build, fix.series, fix.opened_at,
            fix.not_searched)
      .run();
  auto stored = fix_search_of(transaction, fix.build, fix.machine);
  return *std::move(stored);
}

void end_fix_search(Transaction& transaction, const FixSearch& fix) {
  Statement end(transaction, "UPDATE fix_search SET evidence = ? WHERE id = ? AND evidence = ''");
  end.bind(fix.evidence, fix.id).run();
  if (end.changes() != 1)
    throw Error("the search for fix " + std::to_string(fix.id.value) + " has ended before");
  for (const NamedCause& cause : fix.causes) {
    Statement insert(transaction,
                     "INSERT INTO fix_cause (fix_search, is_range, probability, ratio, low, high) "
                     "VALUES (?, ?, ?, ?, ?, ?)");
    const Culprit& named = cause.commits;
    insert.bind(fix.id, cause.is_range, named.probability, named.ratio, named.low, named.high)
        .run();
    write_commits(transaction, "fix_cause", FixCauseId{insert.inserted_id()}, named.commits);
  }
}

std::optional<FixSearch> find_fix_search(const Database& db, FixId id) {
  Statement find(db, FIX_SELECT " WHERE id = ?");
  return read_one(find.bind(id), fix_reader(db));
}

std::optional<FixSearch> fix_search_of(const Database& db, BuildId build, MachineId machine) {
  Statement find(db, FIX_SELECT " WHERE build = ? AND machine = ?");
  return read_one(find.bind(build, machine), fix_reader(db));
}

}  // namespace nightjar::storage
