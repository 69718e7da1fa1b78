#include "storage/model/run_value.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "storage/model/metric.hpp"

namespace nightjar {
namespace {

constexpr double kWaited = 0.01;  // share of its time that an undisturbed iteration waits at most
constexpr double kSlowed = 1.25;  // slowdown of fixed work beside it at most
constexpr std::size_t kEnough = 5;

constexpr double kDecile = 0.1;

// Between the two order statistics next to it, as numpy has it.
double quantile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  const double at = share * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const auto above = std::min(below + 1, values.size() - 1);
  return values[below] + (at - static_cast<double>(below)) * (values[above] - values[below]);
}

std::vector<double> finite_of(const std::vector<double>& samples) {
  std::vector<double> finite;
  for (const double sample : samples)
    if (std::isfinite(sample)) finite.push_back(sample);
  return finite;
}

// The recorded latencies, if the waiting times go with them one by one.
const std::vector<double>* latency_with_waits(const RunResult& run) {
  const auto latency = run.samples.find("latency");
  if (latency == run.samples.end() || latency->second.size() != run.wait_seconds.size())
    return nullptr;
  return &latency->second;
}

}  // namespace

std::vector<double> undisturbed_latency(const RunResult& run) {
  const auto found = run.samples.find("latency");
  if (found == run.samples.end()) return {};
  const std::vector<double>& samples = found->second;
  const bool waits = latency_with_waits(run) != nullptr;
  const bool probed = run.slowdown.size() == samples.size();
  std::vector<double> undisturbed;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const bool waited = waits && run.wait_seconds[i] > kWaited * samples[i];
    const bool slowed = probed && run.slowdown[i] > kSlowed;
    if (std::isfinite(samples[i]) && !waited && !slowed) undisturbed.push_back(samples[i]);
  }
  std::vector<double> finite = finite_of(samples);
  if (undisturbed.size() >= kEnough || undisturbed.size() * 2 >= finite.size()) return undisturbed;
  return probed ? std::vector<double>{} : finite;
}

bool is_failure(RunStatus status) {
  switch (status) {
    case RunStatus::failed:
    case RunStatus::crashed:
    case RunStatus::timed_out:
    case RunStatus::out_of_memory:
    case RunStatus::wrong_result:
      return true;
    case RunStatus::measured:
    case RunStatus::unavailable:
    case RunStatus::broken_environment:
      break;
  }
  return false;
}

std::optional<double> value_of(const RunResult& run, std::string_view metric) {
  if (metric == kFailures && is_failure(run.status)) return kFailed;
  if (run.status != RunStatus::measured) return std::nullopt;
  if (metric == kFailures) return 1;
  const auto found = run.samples.find(std::string(metric));
  if (found == run.samples.end()) return std::nullopt;
  const bool latency = metric == "latency";
  std::vector<double> values = latency ? undisturbed_latency(run) : finite_of(found->second);
  if (values.empty()) return std::nullopt;
  return quantile(std::move(values), latency ? kDecile : 0.5);
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
