#include "runner/profile_output.hpp"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "bisect/profile_diff.hpp"
#include "bisect/roofline.hpp"
#include "bisect/statistics.hpp"

namespace nightjar::runner {
namespace {

using PerIteration = std::vector<double>;

[[gnu::format(printf, 1, 2)]] std::string printed(const char* format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  return text;
}

// The median of the runs' values.
template <class Get>
double over_runs(const Profile& profile, Get get) {
  PerIteration values;
  for (std::size_t run = 0; run < profile.runs.size(); ++run)
    values.push_back(bisect::typical_seconds(get(run), profile.runs[run].slowdown));
  return values.empty() ? 0 : bisect::median(values);
}

double over_runs(const Profile& profile, PerIteration ProfileRun::*list) {
  return over_runs(profile, [&](std::size_t run) { return profile.runs[run].*list; });
}

struct ProfileRow {
  const OperatorProfile* one;
  double self, device;
  double seconds() const { return device > 0 ? device : self; }  // where its work is done
  double longest() const { return std::max(self, device); }
};

bool has_gpu(const Profile& profile) {
  return !profile.runs.empty() && !profile.runs.front().active_seconds.empty();
}

std::vector<ProfileRow> profile_rows(const Profile& profile) {
  std::vector<ProfileRow> rows;
  for (const OperatorProfile& one : profile.operators)
    rows.push_back({&one, over_runs(profile, [&](std::size_t run) { return one.self_seconds[run]; }),
                    over_runs(profile, [&](std::size_t run) { return one.device_seconds[run]; })});
  std::stable_sort(rows.begin(), rows.end(),
                   [](const ProfileRow& a, const ProfileRow& b) { return a.longest() > b.longest(); });
  return rows;
}

bisect::Work profile_work(const ProfileRow& row) {
  return {static_cast<double>(row.one->flops), static_cast<double>(row.one->bytes), row.seconds(),
          row.one->unknown == 0, row.one->dtype};
}

std::string profile_heading(const Profile& profile) {
  int iterations = 0, quiet = 0;
  for (const ProfileRun& run : profile.runs)
    for (const double slowdown : run.slowdown) ++iterations, quiet += slowdown <= 1.25;
  PerIteration plain;
  for (const ProfileRun& run : profile.runs) plain.push_back(run.plain_seconds);
  const double whole = over_runs(profile, &ProfileRun::iteration_seconds);
  const double outside = over_runs(profile, &ProfileRun::outside_seconds);
  return profile.workload + "  PyTorch " + profile.torch_version + "\n" +
         printed("iteration %.3f ms (%.3f ms without the profiler); %zu %s, %d of %d iterations "
                 "undisturbed\n",
               whole * 1e3, bisect::median(plain) * 1e3, profile.runs.size(), profile.runs.size() == 1 ? "run" : "runs",
               quiet, iterations) +
         printed("in operators %.3f ms, outside of them (the model's code, autograd engine, optimizer) %.3f ms, "
                 "%.0f %%\n",
               (whole - outside) * 1e3, outside * 1e3, whole > 0 ? 100 * outside / whole : 0);
}

std::string work_line(const Profile& profile) {
  double flops = 0, bytes = 0;
  std::string unknown;
  for (const OperatorProfile& one : profile.operators) {
    flops += static_cast<double>(one.flops);
    bytes += static_cast<double>(one.bytes);
    if (one.unknown > 0) unknown += (unknown.empty() ? "" : ", ") + one.name;
  }
  std::string text = printed("%.1f MFLOP, %.1f MB moved, %.2f FLOP a byte%s%s\n", flops / 1e6, bytes / 1e6,
                           bytes > 0 ? flops / bytes : 0, unknown.empty() ? "" : "; not counted: ",
                           unknown.c_str());
  if (!profile.ceilings) return text;
  const Ceilings& ceilings = *profile.ceilings;
  text += printed("this machine, %d thread%s, at most: %.1f GB/s", ceilings.threads,
                ceilings.threads == 1 ? "" : "s", ceilings.bytes / 1e9);
  for (const auto& [dtype, rate] : ceilings.flops)
    text += printed(", %s %.1f GFLOP/s (ridge %.1f FLOP a byte)", dtype.c_str(), rate / 1e9,
                  bisect::ridge(ceilings, dtype));
  return text + "\n";
}

std::string gpu_line(const Profile& profile) {
  if (!has_gpu(profile)) return {};
  const double active = over_runs(profile, &ProfileRun::active_seconds);
  const double moving = over_runs(profile, &ProfileRun::moving_seconds);
  const double idle = over_runs(profile, &ProfileRun::idle_seconds);
  const double whole = std::max(active + moving + idle, 1e-12);
  return printed("GPU: active %.0f %%, moving data %.0f %%, idle %.0f %%\n", 100 * active / whole,
               100 * moving / whole, 100 * idle / whole);
}

// What the roofline says of it; nothing of an operator that had nothing to do on its GPU.
std::string limiter_cells(const Profile& profile, const ProfileRow& row, const bisect::Work& work) {
  if (!profile.ceilings) return {};
  if (has_gpu(profile) && row.device <= 0) return printed(" %7s  -", "-");
  const double least = bisect::least_seconds(work, *profile.ceilings);
  return printed(" %5.0f %%  %s", row.seconds() > 0 ? 100 * least / row.seconds() : 0,
                 std::string(name_of(bisect::limiter_of(work, *profile.ceilings))).c_str());
}

std::string operator_line(const Profile& profile, const ProfileRow& row, double whole) {
  const OperatorProfile& one = *row.one;
  const bisect::Work work = profile_work(row);
  std::string text = printed("%-44.44s %9.3f %5.1f %%", one.name.c_str(), row.self * 1e3,
                             whole > 0 ? 100 * row.self / whole : 0);
  if (has_gpu(profile)) text += printed(" %9.3f", row.device * 1e3);
  text += printed(" %6.0f", one.calls);
  text += one.unknown > 0 && one.flops == 0 ? printed(" %9s", "?") : printed(" %9.2f", work.flops / 1e6);
  text += printed(" %8.2f", work.bytes / 1e6);
  text += work.bytes > 0 ? printed(" %7.2f", work.flops / work.bytes) : printed(" %7s", "-");
  return text + limiter_cells(profile, row, work) + "\n";
}

std::string operator_table(const Profile& profile) {
  const std::vector<ProfileRow> rows = profile_rows(profile);
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

std::string memory_lines(const Profile& profile) {
  if (!profile.memory) return "\npeak memory: not divided, " + profile.memory_reason + "\n";
  const MemorySplit& split = *profile.memory;
  const auto mb = [](std::int64_t bytes) { return static_cast<double>(bytes) / 1e6; };
  return printed("\ntensors' memory at its peak %.2f MB: parameters %.2f, buffers %.2f, gradients %.2f, "
                 "optimizer state %.2f, inputs %.2f, activations %.2f, workspace %.2f\n",
               mb(split.peak), mb(split.parameters), mb(split.buffers), mb(split.gradients),
               mb(split.optimizer_state), mb(split.inputs), mb(split.activations), mb(split.workspace));
}

std::string hint_lines(const Profile& profile) {
  std::string text;
  for (const AlignmentHint& hint : profile.hints) {
    text += hint.operation + " in " + hint.dtype + " of";
    for (const auto size : hint.dimensions) text += " " + std::to_string(size);
    text += ": tensor cores want multiples of " + std::to_string(hint.multiple) + "\n";
  }
  return text;
}

}  // namespace

std::string profiles_json(const std::vector<Profile>& profiles) {
  return nlohmann::json{{"items", profiles}}.dump() + "\n";
}

std::string profile_table(const Profile& profile) {
  if (profile.status != "profiled")
    return profile.workload + "  " + profile.status + ": " + profile.reason + "\n";
  return profile_heading(profile) + gpu_line(profile) + work_line(profile) + operator_table(profile) +
         memory_lines(profile) + hint_lines(profile);
}

}  // namespace nightjar::runner
