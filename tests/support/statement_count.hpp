// How many SQL statements a connection runs, for tests of what must not grow with the data.
#pragma once

#include <sqlite3.h>

#include "storage/connection.hpp"

namespace nightjar {

// Counts the statements that `act` runs on this connection.
template <class Act>
int statements_of(const storage::Database& db, Act act) {
  sqlite3* connection = db.impl().connection;
  int count = 0;
  const auto note = [](unsigned, void* total, void*, void*) {
    ++*static_cast<int*>(total);
    return 0;
  };
  sqlite3_trace_v2(connection, SQLITE_TRACE_STMT, note, &count);
  act();
  sqlite3_trace_v2(connection, 0, nullptr, nullptr);
  return count;
}

}  // namespace nightjar
