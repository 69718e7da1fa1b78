// Puts a regression into a state without the changes that lead there.
#pragma once

#include "storage/regressions.hpp"
#include "storage/statement.hpp"

namespace nightjar::test {

inline void change_to_any(storage::Transaction& transaction, const Regression& regression,
                          const RegressionChange& change) {
  storage::update_regression(transaction, regression);
  storage::Statement(transaction, "UPDATE regression SET state = ?, updated_at_us = ? WHERE id = ?")
      .bind(change.state, change.at, regression.id)
      .run();
  storage::Statement(transaction,
                     "INSERT INTO regression_change (regression, state, at_us, evidence, rule) "
                     "VALUES (?, ?, ?, ?, ?)")
      .bind(regression.id, change.state, change.at, change.evidence.text, change.evidence.rule)
      .run();
}

inline Regression add_in_any(storage::Transaction& transaction, const Regression& regression,
                             const RegressionChange& change) {
  RegressionChange begin = change;
  begin.state = RegressionState::suspected;
  Regression added = storage::add_regression(transaction, regression, begin);
  for (const char* update : {"UPDATE regression SET state = ? WHERE id = ?",
                             "UPDATE regression_change SET state = ? WHERE regression = ?"})
    storage::Statement(transaction, update).bind(change.state, added.id).run();
  added.state = change.state;
  return added;
}

}  // namespace nightjar::test
