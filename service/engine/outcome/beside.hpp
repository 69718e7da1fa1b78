// One machine class beside another, and the last release beside the newest nightly, workload by
// workload. Used by REST; the functions that compare are pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bisect/statistics.hpp"
#include "storage/database.hpp"
#include "storage/model/series.hpp"
#include "storage/series.hpp"

namespace nightjar::service {

// What a machine class measured of one series.
struct MeasuredOnBuilds {
  Series series;
  std::vector<storage::SeriesPoint> builds = {};  // newest first; at least one value each
  std::string failure = {};  // what its newest nightly's runs came to; empty: they passed
  BuildId level_since = {};  // the first build of the newest accepted level; 0: there is none
};
// Every series of the metric and workloads on the class, with its newest nightlies and all of its
// releases. A workload that has no value, because it failed, is there with its `failures`.
std::vector<MeasuredOnBuilds> measured_on(const storage::Database& db, MachineId machine,
                                          const std::string& metric,
                                          const WorkloadFilter& workloads);

// A build with a single run says nothing about noise. Then `point` has the runs of up to five
// nightlies of the same level, or of all imports of the same release.
struct BesideSide {
  Series series;
  storage::SeriesPoint point;
  double value = 0;  // Hodges-Lehmann location of the runs, in the metric's unit
};
struct BesideRow {
  Series series;  // of the first side, or of the other where that has none
  std::optional<BesideSide> first = {}, other = {};
  std::optional<double> ratio = {};  // first / other, by the Hodges-Lehmann shift of logarithms
  // Its 95 % interval; of less than four runs a side the range of all pairs' ratios, which covers
  // less. Both sides need two runs.
  std::optional<bisect::Interval> interval = {};
  std::string reason = {};  // why there is no ratio; empty: there is one
};
// Sorted: the largest ratio first, whichever side is the faster; what has none comes last, by name.
// Takes the newest date that both measured, else the newest nightly of each. Builds of two variants
// are compared where a workload has no variant in common, as CUDA's and ROCm's have none.
std::vector<BesideRow> machines_beside(const std::vector<MeasuredOnBuilds>& first,
                                       const std::vector<MeasuredOnBuilds>& other);
// The last release that was measured is `first`, the newest nightly `other`.
std::vector<BesideRow> release_beside(const std::vector<MeasuredOnBuilds>& all);

}  // namespace nightjar::service
