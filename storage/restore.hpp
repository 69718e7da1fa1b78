// Puts a backup in place of the database. Used by nightjard --restore, while no service runs.
#pragma once

#include <filesystem>
#include <optional>

#include "storage/model/time.hpp"

namespace nightjar::storage {

// Checks `copy`, moves the database that is there aside together with its write-ahead log, and puts
// the copy in its place, durably. The caller holds the data folder. Returns where the old database
// is now; nullopt if there was none. Throws Error for a copy that is damaged, empty, newer than
// this program, or no Nightjar database; then the database is as it was.
std::optional<std::filesystem::path> restore(const std::filesystem::path& copy,
                                             const std::filesystem::path& database, Time now);

// Where a copy is made ready. While it is there and the database is not, a restore was interrupted.
std::filesystem::path restoring_file(const std::filesystem::path& database);

}  // namespace nightjar::storage
