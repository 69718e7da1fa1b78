// An issue that a range was filed as, once the search that went on found that there is nothing to
// file.
#pragma once

#include <string>

#include "storage/database.hpp"
#include "storage/model/id.hpp"
#include "storage/model/time.hpp"

namespace nightjar::service {

// Whether an issue of this regression was queued or filed.
bool has_issue(const storage::Database& db, RegressionId regression);
// Closes the regression's issue with this text, if it has one, and takes back what the export was
// given of it. `why`: the text without Markdown, where that differs. In the caller's transaction.
void withdraw_issue(storage::Transaction& transaction, RegressionId regression,
                    const std::string& text, Time now, const std::string& why = "");
int times_taken_back(const storage::Database& db, RegressionId regression);
// Tells the export that the regression's verdicts no longer hold, but for the one of this key.
void take_back_verdicts(storage::Transaction& transaction, RegressionId regression,
                        const std::string& why, Time now, const std::string& still_holds = "");

}  // namespace nightjar::service
