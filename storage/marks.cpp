#include "storage/marks.hpp"

#include <algorithm>

#include "storage/filtered.hpp"
#include "storage/many_series.hpp"
#include "storage/mark_rows.hpp"
#include "storage/paging.hpp"

namespace nightjar::storage {

Mark add_mark(Transaction& transaction, const Mark& mark) {
  Statement insert(
      transaction,
      "INSERT INTO mark (at_us, actor, after_night, machine, workload, metric, reason) "
      "VALUES (?, ?, ?, ?, ?, ?, ?)");
  insert
      .bind(mark.at, mark.actor, mark.after_night.value, mark.machine, mark.workload, mark.metric,
            mark.reason)
      .run();
  Mark stored = mark;
  stored.id = insert.inserted_id();
  return stored;
}

bool delete_mark(Transaction& transaction, std::int64_t id) {
  Statement erase(transaction, "DELETE FROM mark WHERE id = ?");
  erase.bind(id).run();
  return erase.changes() == 1;
}

std::optional<Mark> find_mark(const Database& db, std::int64_t id) {
  Statement find(db, MARK_SELECT " WHERE id = ?");
  return read_one(find.bind(id), read_mark);
}

Page<Mark> list_marks(const Database& db, const PageRequest& page) {
  return Query(MARK_SELECT).page<Mark>(db, page, read_mark);
}

NightId marked_until(const Database& db, const Series& series) {
  const auto last = last_marked(db, {series});
  return last.empty() ? NightId{} : last.begin()->second;
}

void add_improvement(Transaction& transaction, const Improvement& improvement) {
  Statement(transaction,
            "INSERT INTO improvement (night, series, build, before, after, at_us) "
            "VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (night, series) DO NOTHING")
      .bind(improvement.night, improvement.series, improvement.build, improvement.before,
            improvement.after, improvement.at)
      .run();
}

void delete_improvements(Transaction& transaction, NightId night) {
  Statement(transaction, "DELETE FROM improvement WHERE night = ?").bind(night).run();
}

void delete_improvement(Transaction& transaction, std::int64_t id) {
  Statement(transaction, "DELETE FROM improvement WHERE id = ?").bind(id).run();
}

std::vector<Improvement> improvements_of(const Database& db, SeriesId series) {
  Statement find(db, IMPROVEMENT_SELECT " WHERE series = ? ORDER BY id");
  return read_all(find.bind(series), read_improvement);
}

Page<Improvement> list_improvements(const Database& db, const PageRequest& page) {
  return list_improvements(db, {}, page);
}

Page<Improvement> list_improvements(const Database& db, const ImprovementFilter& filter,
                                    const PageRequest& page) {
  return Query(IMPROVEMENT_SELECT).filter(db, filter).page<Improvement>(db, page, read_improvement);
}

}  // namespace nightjar::storage
