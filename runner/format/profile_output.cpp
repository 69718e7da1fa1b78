#include "runner/format/profile_output.hpp"

#include <algorithm>

#include "bisect/operator_times.hpp"
#include "bisect/roofline.hpp"
#include "bisect/statistics.hpp"
#include "runner/format/profile_operators.hpp"
#include "storage/model/json.hpp"
#include "storage/model/json_io.hpp"
#include "storage/model/run_value.hpp"

namespace nightjar::runner {
namespace {

std::string profile_heading(const Profile& profile) {
  int iterations = 0, quiet = 0;
  for (const ProfileRun& run : profile.runs)
    for (const double slowdown : run.slowdown)
      ++iterations, quiet += slowdown <= undisturbed_slowdown;
  std::vector<double> plain;
  for (const ProfileRun& run : profile.runs) plain.push_back(run.plain_seconds);
  const std::string counts =
      printed("(%.3f ms without the profiler); %zu %s, %d of %d iterations undisturbed\n",
              bisect::median(plain) * 1e3, profile.runs.size(),
              profile.runs.size() == 1 ? "run" : "runs", quiet, iterations);
  const std::string heading = profile.workload + "  PyTorch " + profile.torch_version + "\n";
  if (!bisect::has_times(profile))
    return heading + "iteration disturbed " + counts +
           "no run saw the machine undisturbed, so the host has no times; use more "
           "--iterations, or see nightjar-runner doctor\n";
  const double whole = bisect::over_runs(profile, &ProfileRun::iteration_seconds);
  const double outside = bisect::over_runs(profile, &ProfileRun::outside_seconds);
  return heading + printed("iteration %.3f ms ", whole * 1e3) + counts +
         printed(
             "in operators %.3f ms, outside of them (the model's code, autograd engine, optimizer) "
             "%.3f ms, %.0f %%\n",
             (whole - outside) * 1e3, outside * 1e3, 100 * outside / whole);
}

std::string work_line(const Profile& profile) {
  double flops = 0, bytes = 0;
  std::string unknown;
  for (const OperatorProfile& one : profile.operators) {
    flops += static_cast<double>(one.flops);
    bytes += static_cast<double>(one.bytes);
    if (one.unknown > 0) unknown += (unknown.empty() ? "" : ", ") + one.name;
  }
  std::string text = printed("%.1f MFLOP, %.1f MB moved, %.2f FLOP a byte%s%s\n", flops / 1e6,
                             bytes / 1e6, bytes > 0 ? flops / bytes : 0,
                             unknown.empty() ? "" : "; not counted: ", unknown.c_str());
  if (!profile.ceilings) return text;
  const Ceilings& ceilings = *profile.ceilings;
  text += printed("this machine, %d thread%s, at most: %.1f GB/s", ceilings.threads,
                  ceilings.threads == 1 ? "" : "s", ceilings.bytes / 1e9);
  for (const auto& [dtype, rate] : ceilings.flops)
    text += printed(", %s %.1f GFLOP/s (%s %.1f FLOP a byte)", dtype.c_str(), rate / 1e9,
                    std::count(ceilings.emulated.begin(), ceilings.emulated.end(), dtype) > 0
                        ? "emulated: this CPU has no units for it; ridge"
                        : "ridge",
                    bisect::ridge(ceilings, dtype));
  return text + "\n";
}

std::string gpu_line(const Profile& profile) {
  if (!bisect::has_gpu(profile)) return {};
  const double active = bisect::over_runs(profile, &ProfileRun::active_seconds);
  const double moving = bisect::over_runs(profile, &ProfileRun::moving_seconds);
  const double idle = bisect::over_runs(profile, &ProfileRun::idle_seconds);
  const double whole = std::max(active + moving + idle, 1e-12);
  return printed("GPU: active %.0f %%, moving data %.0f %%, idle %.0f %%\n", 100 * active / whole,
                 100 * moving / whole, 100 * idle / whole);
}

std::string memory_lines(const Profile& profile) {
  if (!profile.memory) return "\npeak memory: not divided, " + profile.memory_reason + "\n";
  const MemorySplit& split = *profile.memory;
  const auto mb = [](std::int64_t bytes) { return static_cast<double>(bytes) / 1e6; };
  std::string text = printed(
      "\ntensors' memory at its peak %.2f MB: parameters %.2f, buffers %.2f, gradients %.2f, "
      "optimizer state %.2f, inputs %.2f, kept from earlier iterations %.2f, activations %.2f, "
      "workspace %.2f; outside tensors %.2f\n",
      mb(split.peak), mb(split.parameters), mb(split.buffers), mb(split.gradients),
      mb(split.optimizer_state), mb(split.inputs), mb(split.kept_from_earlier_iterations),
      mb(split.activations), mb(split.workspace), mb(split.outside_tensors));
  for (const auto& [name, held] : split.holders)
    text += printed("kept from earlier iterations: %lld tensors of %s, %.2f MB, held by ",
                    static_cast<long long>(held.tensors), held.shape.c_str(), mb(held.bytes)) +
            name + (held.place.empty() ? "" : " (" + held.place + ")") + "\n";
  return text;
}

std::string hint_lines(const Profile& profile) {
  std::string text;
  for (const ProductHint& hint : profile.hints) text += text_of(hint) + "\n";
  return text;
}

}  // namespace

std::string profiles_json(const std::vector<Profile>& profiles) {
  auto items = nlohmann::json::array();
  for (const Profile& profile : profiles) {
    nlohmann::json item = profile;
    const auto found = limiters(profile);
    for (std::size_t i = 0; i < found.size(); ++i) item["operators"][i]["limiter"] = found[i];
    item["classes"] = nlohmann::json::array();
    for (const bisect::OperatorClass& one : bisect::classes_of(profile))
      item["classes"].push_back({{"class", one.name},
                                 {"flops_share", one.flops_share},
                                 {"seconds_share", one.seconds_share}});
    items.push_back(std::move(item));
  }
  return nlohmann::json{{"items", items}}.dump() + "\n";
}

std::string profile_table(const Profile& profile) {
  if (profile.status != "profiled")
    return profile.workload + "  " + profile.status + ": " + profile.reason + "\n";
  const bool timed = bisect::has_times(profile);
  return profile_heading(profile) + (timed ? gpu_line(profile) : "") + work_line(profile) +
         (timed || bisect::has_gpu(profile) ? operator_table(profile) + class_table(profile) : "") +
         memory_lines(profile) + hint_lines(profile);
}

}  // namespace nightjar::runner
