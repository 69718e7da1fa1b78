// The evidence bundle of a search, for its route and for tests.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "storage/database.hpp"
#include "storage/model/regression.hpp"

namespace nightjar::service::api {

// All that the verdicts rest on, of the regression or fix that the search explains.
nlohmann::json evidence_of(storage::Database& db, const Bisection& search);

}  // namespace nightjar::service::api
