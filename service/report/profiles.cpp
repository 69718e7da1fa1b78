// Where time or memory went: the difference of the two profiles at a culprit, for people.
#include <algorithm>
#include <cmath>
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
  if (one.before.calls == one.after.calls)
    std::snprintf(text, sizeof text, "%.0f", one.after.calls);
  else
    std::snprintf(text, sizeof text, "%.0f → %.0f", one.before.calls, one.after.calls);
  return text;
}

std::string before_and_after(const bisect::ProfileDiff& diff) {
  const double scale = std::max(diff.before.seconds, diff.after.seconds);
  return quantity("latency", diff.before.seconds, scale) + " → " +
         quantity("latency", diff.after.seconds, scale);
}

std::string time_section(const bisect::ProfileDiff& diff, std::size_t limit) {
  std::vector<std::vector<std::string>> rows;
  for (const bisect::OperatorChange& one : diff.changes) {
    if (!one.clear || rows.size() == limit) break;
    const double scale = std::max(one.before.seconds, one.after.seconds);
    rows.push_back({plain(one.name) + (one.on_device ? " (GPU)" : ""),
                    quantity("latency", one.before.seconds, scale),
                    quantity("latency", one.after.seconds, scale), of_the_change(one.share),
                    calls_of(one)});
  }
  if (diff.runs == 0)
    return "\n## Where the time went\n\nNo run of " + code(diff.workload) +
           " under the profiler saw the machine undisturbed on both sides of the culprit.\n";
  const std::string text = "\n## Where the time went\n\nAn iteration under the profiler, " +
                           code(diff.workload) +
                           ", on the builds beside the culprit: " + before_and_after(diff) + ". ";
  if (rows.empty() && diff.runs < bisect::kFewestRuns)
    return text + "Of " + std::to_string(diff.runs) +
           " runs a side nothing is known of single operators.\n";
  if (rows.empty())
    return text +
           "No operator's own time changed by more than its runs differ: the cause is outside of "
           "operators, "
           "or spread over many.\n";
  return text + "Operators whose own time changed, by more than their runs differ:\n\n" +
         table({"operator", ">before", ">after", ">of the change", ">calls"}, rows);
}

std::string memory_section(const bisect::ProfileDiff& diff) {
  if (diff.memory.empty()) return {};
  std::vector<std::vector<std::string>> rows;
  const auto scale =
      static_cast<double>(std::max(diff.memory.front().before, diff.memory.front().after));
  for (const bisect::MemoryChange& part : diff.memory) {
    const auto before = static_cast<double>(part.before), after = static_cast<double>(part.after);
    rows.push_back({part.part, quantity("peak_cpu_memory", before, scale),
                    quantity("peak_cpu_memory", after, scale),
                    (after < before ? "−" : "+") +
                        quantity("peak_cpu_memory", std::abs(after - before), scale)});
  }
  return "\n## Where the memory went\n\nTensors at the peak of an iteration, " +
         code(diff.workload) + ", on the builds beside the culprit:\n\n" +
         table({"part", ">before", ">after", ">change"}, rows);
}

}  // namespace

std::string profile_section(const ReportInput& input, std::size_t limit) {
  if (!input.profiles) return {};
  const bool time = input.series.front().metric == "latency";
  return time ? time_section(*input.profiles, limit) : memory_section(*input.profiles);
}

}  // namespace nightjar::service
