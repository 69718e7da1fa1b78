// Why a database cannot be worked with any more, as long as that is so. Used by /readyz.
#pragma once

#include <optional>
#include <string>

#include "storage/database.hpp"

namespace nightjar::storage {

struct Trouble {
  bool damaged = false;  // until it is restored; otherwise its disk is full or fails
  std::string what;
};

// What went wrong on this connection. Trouble that is no damage is over with its next commit.
std::optional<Trouble> trouble_of(const Database& db);

}  // namespace nightjar::storage
