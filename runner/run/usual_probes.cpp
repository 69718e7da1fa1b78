#include "runner/run/usual_probes.hpp"

#include <algorithm>
#include <vector>

#include "runner/catalog/catalog.hpp"

namespace nightjar::runner {
namespace {

constexpr std::size_t runs_kept = 40;
constexpr double longest_probe = 1;  // seconds: what is longer is invented

std::string program_of(const RunTask& task) {
  const WorkloadName& name = task.workload->name;
  if (is_native(name) && !task.profile) return "native";
  return is_ours(name.suite()) ? "python" : name.str();
}

}  // namespace

double UsualProbes::of(const RunTask& task) const {
  if (!task.workload) return 0;
  const auto found = last_.find(program_of(task));
  if (found == last_.end()) return 0;
  std::vector<double> probes(found->second.begin(), found->second.end());
  const auto quartile = probes.begin() + static_cast<std::ptrdiff_t>(probes.size() / 4);
  std::nth_element(probes.begin(), quartile, probes.end());
  return *quartile;
}

void UsualProbes::note(const RunTask& task, double seconds) {
  if (!task.workload || seconds <= 0 || seconds > longest_probe) return;
  auto& last = last_[program_of(task)];
  last.push_back(seconds);
  if (last.size() > runs_kept) last.pop_front();
}

}  // namespace nightjar::runner
