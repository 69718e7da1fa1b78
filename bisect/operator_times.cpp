#include "bisect/operator_times.hpp"

#include <algorithm>

#include "bisect/statistics.hpp"
#include "storage/model/run_value.hpp"

namespace nightjar::bisect {
namespace {

double median_or_0(const std::vector<double>& values) {
  return values.empty() ? 0 : median(values);
}

}  // namespace

double over_runs(const Profile& profile, const std::vector<std::vector<double>>& seconds) {
  return median_or_0(values_of(profile, seconds));
}

double over_runs(const Profile& profile, std::vector<double> ProfileRun::*list) {
  std::vector<std::vector<double>> seconds;
  for (const ProfileRun& run : profile.runs) seconds.push_back(run.*list);
  return over_runs(profile, seconds);
}

std::vector<double> device_values(const std::vector<std::vector<double>>& seconds) {
  std::vector<double> values;
  for (const std::vector<double>& run : seconds)
    if (!run.empty()) values.push_back(median(run));
  return values;
}

bool has_times(const Profile& profile) {
  return over_runs(profile, &ProfileRun::iteration_seconds) > 0;
}

bool has_gpu(const Profile& profile) {
  return !profile.runs.empty() && !profile.runs.front().active_seconds.empty();
}

OperatorTimes times_of(const Profile& profile, const OperatorProfile& one) {
  return {&one, over_runs(profile, one.self_seconds),
          median_or_0(device_values(one.device_seconds))};
}

std::vector<OperatorTimes> longest_first(const Profile& profile) {
  std::vector<OperatorTimes> all;
  for (const OperatorProfile& one : profile.operators) all.push_back(times_of(profile, one));
  std::stable_sort(all.begin(), all.end(), [](const OperatorTimes& a, const OperatorTimes& b) {
    return a.longest() > b.longest();
  });
  return all;
}

std::vector<OperatorClass> classes_of(const Profile& profile) {
  std::vector<OperatorClass> all;
  for (const char* name : {"contraction", "normalisation", "elementwise", "movement", "other"})
    all.emplace_back().name = name;
  double flops = 0, seconds = 0;
  for (const OperatorProfile& one : profile.operators) {
    const OperatorTimes times = times_of(profile, one);
    auto found = std::find_if(all.begin(), all.end(),
                              [&](const OperatorClass& made) { return made.name == one.kind; });
    if (found == all.end()) --found;
    found->flops += static_cast<double>(one.flops);
    found->seconds += has_gpu(profile) ? times.device : times.self;
    flops += static_cast<double>(one.flops);
    seconds += has_gpu(profile) ? times.device : times.self;
  }
  std::erase_if(all, [](const OperatorClass& made) { return made.flops + made.seconds <= 0; });
  for (OperatorClass& made : all) {
    made.flops_share = flops > 0 ? made.flops / flops : 0;
    made.seconds_share = seconds > 0 ? made.seconds / seconds : 0;
  }
  return all;
}

Work work_of(const OperatorTimes& times) {
  return {static_cast<double>(times.one->flops),
          static_cast<double>(times.one->bytes),
          times.seconds(),
          times.one->unknown == 0,
          times.one->dtype,
          times.one->calls};
}

std::optional<Limiter> limiter_of(const Profile& profile, const OperatorTimes& times) {
  const bool is_timed = has_gpu(profile) ? times.device > 0 : has_times(profile);
  if (!profile.ceilings || !is_timed) return std::nullopt;
  return limiter_of(work_of(times), *profile.ceilings);
}

}  // namespace nightjar::bisect
