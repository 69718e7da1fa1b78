// What the compiled workloads of one suite came to on one night, taken together: how many pass,
// means over its members, and whether a mean moved. Made when a night ends; REST and the page show
// it.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "storage/model/accuracy.hpp"
#include "storage/model/enum.hpp"
#include "storage/model/hex.hpp"
#include "storage/model/id.hpp"
#include "storage/model/time.hpp"

namespace nightjar {

using SuiteId = Id<struct SuiteTag>;  // of one summary

// Speed-up and compression are over eager, so more is better. Seconds of compile time are not.
NIGHTJAR_ENUM(SuiteMeasure, speedup, compile_time, cpu_compression, gpu_compression);

// suspect_worse, suspect_better: this night shows it, and the next one tells whether it stays.
// members_changed: the mean moved, but not the members that earlier nights had.
NIGHTJAR_ENUM(SuiteVerdict, first_night, same, suspect_worse, suspect_better, worse, better,
              members_changed);

// What is summed up in one line.
struct SuiteKey {
  MachineId machine;
  std::string variant;  // of the build
  std::string suite, task, device, precision, backend;
  auto operator<=>(const SuiteKey&) const = default;
};

// One model of a suite on one night. Values are locations of the night's runs.
struct SuiteMember {
  std::int64_t id = 0;
  SuiteId summary;
  WorkloadId workload;
  std::string name = {};  // of the workload
  int version = 1;
  SeriesId series;  // of its latency; 0: it has none
  std::optional<Accuracy> accuracy = {};
  bool passed = false;
  std::optional<double> latency = {};  // seconds
  std::map<SuiteMeasure, double> values = {};
};

// How the members that earlier nights had, too, stand to their own level: the location of their
// ratios and its 95 % interval over members.
struct SuiteChange {
  double ratio = 1, low = 1, high = 1;
  int members = 0;
};

// A mean over those members that pass and have the value.
struct SuiteMean {
  SuiteMeasure measure = SuiteMeasure::speedup;
  double value = 0;
  int members = 0;
  Sha256 members_sha256;  // of their names and versions
  double level = 0;       // what the mean of these members usually is
  SuiteVerdict verdict = SuiteVerdict::first_night;
  std::optional<SuiteChange> change = {};
  // Share by which nights differ without a change; nullopt: too few are known.
  std::optional<double> allowed = {};
  int came = 0, went = 0;  // members that the night before lacked, and that only it had
  std::string reason = {};
};

struct SuiteSummary {
  SuiteId id;
  NightId night;
  BuildId build;  // that the night measured
  Time at{};      // when the night began
  SuiteKey key;
  int models = 0, passed = 0;
  std::vector<SuiteMean> means = {};  // at most one a measure
};

}  // namespace nightjar
