#include "storage/widening.hpp"

#include "storage/paging.hpp"

namespace nightjar::storage {

void add_widening(Transaction& transaction, const Widening& widening) {
  Statement(transaction,
            "INSERT INTO search_widening (bisection, at_us, actor, reason, outcome, good, "
            "posterior, runs, sessions, spent_seconds, finished_at_us, max_runs, max_minutes, "
            "threshold) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
      .bind(widening.bisection, widening.at, widening.actor, widening.reason, widening.outcome,
            widening.good, widening.posterior, widening.runs, widening.sessions,
            widening.spent_seconds, widening.finished_at, widening.max_runs, widening.max_minutes,
            widening.threshold)
      .run();
}

std::vector<Widening> widening_history(const Database& db, BisectionId id) {
  Statement find(db,
                 "SELECT bisection, at_us, actor, reason, outcome, good, posterior, runs, "
                 "sessions, spent_seconds, finished_at_us, max_runs, max_minutes, threshold "
                 "FROM search_widening WHERE bisection = ? ORDER BY id");
  return read_all(find.bind(id), [](Statement& row) {
    Widening widening;
    widening.bisection = row.next<BisectionId>();
    widening.at = row.next<Time>();
    widening.actor = row.next<std::string>();
    widening.reason = row.next<std::string>();
    widening.outcome = row.next<BisectionState>();
    widening.good = row.next<BuildId>();
    widening.posterior = row.next<std::string>();
    widening.runs = row.next<int>();
    widening.sessions = row.next<int>();
    widening.spent_seconds = row.next<double>();
    widening.finished_at = row.next<Time>();
    widening.max_runs = row.next<int>();
    widening.max_minutes = row.next<int>();
    widening.threshold = row.next<std::optional<double>>();
    return widening;
  });
}

}  // namespace nightjar::storage
