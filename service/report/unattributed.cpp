// The change is real, and nothing says which commit did it: nobody is blamed.
#include "service/report/markdown.hpp"
#include "service/report/sections.hpp"

namespace nightjar::service {
namespace {

std::string what_to_do(const ReportInput& input) {
  if (is_environment(input))
    return "Hold the package back, or report it to its own project. The wheel's requirements may "
           "have moved it: see who changed them among the commits between the ends.";
  if (input.attribution && input.attribution->cause == Cause::unknown)
    return "Measure each wheel with the packages of the other by hand, with more runs.";
  if (input.differences && !input.differences->empty())
    return "The wheels of both ends ask for different packages, see Environment: measure the new "
           "wheel with the old packages first. If the change is gone, it is theirs.";
  if (input.range_commits == 0)
    return "Compare how the two wheels were built: compiler, options, pinned libraries.";
  return "The commands below measure both ends again, and search with as much time as you give "
         "them. `search.max_minutes` and `search.max_runs` are what a search may spend by itself.";
}

}  // namespace

bool is_environment(const ReportInput& input) {
  return input.attribution && input.attribution->cause == Cause::environment;
}

std::string brief_packages(const ReportInput& input) {
  if (!input.differences || input.differences->empty()) return "packages";
  const ReportDifference& first = input.differences->front();
  const auto version = [](const std::string& text) { return text.empty() ? "none" : text; };
  std::string text = first.name + " " + version(first.good) + " → " + version(first.bad);
  if (input.differences->size() > 1)
    text += " or one of " + std::to_string(input.differences->size() - 1) + " more";
  return text;
}

std::string unattributed_verdict(const ReportInput& input) {
  if (is_environment(input))
    return " between " + code(input.good.version) + " and " + code(input.bad.version) +
           ": the packages did it, not the source: " + plain(brief_packages(input)) +
           ". No commit of this repository is blamed.";
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
