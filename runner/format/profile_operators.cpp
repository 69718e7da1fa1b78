#include "runner/format/profile_operators.hpp"

#include <algorithm>
#include <cstdarg>
#include <cstdio>

#include "bisect/statistics.hpp"
#include "storage/model/run_value.hpp"

namespace nightjar::runner {
namespace {

// The median of the runs' values; 0 without any.
double seconds_over_runs(const Profile& profile, const std::vector<std::vector<double>>& seconds) {
  const std::vector<double> values = values_of(profile, seconds);
  return values.empty() ? 0 : bisect::median(values);
}

struct ProfileRow {
  const OperatorProfile* one;
  double self, device;
  double seconds() const { return device > 0 ? device : self; }  // where its work is done
  double longest() const { return std::max(self, device); }
};

ProfileRow profile_row(const Profile& profile, const OperatorProfile& one) {
  return {&one, seconds_over_runs(profile, one.self_seconds),
          seconds_over_runs(profile, one.device_seconds)};
}

std::vector<ProfileRow> longest_first(const Profile& profile) {
  std::vector<ProfileRow> rows;
  for (const OperatorProfile& one : profile.operators) rows.push_back(profile_row(profile, one));
  std::stable_sort(rows.begin(), rows.end(), [](const ProfileRow& a, const ProfileRow& b) {
    return a.longest() > b.longest();
  });
  return rows;
}

bisect::Work profile_work(const ProfileRow& row) {
  return {static_cast<double>(row.one->flops), static_cast<double>(row.one->bytes), row.seconds(),
          row.one->unknown == 0, row.one->dtype};
}

std::optional<bisect::Limiter> limiter(const Profile& profile, const ProfileRow& row) {
  if (!profile.ceilings || !has_times(profile) || (has_gpu(profile) && row.device <= 0))
    return std::nullopt;
  return bisect::limiter_of(profile_work(row), *profile.ceilings);
}

std::string limiter_cells(const Profile& profile, const ProfileRow& row) {
  if (!profile.ceilings) return {};
  const auto found = limiter(profile, row);
  if (!found) return printed(" %7s  -", "-");
  const double least = bisect::least_seconds(profile_work(row), *profile.ceilings);
  return printed(" %5.0f %%  %s", row.seconds() > 0 ? 100 * least / row.seconds() : 0,
                 std::string(name_of(*found)).c_str());
}

std::string operator_line(const Profile& profile, const ProfileRow& row, double whole) {
  const OperatorProfile& one = *row.one;
  const bisect::Work work = profile_work(row);
  std::string text = printed("%-44.44s %9.3f %5.1f %%", one.name.c_str(), row.self * 1e3,
                             whole > 0 ? 100 * row.self / whole : 0);
  if (has_gpu(profile)) text += printed(" %9.3f", row.device * 1e3);
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

double over_runs(const Profile& profile, std::vector<double> ProfileRun::*list) {
  std::vector<std::vector<double>> seconds;
  for (const ProfileRun& run : profile.runs) seconds.push_back(run.*list);
  return seconds_over_runs(profile, seconds);
}

bool has_times(const Profile& profile) {
  return over_runs(profile, &ProfileRun::iteration_seconds) > 0;
}

bool has_gpu(const Profile& profile) {
  return !profile.runs.empty() && !profile.runs.front().active_seconds.empty();
}

std::vector<std::optional<bisect::Limiter>> limiters(const Profile& profile) {
  std::vector<std::optional<bisect::Limiter>> found;
  for (const OperatorProfile& one : profile.operators)
    found.push_back(limiter(profile, profile_row(profile, one)));
  return found;
}

std::string operator_table(const Profile& profile) {
  const std::vector<ProfileRow> rows = longest_first(profile);
  double total = 0, shown = 0, whole = over_runs(profile, &ProfileRun::iteration_seconds);
  for (const ProfileRow& row : rows) total += row.longest();
  std::string text = printed("\n%-44s %9s %7s", "operator", "own ms", "share");
  if (has_gpu(profile)) text += printed(" %9s", "GPU ms");
  text += printed(" %6s %9s %8s %7s", "calls", "MFLOP", "MB", "FLOP/B");
  text += profile.ceilings ? " ceiling  limiter\n" : "\n";
  for (const ProfileRow& row : rows) {
    if (shown >= 0.99 * total) break;
    text += operator_line(profile, row, whole);
    shown += row.longest();
  }
  return text;
}

}  // namespace nightjar::runner
