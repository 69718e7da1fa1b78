// Findings that joined one whose issue is filed, and that this issue has not heard of yet.
#pragma once

#include <vector>

#include "storage/database.hpp"
#include "storage/model/id.hpp"
#include "storage/model/time.hpp"

namespace nightjar::storage {

struct UntoldFinding {
  RegressionId regression;  // is merged into another one
  Time joined_at{};
};

// Does nothing if the finding waits already.
void add_untold(Transaction& transaction, const UntoldFinding& finding);
void remove_untold(Transaction& transaction, RegressionId regression);
std::vector<UntoldFinding> untold_findings(const Database& db);  // the earliest first

}  // namespace nightjar::storage
