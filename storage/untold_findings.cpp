#include "storage/untold_findings.hpp"

#include "storage/paging.hpp"

namespace nightjar::storage {

void add_untold(Transaction& transaction, const UntoldFinding& finding) {
  Statement(transaction,
            "INSERT INTO untold_finding (regression, joined_at_us) VALUES (?, ?) "
            "ON CONFLICT DO NOTHING")
      .bind(finding.regression, finding.joined_at)
      .run();
}

void remove_untold(Transaction& transaction, RegressionId regression) {
  Statement(transaction, "DELETE FROM untold_finding WHERE regression = ?").bind(regression).run();
}

std::vector<UntoldFinding> untold_findings(const Database& db) {
  Statement find(db,
                 "SELECT regression, joined_at_us FROM untold_finding "
                 "ORDER BY joined_at_us, regression");
  return read_all(find, [](Statement& row) -> UntoldFinding {
    return {row.next<RegressionId>(), row.next<Time>()};
  });
}

}  // namespace nightjar::storage
