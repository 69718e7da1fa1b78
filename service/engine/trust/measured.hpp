// How often verdicts were right here: false alarms, power, the smallest change that is seen, and
// how often the search is right when it says how sure it is. Used by REST and /metrics.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bisect/reliability.hpp"
#include "bisect/statistics.hpp"
#include "service/config.hpp"
#include "storage/trust.hpp"

namespace nightjar::service {

struct TrustFacts {
  std::vector<Judged> judged;
  std::vector<ConfirmedFindings> confirmed;
  std::vector<KnownCases> cases;
  storage::ReplayPredictions replays;
  std::vector<Prediction> told;
  std::map<std::string, double> thresholds;  // of the metrics in `judged`
};
TrustFacts load_trust(const storage::Database& db, const Config& config);

// What was counted where a machine class cannot show the threshold of a metric. By machine class,
// then metric.
std::vector<Judged> cannot_show(const TrustFacts& facts);

// How often something happened, with the 95 % interval (Clopper and Pearson) of its probability.
struct Rate {
  std::int64_t cases = 0, hits = 0;
  bisect::Interval interval{0, 1};

  std::optional<double> share() const;  // nullopt without cases
};

struct PlantedRate {
  double change = 0;  // of all in this rate, as a share
  Rate seen;
};

// One metric on one machine class.
struct MeasuredVerdicts {
  Judged judged;  // since the epoch and 0 nights: no night was counted yet
  ConfirmedFindings findings;
  // Confirmed, and then not reproduced by the search or dismissed by a person; of series-nights.
  Rate false_alarms;
  Rate same_build;                   // a build against itself, judged worse
  std::vector<PlantedRate> planted;  // by size, the smallest first
  // The smallest planted change of which 95 % confidence says that at least .9 are seen.
  std::optional<double> smallest_planted;
  // False where the computed one is clearly over the metric's threshold; nullopt: not known.
  std::optional<bool> shows_threshold;
  std::vector<std::string> not_measured;  // sentences: what is not known yet, and what would tell
};

// replay_named: the steps that replayed searches named. replay_suspected: their likeliest commit on
// the way there, once a search and bin. told: culprits of finished searches whose cause a person
// has named, or which a person has dismissed.
NIGHTJAR_ENUM(PredictionSource, replay_named, replay_suspected, told);

struct MeasuredSearches {
  PredictionSource source = PredictionSource::replay_named;
  std::vector<bisect::Reliability> bins;
  std::optional<std::string> not_measured;
};

struct MeasuredTrust {
  std::vector<MeasuredVerdicts> verdicts;  // by machine class, then metric
  std::vector<MeasuredSearches> searches;  // one of each source
};
MeasuredTrust measure(const TrustFacts& facts);  // pure

}  // namespace nightjar::service
