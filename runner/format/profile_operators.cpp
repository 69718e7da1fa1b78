#include "runner/format/profile_operators.hpp"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <utility>

#include "bisect/operator_times.hpp"
#include "storage/base/text_table.hpp"

namespace nightjar::runner {
namespace {

using bisect::OperatorTimes;

constexpr std::size_t longest_operator = 44;

// Two cells, how near the ceiling it is and what holds it back; both empty without ceilings.
std::vector<std::string> limiter_cells(const Profile& profile, const OperatorTimes& row) {
  if (!profile.ceilings) return {"", ""};
  const auto found = bisect::limiter_of(profile, row);
  if (!found) return {"-", "-"};
  const double least = bisect::least_seconds(bisect::work_of(row), *profile.ceilings);
  return {printed("%.0f %%", row.seconds() > 0 ? 100 * least / row.seconds() : 0),
          std::string(name_of(*found))};
}

std::vector<std::string> operator_cells(const Profile& profile, const OperatorTimes& row,
                                        double whole) {
  const OperatorProfile& one = *row.one;
  const bisect::Work work = bisect::work_of(row);
  std::vector<std::string> cells{
      one.name.substr(0, longest_operator),
      whole > 0 ? printed("%.3f", row.self * 1e3) : "-",
      whole > 0 ? printed("%.1f %%", 100 * row.self / whole) : "-",
      bisect::has_gpu(profile) ? printed("%.3f", row.device * 1e3) : "",
      printed("%.0f", one.calls),
      one.unknown > 0 && one.flops == 0 ? "?" : printed("%.2f", work.flops / 1e6),
      printed("%.2f", work.bytes / 1e6),
      work.bytes > 0 ? printed("%.2f", work.flops / work.bytes) : "-"};
  for (std::string& cell : limiter_cells(profile, row)) cells.push_back(std::move(cell));
  return cells;
}

}  // namespace

std::string printed(const char* format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  return text;
}

std::vector<std::optional<bisect::Limiter>> limiters(const Profile& profile) {
  std::vector<std::optional<bisect::Limiter>> found;
  for (const OperatorProfile& one : profile.operators)
    found.push_back(bisect::limiter_of(profile, bisect::times_of(profile, one)));
  return found;
}

std::string class_table(const Profile& profile) {
  TextTable table{{"class", "ms", "of time", "MFLOP", "of FLOP"}, {}, 1};
  for (const bisect::OperatorClass& one : bisect::classes_of(profile))
    table.rows.push_back(
        {one.name, printed("%.3f", one.seconds * 1e3), printed("%.1f %%", 100 * one.seconds_share),
         printed("%.2f", one.flops / 1e6), printed("%.2f %%", 100 * one.flops_share)});
  return "\n" + table_text(table, false);
}

std::string operator_table(const Profile& profile) {
  const std::vector<OperatorTimes> rows = bisect::longest_first(profile);
  double total = 0, shown = 0, whole = bisect::over_runs(profile, &ProfileRun::iteration_seconds);
  for (const OperatorTimes& row : rows) total += row.longest();
  TextTable table{{"operator", "own ms", "share", "GPU ms", "calls", "MFLOP", "MB", "FLOP/B",
                   "ceiling", "limiter"},
                  {},
                  1};
  for (const OperatorTimes& row : rows) {
    if (shown >= 0.99 * total) break;
    table.rows.push_back(operator_cells(profile, row, whole));
    shown += row.longest();
  }
  return "\n" + table_text(table, false);
}

}  // namespace nightjar::runner
