#include "service/cli/many_report.hpp"

#include <algorithm>

#include "storage/model/json.hpp"

namespace nightjar::cli {
namespace {
using nlohmann::json;

bool did_not_move(const SearchReport& report) {
  return report.outcome == bisect::SearchOutcome::not_reproduced;
}

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

}  // namespace

bool has_culprit(const ManyReport& report) {
  return std::any_of(report.benchmarks.begin(), report.benchmarks.end(),
                     [](const auto& one) { return one.outcome == bisect::SearchOutcome::culprit; });
}

std::string many_text(const ManyReport& report) {
  std::string text;
  std::vector<std::string> unmoved;
  for (const SearchReport& one : report.benchmarks) {
    const std::string& name = one.subject->benchmark;
    if (did_not_move(one))
      unmoved.push_back(name);
    else
      text += name + ":\n" + report_text(one) + "\n";
  }
  if (!unmoved.empty())
    text += std::to_string(unmoved.size()) + " did not move: " + listed(unmoved) + "\n";
  for (const auto& [name, why] : report.left_out) text += "left out: " + name + " " + why + "\n";
  text += std::to_string(report.runs) + " runs";
  if (report.builds > 0) text += ", " + std::to_string(report.builds) + " builds";
  return text + " for " + std::to_string(report.benchmarks.size() + report.left_out.size()) +
         " benchmarks\n";
}

std::string many_json(const ManyReport& report) {
  json out{{"benchmarks", json::array()},
           {"did_not_move", json::array()},
           {"left_out", json::array()},
           {"runs", report.runs},
           {"builds", report.builds}};
  for (const SearchReport& one : report.benchmarks) {
    out["benchmarks"].push_back(report_object(one));
    if (did_not_move(one)) out["did_not_move"].push_back(one.subject->benchmark);
  }
  for (const auto& [name, why] : report.left_out)
    out["left_out"].push_back({{"benchmark", name}, {"reason", why}});
  // A commit's author may have written no UTF-8.
  return out.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace nightjar::cli
