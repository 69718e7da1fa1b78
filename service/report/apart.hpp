// What tells the workloads that show a finding from those that do not. Used by reports and pages.
#pragma once

#include <set>
#include <string>
#include <vector>

namespace nightjar::service {

struct ApartBy {
  std::string part;  // of the name: "task", "device", ...
  std::set<std::string> seen, not_seen;
};
// The parts in which affected models' workloads never equal their unaffected ones. Texts that are
// no workload's name are left out.
std::vector<ApartBy> what_sets_apart(const std::vector<std::string>& seen,
                                     const std::vector<std::string>& not_seen);

}  // namespace nightjar::service
