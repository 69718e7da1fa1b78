// Where the level of an imported series moved. Each night of a history has one run or few, and none
// was interleaved with its neighbour. So nights are not judged one by one: a step is looked for in
// the whole series, against its own scatter, and nobody is blamed for it.
#pragma once

#include <string>
#include <vector>

#include "bisect/change_points.hpp"
#include "service/engine/context.hpp"
#include "storage/marks.hpp"
#include "storage/model/night.hpp"
#include "storage/model/regression.hpp"
#include "storage/model/series.hpp"

namespace nightjar::service {

// Judges a few of the series that got values since they were judged last. False: none is left.
bool judge_histories(EngineContext& context);

struct HistoryFacts {
  Series series;
  bisect::DetectionPolicy policy;
  std::vector<double> medians;  // of each build, oldest first
  std::vector<BuildId> builds;
  std::vector<NightId> nights;    // the first night of each build
  std::vector<Regression> known;  // findings of earlier imports
  std::vector<storage::Improvement> improvements;
  Time now{};
};
HistoryFacts load_history(const EngineView& view, const Series& series);

struct Finding {
  Regression regression;  // with an id: it was found before
  Evidence evidence;
};
// `opened`: new ones, and those that were dismissed before. `dismissed`: what more nights no longer
// show. Findings that still stand keep the evidence that they were found with. The levels replace
// those of the series.
struct HistoryVerdict {
  std::vector<Finding> opened;
  std::vector<Regression> dismissed;
  std::vector<storage::Improvement> improvements;
  std::vector<std::int64_t> gone;  // improvements
  std::vector<Level> levels;
};
// By bisect::change_points(). Pure.
HistoryVerdict decide(const HistoryFacts& facts);

}  // namespace nightjar::service
