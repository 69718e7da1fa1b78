#include "runner/format/profile_operators.hpp"

#include <algorithm>
#include <cstdarg>
#include <cstdio>

#include "bisect/operator_times.hpp"

namespace nightjar::runner {
namespace {

using bisect::OperatorTimes;

std::string limiter_cells(const Profile& profile, const OperatorTimes& row) {
  if (!profile.ceilings) return {};
  const auto found = bisect::limiter_of(profile, row);
  if (!found) return printed(" %7s  -", "-");
  const double least = bisect::least_seconds(bisect::work_of(row), *profile.ceilings);
  return printed(" %5.0f %%  %s", row.seconds() > 0 ? 100 * least / row.seconds() : 0,
                 std::string(name_of(*found)).c_str());
}

std::string operator_line(const Profile& profile, const OperatorTimes& row, double whole) {
  const OperatorProfile& one = *row.one;
  const bisect::Work work = bisect::work_of(row);
  std::string text = printed("%-44.44s %9.3f %5.1f %%", one.name.c_str(), row.self * 1e3,
                             whole > 0 ? 100 * row.self / whole : 0);
  if (bisect::has_gpu(profile)) text += printed(" %9.3f", row.device * 1e3);
  text += printed(" %6.0f", one.calls);
  text += one.unknown > 0 && one.flops == 0 ? printed(" %9s", "?")
                                            : printed(" %9.2f", work.flops / 1e6);
  text += printed(" %8.2f", work.bytes / 1e6);
  text += work.bytes > 0 ? printed(" %7.2f", work.flops / work.bytes) : printed(" %7s", "-");
  return text + limiter_cells(profile, row) + "\n";
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

std::string operator_table(const Profile& profile) {
  const std::vector<OperatorTimes> rows = bisect::longest_first(profile);
  double total = 0, shown = 0, whole = bisect::over_runs(profile, &ProfileRun::iteration_seconds);
  for (const OperatorTimes& row : rows) total += row.longest();
  std::string text = printed("\n%-44s %9s %7s", "operator", "own ms", "share");
  if (bisect::has_gpu(profile)) text += printed(" %9s", "GPU ms");
  text += printed(" %6s %9s %8s %7s", "calls", "MFLOP", "MB", "FLOP/B");
  text += profile.ceilings ? " ceiling  limiter\n" : "\n";
  for (const OperatorTimes& row : rows) {
    if (shown >= 0.99 * total) break;
    text += operator_line(profile, row, whole);
    shown += row.longest();
  }
  return text;
}

}  // namespace nightjar::runner
