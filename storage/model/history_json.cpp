#include "storage/model/history_json.hpp"

#include <algorithm>
#include <cmath>

#include "storage/model/metric.hpp"

namespace nightjar {

BOOST_DESCRIBE_STRUCT(HistoryValue, (), (workload, metric, values, accuracy))
BOOST_DESCRIBE_STRUCT(HistoryNight, (), (measured_at, version, commit, origin, values))
BOOST_DESCRIBE_STRUCT(History, (), (machine_class, nights))

namespace {

// A ratio of what is not positive means nothing, so that no change of it could be judged.
void check_value(const HistoryValue& value) {
  const Metric* metric = find_metric(value.metric);
  const bool may_be_zero = metric && metric->repeatability == Repeatability::slope;
  const bool fits = std::all_of(
      value.values.begin(), value.values.end(),
      [may_be_zero](double one) { return std::isfinite(one) && (may_be_zero || one > 0); });
  if (!fits) reject_json("in 'values': a value of " + value.metric + " must be above 0");
  if (value.accuracy && value.metric != failures_metric)
    reject_json("in 'accuracy': only failures has it");
  if (value.metric != failures_metric || (value.accuracy && value.values.empty())) return;
  if (value.values.size() != 1 || (value.values[0] != 1 && value.values[0] != failed_value))
    reject_json("in 'values': failures has one value, 1 for a pass and 1.25 for a failure");
}

}  // namespace

const Described<HistoryValue>& described(Parsed<HistoryValue>) {
  static const auto made = aggregate<HistoryValue>(
      "HistoryValue", "The samples of one metric of one workload, in the metric's unit.",
      {{"workload", "suite/model/task/device/precision/bN/backend", {{"maxLength", 300}}},
       {"metric", "", metric_schema()},
       {"values", "All above 0, but for metrics that are 0 in health.", {{"maxItems", 10000}}},
       {"accuracy",
        "Dynamo's word, with failures. Without a value the compiler was not asked.",
        {},
        true}},
      check_value);
  return made;
}

const Described<HistoryNight>& described(Parsed<HistoryNight>) {
  static const auto made = aggregate<HistoryNight>(
      "HistoryNight", "What was measured of one build, once.",
      {{"version", "PyTorch's; empty: the build is named by time and commit.", line_schema(100)},
       {"origin", "The file that it comes from.", line_schema(400)},
       {"values", "", {{"maxItems", most_imported_values}}}});
  return made;
}

const Described<History>& described(Parsed<History>) {
  static const auto made =
      aggregate<History>("History", "Nights that were measured elsewhere, on one machine class.",
                         {{"machine_class", "", line_schema(200).with({{"minLength", 1}})},
                          {"nights", "", {{"maxItems", most_imported_nights}}}});
  return made;
}

}  // namespace nightjar
