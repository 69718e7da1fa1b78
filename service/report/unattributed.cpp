// The change is real, and nothing says which commit did it: nobody is blamed.
#include "service/report/markdown.hpp"
#include "service/report/sections.hpp"

namespace nightjar::service {
namespace {

std::string what_to_do(const ReportInput& input) {
  if (input.differences && !input.differences->empty())
    return "The wheels of both ends ask for different packages, see Environment: measure the new "
           "wheel with the old packages first. If the change is gone, it is theirs.";
  if (input.range_commits == 0)
    return "Compare how the two wheels were built: compiler, options, pinned libraries.";
  return "The commands below measure both ends again, and search with as much time as you give "
         "them. `search.max_minutes` and `search.max_runs` are what a search may spend by itself.";
}

}  // namespace

std::string unattributed_verdict(const ReportInput& input) {
  std::string text = " between " + code(input.good.version) + " and " + code(input.bad.version) +
                     ": confirmed, but no commit could be named, so nobody is blamed";
  if (input.range_commits > 0)
    text += "; " + std::to_string(input.range_commits) +
            (input.range_commits == 1 ? " commit lies" : " commits lie") + " between them";
  return text + ".";
}

std::string unattributed_section(const ReportInput& input) {
  const std::string why = input.rule.empty() ? "not recorded" : plain(shortened(input.rule, 600));
  return "\n## Why no commit is named\n\n- Reason: " + why +
         "\n- What to do: " + what_to_do(input) + "\n";
}

}  // namespace nightjar::service
