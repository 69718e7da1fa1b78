// Which machine classes show a finding, and which were looked at and do not.
#include <algorithm>

#include "service/report/quantity.hpp"
#include "service/report/sections.hpp"
#include "storage/base/markdown.hpp"

namespace nightjar::service {
namespace {

const char* words_of(ClassState state) {
  switch (state) {
    case ClassState::seen:
      return "seen";
    case ClassState::not_seen:
      return "looked for and not seen";
    case ClassState::not_looked_for:
      return "not looked for";
  }
  return "";
}

std::vector<std::string> row_of(const ReportClass& one, const std::string& metric) {
  const AffectedClass& found = one.found;
  const bool has_ratio = found.ratio && !has_no_ratio(metric);
  const bool has_interval = has_ratio && found.low && found.high && *found.low != *found.high;
  return {plain(one.name),
          found.gpu.empty() ? "–" : plain(found.gpu),
          words_of(found.state),
          has_ratio ? change(*found.ratio) : "–",
          has_interval ? change_interval(*found.low, *found.high) : "–",
          one.first_seen.empty() ? "–" : one.first_seen};
}

}  // namespace

std::string classes_section(const ReportInput& input, std::size_t limit) {
  if (input.classes.size() < 2) return {};
  std::vector<ReportClass> classes = input.classes;
  std::stable_sort(classes.begin(), classes.end(), [](const ReportClass& a, const ReportClass& b) {
    return a.found.state < b.found.state;
  });
  std::vector<std::vector<std::string>> rows;
  for (const ReportClass& one : classes)
    if (rows.size() < limit) rows.push_back(row_of(one, input.series.front().metric));
  std::string text =
      "\n## Machine classes\n\n" +
      table({"machine class", "GPU", "result", ">change", ">95 % interval", "first seen"}, rows);
  if (classes.size() > limit)
    text += "\n" + std::to_string(classes.size() - limit) + " more are left out here.\n";
  return text;
}

}  // namespace nightjar::service
