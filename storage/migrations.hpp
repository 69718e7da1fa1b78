// The schema and its numbered, forward-only migrations. Private to this folder and its tests.
#pragma once

#include "storage/connection.hpp"

namespace nightjar::storage {

struct Migration {
  int number;
  const char* name;
  const char* sql;
};

// The number of the newest migration. A file's `user_version` is that of the last one applied to
// it.
int newest_schema();

// Applies what is missing up to number `last`, each in a transaction of its own; the schema to an
// empty file. Throws Error, and changes nothing, for a file of a newer program or of one that is
// too old, and for one that is no Nightjar database.
void migrate(Database::Impl& connection, int last);

// The number of the last migration applied; 0 for an empty file. Throws like migrate().
int schema_version_of(Database::Impl& connection);

// Throws Error with what differs unless tables, constraints and indexes are those of a fresh file
// of the same version. So nothing in it acts by itself, as a trigger would.
void require_own_schema(Database::Impl& connection);

// Throws Error unless the file has exactly the schema that this program knows.
void require_current(Database::Impl& connection);

}  // namespace nightjar::storage
