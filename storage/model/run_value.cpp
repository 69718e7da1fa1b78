#include "storage/model/run_value.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "storage/model/metric.hpp"
#include "storage/model/workload_variant.hpp"

namespace nightjar {
namespace {

constexpr double most_waited =
    0.01;  // share of its time that an undisturbed iteration waits at most
constexpr std::size_t enough = 5;

constexpr double decile_share = 0.1;
constexpr double smallest_sum = 1e-9;  // a checksum of 0 is compared with this share of it

// Between the two order statistics next to it, as numpy has it.
double quantile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  const double at = share * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(at);  // NOLINT(custom-foreign-number): share is ours
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

// The first decile of the iterations that count; nullopt without any.
std::optional<double> decile_of(const std::vector<double>& seconds,
                                const std::vector<double>& waits,
                                const std::vector<double>& slowdown) {
  std::vector<double> kept = undisturbed(seconds, waits, slowdown);
  if (kept.empty()) return std::nullopt;
  return quantile(std::move(kept), decile_share);
}

}  // namespace

std::vector<double> undisturbed(const std::vector<double>& seconds,
                                const std::vector<double>& waits,
                                const std::vector<double>& slowdown) {
  const bool waited_known = waits.size() == seconds.size();
  const bool probed = slowdown.size() == seconds.size();
  std::vector<double> kept;
  kept.reserve(seconds.size());
  for (std::size_t i = 0; i < seconds.size(); ++i) {
    const bool waited = waited_known && waits[i] > most_waited * seconds[i];
    const bool slowed = probed && slowdown[i] > undisturbed_slowdown;
    if (std::isfinite(seconds[i]) && !waited && !slowed) kept.push_back(seconds[i]);
  }
  if (kept.size() >= enough) return kept;
  std::vector<double> finite = finite_of(seconds);
  if (kept.size() * 2 >= finite.size()) return kept;
  return probed ? std::vector<double>{} : finite;
}

bool is_failure(RunStatus status) {
  switch (status) {
    case RunStatus::failed:
    case RunStatus::crashed:
    case RunStatus::timed_out:
    case RunStatus::out_of_memory:
    case RunStatus::wrong_result:
    case RunStatus::broken_environment:
      return true;
    case RunStatus::measured:
    case RunStatus::unavailable:
      break;
  }
  return false;
}

Accuracy accuracy_of(RunStatus status, bool eager) {
  switch (status) {
    case RunStatus::measured:
      return eager ? Accuracy::pass : Accuracy::no_evidence;
    case RunStatus::wrong_result:
      return Accuracy::fail_accuracy;
    case RunStatus::unavailable:
      return Accuracy::model_fail_to_load;
    case RunStatus::out_of_memory:
      return eager ? Accuracy::eager_1st_run_OOM : Accuracy::OOM;
    case RunStatus::timed_out:
      return Accuracy::timeout;
    case RunStatus::broken_environment:
      return Accuracy::infra_error;
    default:
      return eager ? Accuracy::eager_fail_to_run : Accuracy::fail_to_run;
  }
}

std::optional<Accuracy> accuracy_of(const RunResult& run, const WorkloadName& name) {
  if (run.accuracy) return run.accuracy;
  if (run.status == RunStatus::measured || compiler_of(name) == "eager") return std::nullopt;
  return accuracy_of(run.status, false);
}

bool gives_another_result(const RunResult& run) {
  if (run.status != RunStatus::measured || !run.checksum || !run.expected) return false;
  const double expected = std::fabs(run.expected->checksum);
  return std::fabs(*run.checksum - run.expected->checksum) >
         run.expected->tolerance * std::max(expected, smallest_sum);
}

std::optional<double> value_of(const RunResult& run, std::string_view metric) {
  if (metric == failures_metric && is_failure(run.status)) return failed_value;
  if (run.status != RunStatus::measured) return std::nullopt;
  if (metric == failures_metric) return gives_another_result(run) ? failed_value : 1;
  // A run has a few metrics, and is asked for all. To make a key of each took longer than to
  // compare.
  const auto found = std::find_if(run.samples.begin(), run.samples.end(),
                                  [&](const auto& samples) { return samples.first == metric; });
  if (found == run.samples.end()) return std::nullopt;
  if (metric == "latency") return decile_of(found->second, run.wait_seconds, run.slowdown);
  std::vector<double> values = finite_of(found->second);
  if (values.empty()) return std::nullopt;
  return quantile(std::move(values), 0.5);
}

std::vector<double> values_of(const Profile& profile,
                              const std::vector<std::vector<double>>& seconds) {
  std::vector<double> values;
  for (std::size_t run = 0; run < seconds.size(); ++run)
    if (const auto value = decile_of(seconds[run], {}, profile.runs[run].slowdown))
      values.push_back(*value);
  return values;
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
