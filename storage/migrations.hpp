// The schema's numbered, forward-only migrations. Private to this folder and its tests.
#pragma once

#include <span>

#include "storage/connection.hpp"

namespace nightjar::storage {

struct Migration {
  int number;
  const char* name;
  const char* sql;
};

// In order, from 1 without a gap; a file's `user_version` is the number of the last one applied.
std::span<const Migration> migrations();

// Applies what is missing up to number `last`, each in a transaction of its own. Throws Error, and
// changes nothing, for a file of a newer program or one that is no Nightjar database.
void migrate(Database::Impl& connection, int last);

// The number of the last migration applied; 0 for an empty file. Throws like migrate().
int schema_version_of(Database::Impl& connection);

// Throws Error unless the file has exactly the schema that this program knows.
void require_current(Database::Impl& connection);

}  // namespace nightjar::storage
