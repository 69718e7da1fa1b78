#include "bisect/evidence/policy_json.hpp"

#include "storage/model/json_io.hpp"

namespace nightjar::evidence {
using nlohmann::json;

json policy_json(const bisect::DetectionPolicy& policy) {
  json out{{"threshold", policy.threshold},        {"screen_change", policy.screen_change},
           {"screen_z", policy.screen_z},          {"interval_points", policy.interval_points},
           {"confidence", policy.confidence},      {"direction", policy.direction},
           {"repeatability", policy.repeatability}};
  if (policy.least_change != 0) out["least_change"] = policy.least_change;
  if (policy.smallest_shown != 0) out["smallest_shown"] = policy.smallest_shown;
  return out;
}

bisect::DetectionPolicy detection_policy(const json& in) {
  bisect::DetectionPolicy policy;
  policy.threshold = field<double>(in, "threshold");
  policy.screen_change = field<double>(in, "screen_change");
  policy.screen_z = field<double>(in, "screen_z");
  policy.interval_points = field<double>(in, "interval_points");
  policy.confidence = field<double>(in, "confidence");
  policy.direction = field<Direction>(in, "direction");
  policy.repeatability = field<Repeatability>(in, "repeatability");
  if (in.contains("least_change")) policy.least_change = field<double>(in, "least_change");
  if (in.contains("smallest_shown")) policy.smallest_shown = field<double>(in, "smallest_shown");
  return policy;
}

json control_json(const ControlReading& control) {
  return {{"gauge", control.gauge},
          {"within", control.within},
          {"moved", control.moved},
          {"unrest", control.unrest}};
}

std::vector<ControlReading> control_readings(const json& said) {
  std::vector<ControlReading> controls;
  if (!said.contains("controls")) return controls;
  for (const json& in : said.at("controls"))
    controls.push_back({field<Gauge>(in, "gauge"), field<double>(in, "within"),
                        field<std::optional<double>>(in, "moved"),
                        field<std::optional<double>>(in, "unrest")});
  return controls;
}

// Without what is of `bisect run` alone: several searches that share their runs.
json policy_json(const bisect::SearchPolicy& policy) {
  return {{"threshold", policy.threshold},
          {"certainty", policy.certainty},
          {"max_runs", policy.max_runs},
          {"first_runs", policy.first_runs},
          {"session_runs", policy.session_runs},
          {"build_cost", policy.build_cost},
          {"session_cost", policy.session_cost},
          {"build_ends_session", policy.build_ends_session},
          {"reproduce_runs", policy.reproduce_runs},
          {"builds_at_once", policy.builds_at_once},
          {"expected_noise", policy.expected_noise},
          {"expected_noise_runs", policy.expected_noise_runs}};
}

bisect::SearchPolicy search_policy(const json& in) {
  bisect::SearchPolicy policy;
  policy.threshold = field<double>(in, "threshold");
  policy.certainty = field<double>(in, "certainty");
  policy.max_runs = field<int>(in, "max_runs");
  policy.first_runs = field<int>(in, "first_runs");
  policy.session_runs = field<int>(in, "session_runs");
  policy.build_cost = field<double>(in, "build_cost");
  policy.session_cost = field<double>(in, "session_cost");
  policy.build_ends_session = field<bool>(in, "build_ends_session");
  policy.reproduce_runs = field<int>(in, "reproduce_runs");
  policy.builds_at_once = field<int>(in, "builds_at_once");
  policy.expected_noise = field<double>(in, "expected_noise");
  policy.expected_noise_runs = field<double>(in, "expected_noise_runs");
  return policy;
}

}  // namespace nightjar::evidence
