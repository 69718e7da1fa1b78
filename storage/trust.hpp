// How often verdicts were right: what is counted of each night, what people said of findings, and
// how sure searches were. All lists are short, or hold the newest only.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "storage/database.hpp"
#include "storage/model/enum.hpp"
#include "storage/model/hex.hpp"
#include "storage/model/id.hpp"
#include "storage/model/replay.hpp"
#include "storage/model/time.hpp"

namespace nightjar {

// The smallest worsening that a night would have seen with probability .9, by the noise of its
// series: the median series, and the 95 % interval of that median.
struct SmallestSeen {
  int series = 0;  // whose noise is known
  double change = 0, low = 0, high = 0;
};

// What stage one judged of one metric on one machine class.
struct Judged {
  MachineId machine;
  std::string metric;
  Time since{};  // of the first night that was counted
  int nights = 0;
  std::int64_t series_nights = 0;  // series that were held against a level, summed over nights
  std::int64_t suspicions = 0;     // that stage one had
  std::int64_t dismissed = 0;      // of them by stage two
  std::optional<SmallestSeen> smallest;  // of the newest night
};

// What stage two confirmed of what Judged counts, and what became of it.
struct ConfirmedFindings {
  MachineId machine;
  std::string metric;
  int confirmed = 0;
  int not_reproduced = 0;  // the search did not see it again
  int no_regression = 0;   // a person dismissed it as no regression
};

// What a person said about a finding: it is no regression; it is intended; or this commit did it.
NIGHTJAR_ENUM(RulingKind, no_regression, meant, cause);
struct Ruling {
  RegressionId regression;
  RulingKind kind = RulingKind::no_regression;
  bool confirmed = false;           // it was confirmed before
  std::optional<CommitSha> commit;  // of a cause
  Time at{};
};

// Cases of one size, see storage/calibration.hpp; `planted` 0: a build against itself.
struct KnownCases {
  MachineId machine;
  std::string metric;
  double planted = 0;
  int cases = 0, worse = 0;
};

namespace storage {

// Adds a night to what is counted. `smallest` takes the place of the one before.
void count_judged(Transaction& transaction, const Judged& night);
// A suspicion of the lead series, opened then, was dismissed by stage two.
void count_dismissed(Transaction& transaction, SeriesId lead, Time opened);
std::vector<Judged> judged_so_far(const Database& db);  // by machine, then metric
std::vector<ConfirmedFindings> confirmed_findings(const Database& db);

void set_ruling(Transaction& transaction, const Ruling& ruling);  // the last word counts

// Counts the newest 20,000 cases, by machine, metric and size.
std::vector<KnownCases> known_cases(const Database& db);

// What replayed searches predicted: the steps that they named, and the likeliest commits on the way
// there.
struct ReplayPredictions {
  std::vector<Prediction> named, suspected;
};
ReplayPredictions predictions_of_replays(const Database& db);  // the newest 5,000, both together
// Returns the predictions of finished searches about findings for which a person has named the
// commit, or which a person has dismissed as no regression.
std::vector<Prediction> predictions_with_ruling(const Database& db);  // the newest 5,000

}  // namespace storage
}  // namespace nightjar
