// Each measured workload's status and metrics. Tables and exchange formats are made of it. It comes
// from a measurement just taken or from its JSON. Used by `nightjar-runner` and `nightjar`.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "runner/format/measurement.hpp"
#include "runner/format/run_summary.hpp"

namespace nightjar::runner {

struct ItemMetric {
  std::size_t runs = 0;
  std::vector<double> values;      // one a run, in the metric's unit; a run that never saw the
                                   // machine undisturbed has no latency
  std::optional<Summary> summary;  // of the values
};

struct SuiteItem {
  WorkloadName name;
  RunStatus status = RunStatus::measured;
  std::string reason;  // of the status; empty if measured
  Accuracy accuracy = Accuracy::pass;
  std::map<std::string, ItemMetric> metrics;
  std::optional<double> value(const std::string& metric) const;  // of its runs together
};

struct SuiteResult {
  std::string version, commit;  // of the build
  std::map<std::string, std::string> machine;
  std::vector<SuiteItem> items;
};

SuiteResult suite_result(const Measurement& measurement);
// Reads what `measure --json` wrote. Throws std::invalid_argument that says what is wrong with it.
SuiteResult read_suite_result(const std::string& json);

// The status and reason that the JSON has. The status is measured, unavailable or failed. If it is
// failed, the reason begins with the kind of failure.
std::string contract_status(RunStatus status);
std::string contract_reason(RunStatus status, const std::string& reason);

}  // namespace nightjar::runner
