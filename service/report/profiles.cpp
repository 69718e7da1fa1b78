// Where time or memory went: the difference of the two profiles at a culprit, for people.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "service/report/evidence.hpp"
#include "service/report/quantity.hpp"
#include "storage/base/markdown.hpp"

namespace nightjar::service {
namespace {

std::string of_the_change(double share) {
  char text[32];
  std::snprintf(text, sizeof text, "%.0f %%", 100 * share);
  return text;
}

std::string calls_of(const bisect::OperatorChange& one) {
  if (one.name == bisect::outside_operators) return "–";
  char text[64];
  if (one.before.calls == one.after.calls)
    std::snprintf(text, sizeof text, "%.0f", one.after.calls);
  else
    std::snprintf(text, sizeof text, "%.0f → %.0f", one.before.calls, one.after.calls);
  return text;
}

// Which time a section tells of, in words.
struct TimeSection {
  const char* title;
  const char* whole;
  const char* changed;
  const char* nowhere;  // if no operator is clear
  std::size_t runs;     // a side
  const bisect::Side &before, &after;
  const std::vector<bisect::OperatorChange>& operators;
};

std::string before_and_after(const TimeSection& section) {
  const double scale = std::max(section.before.seconds, section.after.seconds);
  return quantity("latency", section.before.seconds, scale) + " → " +
         quantity("latency", section.after.seconds, scale);
}

std::vector<std::vector<std::string>> clear_rows(const std::vector<bisect::OperatorChange>& all,
                                                 std::size_t limit) {
  std::vector<std::vector<std::string>> rows;
  for (const bisect::OperatorChange& one : all) {
    if (!one.clear || rows.size() == limit) break;
    const double scale = std::max(one.before.seconds, one.after.seconds);
    rows.push_back({plain(one.name) + (one.on_device ? " (GPU)" : ""),
                    quantity("latency", one.before.seconds, scale),
                    quantity("latency", one.after.seconds, scale), of_the_change(one.share),
                    calls_of(one)});
  }
  return rows;
}

std::string time_section(const bisect::ProfileDiff& diff, const TimeSection& section,
                         std::size_t limit) {
  const std::string title = "\n## " + std::string(section.title) + "\n\n";
  if (section.runs == 0)
    return title + "No run of " + code(diff.workload) +
           " under the profiler saw the machine undisturbed on both sides of the culprit.\n";
  const std::string text = title + section.whole + " under the profiler, " + code(diff.workload) +
                           ", on the builds beside the culprit: " + before_and_after(section) +
                           ". ";
  const auto rows = clear_rows(section.operators, limit);
  if (rows.empty() && section.runs < bisect::fewest_profiled_runs)
    return text + "Of " + std::to_string(section.runs) +
           " runs a side nothing is known of single operators.\n";
  if (rows.empty()) return text + section.nowhere + "\n";
  return text + section.changed + ", by more than their runs differ:\n\n" +
         table({"operator", ">before", ">after", ">of the change", ">calls"}, rows);
}

std::string iteration_section(const bisect::ProfileDiff& diff, std::size_t limit) {
  return time_section(diff,
                      {"Where the time went", "An iteration", "Operators whose own time changed",
                       "No operator's own time changed by more than its runs differ: the cause is "
                       "outside of operators, or spread over many.",
                       diff.runs, diff.before, diff.after, diff.changes},
                      limit);
}

std::string kernels_section(const bisect::ProfileDiff& diff, std::size_t limit) {
  return time_section(diff,
                      {"Where the kernels' time went", "The GPU's time in an iteration",
                       "Operators whose kernels changed",
                       "No operator's kernels changed by more than their runs differ: the change "
                       "is spread over many.",
                       diff.device_runs, diff.device_before, diff.device_after, diff.kernels},
                      limit);
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
  return "\n## Where the memory went\n\nTensors at the peak of an iteration, and "
         "memory outside of tensors, " +
         code(diff.workload) + ", on the builds beside the culprit:\n\n" +
         table({"part", ">before", ">after", ">change"}, rows);
}

}  // namespace

std::string profile_section(const ReportInput& input, std::size_t limit) {
  if (!input.profiles) return {};
  const std::string& metric = input.series.front().metric;
  if (metric == "kernel_time") return kernels_section(*input.profiles, limit);
  const bool time = metric == "latency" || metric == "cuda_latency";
  return time ? iteration_section(*input.profiles, limit) : memory_section(*input.profiles);
}

}  // namespace nightjar::service
