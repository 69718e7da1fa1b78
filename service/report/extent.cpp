// Where else a finding was looked for: half of its diagnosis.
#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include "service/report/apart.hpp"
#include "service/report/quantity.hpp"
#include "service/report/sections.hpp"
#include "storage/base/markdown.hpp"
#include "storage/model/workload.hpp"

namespace nightjar::service {
namespace {

constexpr std::size_t open_names = 30;  // of a list that is not folded up

using NamePart = std::string_view (WorkloadName::*)() const;
constexpr std::array<std::pair<const char*, NamePart>, 5> parts{
    {{"task", &WorkloadName::task},
     {"device", &WorkloadName::device},
     {"precision", &WorkloadName::precision},
     {"batch size", &WorkloadName::batch},
     {"backend", &WorkloadName::backend}}};

std::string joined(const std::set<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + plain(word);
  return text;
}

std::vector<WorkloadName> names_of(const std::vector<std::string>& texts) {
  std::vector<WorkloadName> names;
  for (const std::string& text : texts)
    if (const auto name = WorkloadName::parse(text)) names.push_back(*name);
  return names;
}

std::string apart_lines(const std::vector<std::string>& seen,
                        const std::vector<std::string>& not_seen) {
  std::string text;
  for (const ApartBy& one : what_sets_apart(seen, not_seen))
    text += "- " + one.part + ": seen in " + joined(one.seen) + ", not in " + joined(one.not_seen) +
            "\n";
  return text;
}

std::string where(const ReportExtent::Other& other, bool several_classes) {
  return code(other.workload) +
         (several_classes ? " on machine class " + std::to_string(other.machine.value) : "");
}

std::string list_of(const std::vector<ReportExtent::Other>& others, const std::string& metric,
                    bool with_change, bool several_classes, std::size_t limit) {
  std::string text;
  for (std::size_t i = 0; i < std::min(limit, others.size()); ++i) {
    const ReportExtent::Other& other = others[i];
    text += (i == 0 ? "" : ", ") + where(other, several_classes);
    if (with_change && !has_no_ratio(metric)) text += " " + change(other.ratio);
  }
  if (others.size() > limit) text += " and " + std::to_string(others.size() - limit) + " more";
  return text;
}

// A long list is folded up below its models.
std::string worse_list(const std::string& what, const std::vector<ReportExtent::Other>& worse,
                       const std::string& metric, bool several_classes, std::size_t limit) {
  if (worse.empty()) return {};
  const std::string head = "- " + what + " (" + std::to_string(worse.size()) + "): ";
  const std::string names = list_of(worse, metric, true, several_classes, limit);
  if (worse.size() <= open_names) return head + names + "\n";
  std::vector<std::string> workloads;
  for (const ReportExtent::Other& one : worse) workloads.push_back(one.workload);
  return head + by_model(workloads) + "\n\n<details><summary>Their names</summary>\n\n" + names +
         "\n\n</details>\n\n";
}

std::string unclear_line(int unclear) {
  if (unclear == 0) return {};
  return "- Unclear, because the change is below the threshold: " + std::to_string(unclear) + "\n";
}

}  // namespace

std::vector<ApartBy> what_sets_apart(const std::vector<std::string>& seen,
                                     const std::vector<std::string>& not_seen) {
  const auto affected = names_of(seen), others = names_of(not_seen);
  std::set<std::string_view> models;
  for (const WorkloadName& name : affected) models.insert(name.model());
  std::vector<ApartBy> found;
  for (const auto& [what, part] : parts) {
    ApartBy one{what, {}, {}};
    for (const WorkloadName& name : affected) one.seen.emplace((name.*part)());
    for (const WorkloadName& name : others)
      if (models.contains(name.model())) one.not_seen.emplace((name.*part)());
    const bool apart = !one.not_seen.empty() &&
                       std::none_of(one.not_seen.begin(), one.not_seen.end(),
                                    [&](const auto& word) { return one.seen.contains(word); });
    if (apart) found.push_back(std::move(one));
  }
  return found;
}

std::string worse_in_other_night(const ReportBeside& beside) {
  return "Worse too in " + metric_title(beside.metric) + " with " + code(beside.version) +
         ", and not measured side by side";
}

std::string beside_list(const std::string& what, const ReportBeside& beside, bool several_classes,
                        std::size_t limit) {
  return worse_list(what, beside.worse, beside.metric, several_classes, limit) +
         unclear_line(beside.unclear);
}

namespace {

// What the night of the finding says.
std::string own_night(const ReportInput& input, const ExtentLimits& limits) {
  const ReportExtent& extent = input.extent;
  if (extent.worse.empty() && extent.not_seen.empty() && extent.unclear == 0) return {};
  const std::string& metric = input.series.front().metric;
  std::vector<std::string> seen, not_seen;
  std::set<MachineId> classes;
  for (const ReportSeries& one : input.series)
    if (one.metric == metric) seen.push_back(one.workload);
  for (const auto& other : extent.worse) seen.push_back(other.workload);
  for (const auto& other : extent.not_seen) not_seen.push_back(other.workload);
  for (const auto* others : {&extent.worse, &extent.not_seen})
    for (const auto& other : *others) classes.insert(other.machine);
  const bool several = classes.size() > 1;
  std::string text = "The same night measured other series of " + metric_title(metric) +
                     ", one build against its earlier nights.\n\n";
  text += apart_lines(seen, not_seen);
  text += worse_list("Worse too, and not measured side by side", extent.worse, metric, several,
                     limits.worse);
  if (!extent.not_seen.empty())
    text += "- Not seen (" + std::to_string(extent.not_seen.size()) +
            "): " + list_of(extent.not_seen, metric, false, several, limits.others) + "\n";
  return text + unclear_line(extent.unclear);
}

// What the nights of findings that joined it say besides.
std::string other_nights(const ReportInput& input, const ExtentLimits& limits) {
  const bool several = !input.series.front().machine.empty();
  std::string text;
  for (const ReportBeside& one : input.beside)
    text += beside_list(worse_in_other_night(one), one, several, limits.worse);
  return text;
}

}  // namespace

std::string extent_section(const ReportInput& input, const ExtentLimits& limits) {
  const std::string own = own_night(input, limits), others = other_nights(input, limits);
  if (own.empty() && others.empty()) return {};
  return "\n## Where else it was looked for\n\n" + own + others;
}

}  // namespace nightjar::service
