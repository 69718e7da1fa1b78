// What every search keeps in rows of its own: the jobs that it asked for, what it believes and what
// it named. `owner` is the table of the searches, such as "bisection"; the rows are in <owner>_job,
// <owner>_cell and <owner>_step, whose column <owner> says which search they belong to. Private to
// this folder.
#pragma once

#include <string>
#include <vector>

#include "storage/model/regression.hpp"
#include "storage/statement.hpp"

namespace nightjar::storage {

template <class Tag>
void add_search_job(Transaction& transaction, const std::string& owner, Id<Tag> id,
                    const BisectionJob& job) {
  Statement(transaction, "INSERT INTO " + owner + "_job (" + owner +
                             ", job, session) VALUES (?, ?, ?) ON CONFLICT DO NOTHING")
      .bind(id, job.job, job.session)
      .run();
}

// In the order in which they were added.
template <class Tag>
std::vector<BisectionJob> jobs_of_search(const Database& db, const std::string& owner, Id<Tag> id) {
  Statement find(db,
                 "SELECT job, session FROM " + owner + "_job WHERE " + owner + " = ? ORDER BY id");
  return read_all(find.bind(id), [](Statement& row) -> BisectionJob {
    return {row.next<JobId>(), row.next<int>()};
  });
}

template <class Tag>
std::vector<CellMass> read_cells(const Database& db, const std::string& owner, Id<Tag> id) {
  Statement find(db, "SELECT first, last, probability FROM " + owner + "_cell WHERE " + owner +
                         " = ? ORDER BY probability DESC, first, last");
  return read_all(find.bind(id), [](Statement& row) -> CellMass {
    return {row.next<int>(), row.next<int>(), row.next<double>()};
  });
}

template <class Tag>
std::vector<NamedStep> read_steps(const Database& db, const std::string& owner, Id<Tag> id) {
  Statement find(db, "SELECT first, last, probability, ratio, low, high, isolated FROM " + owner +
                         "_step WHERE " + owner + " = ? ORDER BY first, last");
  return read_all(find.bind(id), [](Statement& row) -> NamedStep {
    return {row.next<int>(),    row.next<int>(),    row.next<double>(), row.next<double>(),
            row.next<double>(), row.next<double>(), row.next<bool>()};
  });
}

// Replaces both.
template <class Tag>
void write_result(Transaction& transaction, const std::string& owner, Id<Tag> id,
                  const std::vector<CellMass>& posterior, const std::vector<NamedStep>& found) {
  for (const char* rows : {"_cell", "_step"})
    Statement(transaction, "DELETE FROM " + owner + rows + " WHERE " + owner + " = ?")
        .bind(id)
        .run();
  Statement cell(transaction, "INSERT INTO " + owner + "_cell (" + owner +
                                  ", first, last, probability) VALUES (?, ?, ?, ?)");
  for (const CellMass& one : posterior) cell.bind(id, one.first, one.last, one.probability).run();
  Statement step(transaction, "INSERT INTO " + owner + "_step (" + owner +
                                  ", first, last, probability, ratio, low, high, isolated) "
                                  "VALUES (?, ?, ?, ?, ?, ?, ?, ?)");
  for (const NamedStep& one : found)
    step.bind(id, one.first, one.last, one.probability, one.ratio, one.low, one.high, one.isolated)
        .run();
}

}  // namespace nightjar::storage
