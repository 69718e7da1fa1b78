// The change is real, and nothing says which commit did it: nobody is blamed.
#include "service/report/sections.hpp"
#include "storage/base/markdown.hpp"

namespace nightjar::service {
namespace {

std::string what_to_do(const ReportInput& input) {
  if (is_environment(input))
    return input.pins.empty()
               ? "Hold the package back, or report it to its own project. No commit between the "
                 "ends changed a file that pins versions: the index offers another one now."
               : "Hold the package back where its pin moved, or report it to its own project.";
  if (is_wheel(input)) return advice_on_wheels(input);
  if (input.attribution && input.attribution->cause == Cause::unknown)
    return input.attribution->wheel
               ? "Lay the Python files of each end over the other's wheel by hand, and measure "
                 "with "
                 "more runs."
               : "Measure each wheel with the packages of the other by hand, with more runs.";
  if (input.differences && !input.differences->empty())
    return "The wheels of both ends ask for different packages, see Environment: measure the new "
           "wheel with the old packages first. If the change is gone, it is theirs.";
  if (input.range_commits == 0)
    return "Compare how the two wheels were built: compiler, options, pinned libraries.";
  return "The commands below measure both ends again, and search with as much time as you give "
         "them. `search.max_minutes` and `search.max_runs` are what a search may spend by itself.";
}

std::string moved(const std::string& name, const std::string& before, const std::string& after) {
  const auto version = [](const std::string& text) { return text.empty() ? "none" : text; };
  return name + " " + version(before) + " → " + version(after);
}

}  // namespace

std::string pin_lines(const std::string& repository, const std::vector<ReportPin>& pins) {
  std::string text;
  for (const ReportPin& pin : pins)
    text += "- Where the pin moved: " + name_of_commit(pin.commit, repository) + ", " +
            code(pin.path) + "\n";
  return text;
}

bool is_environment(const ReportInput& input) {
  return input.attribution && has_environment(input.attribution->cause) &&
         !has_source(input.attribution->cause);
}

bool is_wheel(const ReportInput& input) {
  return input.attribution && input.attribution->cause == Cause::wheel;
}

std::string brief_packages(const ReportInput& input) {
  if (input.packages && !input.packages->named.empty()) {
    std::string text;
    for (const ReportPackages::Named& one : input.packages->named)
      text += (text.empty() ? "" : " and ") + moved(one.name, one.before, one.after);
    return text;
  }
  if (!input.differences || input.differences->empty()) return "packages";
  const ReportDifference& first = input.differences->front();
  std::string text = moved(first.name, first.good, first.bad);
  if (input.differences->size() > 1)
    text += " or one of " + std::to_string(input.differences->size() - 1) + " more";
  return text;
}

std::string packages_list(const ReportInput& input) {
  std::string text;
  if (input.packages) {
    if (!input.packages->said.empty())
      text += "- Which package: " + plain(input.packages->said) + "\n";
    for (const std::string& one : input.packages->left_out)
      text += "- Left out: " + plain(shortened(one, 300)) + "\n";
  }
  return text + pin_lines(input.repository, input.pins);
}

std::string unattributed_verdict(const ReportInput& input) {
  if (is_wheel(input))
    return " between " + code(input.good.version) + " and " + code(input.bad.version) +
           ": the wheel changed it, not a commit. It was compiled or packed in another way, and no "
           "commit of this repository is blamed.";
  if (is_environment(input))
    return " between " + code(input.good.version) + " and " + code(input.bad.version) +
           (has_wheel(input.attribution->cause)
                ? ": the packages and the wheel did it, not the source: "
                : ": the packages did it, not the source: ") +
           plain(brief_packages(input)) +
           (input.pins.size() == 1
                ? ". Its pin moved with " +
                      commit_link(input.repository, input.pins.front().commit.sha)
                : "") +
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
