// Where the time went: the difference of the two profiles at a culprit, for people.
#include <cstdio>

#include "service/report/evidence.hpp"
#include "service/report/markdown.hpp"
#include "service/report/quantity.hpp"

namespace nightjar::service {
namespace {

std::string of_the_change(double share) {
  char text[32];
  std::snprintf(text, sizeof text, "%.0f %%", 100 * share);
  return text;
}

std::string calls_of(const bisect::OperatorChange& one) {
  if (one.name == bisect::kOutside) return "–";
  char text[64];
  std::snprintf(text, sizeof text, one.before.calls == one.after.calls ? "%.0f" : "%.0f → %.0f", one.before.calls,
                one.after.calls);
  return text;
}

}  // namespace

std::string operators_section(const ReportInput& input, std::size_t limit) {
  if (!input.operators) return {};
  const bisect::ProfileDiff& diff = *input.operators;
  const double scale = diff.after.seconds;
  std::vector<std::vector<std::string>> rows;
  for (const bisect::OperatorChange& one : diff.changes) {
    if (!one.clear || rows.size() == limit) break;
    rows.push_back({plain(one.name) + (one.on_device ? " (GPU)" : ""), quantity("latency", one.before.seconds, scale),
                    quantity("latency", one.after.seconds, scale), of_the_change(one.share), calls_of(one)});
  }
  std::string text = "\n## Where the time went\n\nAn iteration under the profiler, " + code(diff.workload) +
                     ", on the builds beside the culprit: " + quantity("latency", diff.before.seconds, scale) + " → " +
                     quantity("latency", diff.after.seconds, scale) + ". ";
  if (rows.empty())
    return text + "No operator's own time changed by more than its runs differ: the cause is outside of operators, "
                  "or spread over many.\n";
  return text + "Operators whose own time changed, by more than their runs differ:\n\n" +
         table({"operator", ">before", ">after", ">of the change", ">calls"}, rows);
}

}  // namespace nightjar::service
