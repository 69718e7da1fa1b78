#include "service/api/result_check.hpp"

#include <algorithm>

#include "storage/model/possible.hpp"

namespace nightjar::service::api {
namespace {

std::string of_samples(const Metric& metric, const std::vector<double>& samples) {
  for (const double sample : samples)
    if (!is_possible(metric, sample))
      return "a " + std::string(metric.name) + " of " + std::to_string(sample) + " " +
             std::string(metric.unit);
  return {};
}

}  // namespace

std::string impossible_in(const RunResult& run) {
  for (const auto& [name, samples] : run.samples)
    if (const Metric* metric = find_metric(name))
      if (auto found = of_samples(*metric, samples); !found.empty()) return found;
  if (is_possible_duration(run.seconds)) return {};
  return "a duration of " + std::to_string(run.seconds) + " s";
}

std::string impossible_in(const JobSpec& spec, const SessionResult& result) {
  for (const auto& [key, seconds] : result.setup_seconds) {
    const auto is_this = [&](const EnvironmentSpec& asked) { return asked.key() == key; };
    if (std::none_of(spec.environments.begin(), spec.environments.end(), is_this))
      return "it set the environment " + key.substr(0, 200) + " up, which the job does not have";
    if (!is_possible_duration(seconds))
      return "it took " + std::to_string(seconds) + " s to set an environment up";
  }
  return {};
}

}  // namespace nightjar::service::api
