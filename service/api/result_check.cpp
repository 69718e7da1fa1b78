#include "service/api/result_check.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "storage/base/foreign_text.hpp"
#include "storage/model/possible.hpp"

namespace nightjar::service::api {
namespace {

std::string written(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", number);
  return text;
}

std::string of_samples(const Metric& metric, const std::vector<double>& samples) {
  for (const double sample : samples)
    if (!is_possible(metric, sample))
      return "a " + std::string(metric.name) + " of " + written(sample) + " " +
             std::string(metric.unit);
  return {};
}

std::string of_spans(const char* name, const std::vector<double>& spans) {
  for (const double span : spans)
    if (!is_possible_duration(span)) return "a value of " + written(span) + " in " + name;
  return {};
}

}  // namespace

std::string impossible_in(const RunResult& run) {
  for (const auto& [name, samples] : run.samples) {
    if (!is_metric_name(name)) return "a metric that is called '" + shortened(name, 100) + "'";
    if (const Metric* metric = find_metric(name))
      if (auto found = of_samples(*metric, samples); !found.empty()) return found;
  }
  for (const auto& [name, spans] : {std::pair("cpu_seconds", &run.cpu_seconds),
                                    {"wait_seconds", &run.wait_seconds},
                                    {"slowdown", &run.slowdown}})
    if (auto found = of_spans(name, *spans); !found.empty()) return found;
  if (is_possible_duration(run.seconds)) return {};
  return "a duration of " + written(run.seconds) + " s";
}

std::string impossible_in(const JobSpec& spec, const SessionResult& result) {
  for (const auto& [key, seconds] : result.setup_seconds) {
    const auto is_this = [&](const EnvironmentSpec& asked) { return asked.key() == key; };
    if (std::none_of(spec.environments.begin(), spec.environments.end(), is_this))
      return "it set the environment " + key.substr(0, 200) + " up, which the job does not have";
    if (!is_possible_duration(seconds))
      return "it took " + written(seconds) + " s to set an environment up";
  }
  return {};
}

}  // namespace nightjar::service::api
