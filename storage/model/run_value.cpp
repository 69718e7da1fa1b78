#include "storage/model/run_value.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace nightjar {
namespace {

constexpr double kWaited = 0.01;  // share of its time that an undisturbed iteration waits at most
constexpr double kSlowed = 1.25;  // slowdown of fixed work beside it at most
constexpr std::size_t kEnough = 5;

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

// The recorded latencies, if the waiting times go with them one by one.
const std::vector<double>* latency_with_waits(const RunResult& run) {
  const auto latency = run.samples.find("latency");
  if (latency == run.samples.end() || latency->second.size() != run.wait_seconds.size())
    return nullptr;
  return &latency->second;
}

}  // namespace

std::optional<double> value_of(const RunResult& run, std::string_view metric) {
  const auto found = run.samples.find(std::string(metric));
  if (found == run.samples.end()) return std::nullopt;
  const std::vector<double>& samples = found->second;
  const bool waits = latency_with_waits(run) == &samples;
  const bool probed = metric == "latency" && run.slowdown.size() == samples.size();
  std::vector<double> finite, undisturbed;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (!std::isfinite(samples[i])) continue;
    finite.push_back(samples[i]);
    const bool waited = waits && run.wait_seconds[i] > kWaited * samples[i];
    const bool slowed = probed && run.slowdown[i] > kSlowed;
    if (!waited && !slowed) undisturbed.push_back(samples[i]);
  }
  if (finite.empty()) return std::nullopt;
  const bool enough = undisturbed.size() >= kEnough || undisturbed.size() * 2 >= finite.size();
  return median(enough ? std::move(undisturbed) : std::move(finite));
}

double wait_share_of(const RunResult& run) {
  const std::vector<double>* latency = latency_with_waits(run);
  if (!latency) return 0;
  const double measured = std::accumulate(latency->begin(), latency->end(), 0.0);
  const double waited = std::accumulate(run.wait_seconds.begin(), run.wait_seconds.end(), 0.0);
  const double share = waited / measured;
  return std::isfinite(share) ? share : 0;
}

}  // namespace nightjar
