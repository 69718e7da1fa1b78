// Two builds series by series: what differs beyond noise, in which order it is shown, and what
// groups of series came to. Internal to the API.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "service/engine/outcome/difference_facts.hpp"
#include "storage/database.hpp"
#include "storage/model/domain.hpp"
#include "storage/model/series.hpp"
#include "web/server/ledger.hpp"

namespace nightjar::service::api {

NIGHTJAR_ENUM(Standing, worse, better, alike);
NIGHTJAR_ENUM(GroupBy, domain, suite, model, metric, machine, variant, device, backend);

struct Comparison {
  BuildId good, bad;
  std::vector<ComparedSeries> items;                 // by id of the series
  std::map<GroupBy, std::set<std::string>> choices;  // all values that there are, but of models
};
Comparison compare(storage::Database& db, BuildId good, BuildId bad);
// What it takes of memory, in bytes.
std::size_t size_of(const Comparison& comparison);
std::string value_of(const ComparedSeries& one, GroupBy by);

// Keeps the last few comparisons until runs of their nights are stored: each page of one takes no
// second reading, whatever else is measured meanwhile. What is kept is charged to
// Account::comparisons; one that has no room there is read again for each page. From any thread.
class Comparisons {
 public:
  explicit Comparisons(const web::Ledger& ledger) : ledger_(ledger) {}
  std::shared_ptr<const Comparison> of(storage::Database& db, BuildId good, BuildId bad);

 private:
  static constexpr std::size_t most_kept = 4;
  struct Kept {
    std::set<NightId> nights;
    RunId newest;  // when it was made, or was last seen to hold still
    std::shared_ptr<const Comparison> made;
    web::Charge charge;
  };
  static bool holds(const storage::Database& db, const Kept& kept, RunId newest);
  // Forgets the oldest ones to have room for it; if even so there is none, keeps nothing of it.
  void keep(Kept one);

  web::Ledger ledger_;
  std::mutex mutex_;
  std::vector<Kept> kept_;  // the last one that was asked for comes last
};

// A series that is not alike is worse or better beyond noise: the 95 % interval leaves out no
// change, and the change is as large as asked. If a metric is normally near
// zero, or a value is not positive, the difference counts in place of the ratio.
struct JudgedSeries {
  const ComparedSeries* one = nullptr;
  Standing standing = Standing::alike;
  double size = 0;  // of the ratio, by its logarithm; infinite where only the difference counts
};
// `least`: the least ratio that counts, as a share.
JudgedSeries judged(const ComparedSeries& one, double least);
// What differs comes first, the largest change first, then by id.
bool comes_before(const JudgedSeries& a, const JudgedSeries& b);

struct ComparedFilter {
  WorkloadFilter workload = {};
  std::optional<std::string> metric = {}, variant = {};
  std::optional<MachineId> machine = {};
};
// Judges the series that the filter takes, in order.
std::vector<JudgedSeries> judged(const Comparison& comparison, const ComparedFilter& filter,
                                 double least);

// The mean of one metric, over the series that have a ratio. Outcomes, such as failures, have none.
struct MetricMean {
  std::string metric;
  int series = 0;
  double ratio = 1;  // geometric mean
};
struct ComparedGroup {
  std::string name;  // empty: all series
  int worse = 0, better = 0, alike = 0;
  std::vector<MetricMean> means = {};
  // The one that comes first; of a group that has none that differs, none.
  std::optional<JudgedSeries> largest = {};
  SeriesId first = {};  // the smallest id, which no other group has
};
ComparedGroup taken_together(const std::string& name, const std::vector<JudgedSeries>& some);
// The group with the most that is worse comes first, then that with the most that is better.
std::vector<ComparedGroup> grouped(const std::vector<JudgedSeries>& all, GroupBy by);

}  // namespace nightjar::service::api
