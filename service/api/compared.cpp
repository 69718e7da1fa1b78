#include "service/api/compared.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <unordered_set>

#include "storage/many_series.hpp"
#include "storage/model/metric.hpp"
#include "storage/nights.hpp"

namespace nightjar::service::api {
using storage::Database;
namespace {

void add_choices(Comparison& comparison) {
  std::unordered_set<WorkloadId> known;
  for (const ComparedSeries& one : comparison.items) {
    const bool is_new = known.insert(one.series.workload).second;
    for (const GroupBy by : all_of<GroupBy>()) {
      // All series of a workload have the same parts of its name.
      const bool is_of_name = by == GroupBy::domain || by == GroupBy::suite ||
                              by == GroupBy::device || by == GroupBy::backend;
      if (by != GroupBy::model && (is_new || !is_of_name))
        comparison.choices[by].insert(value_of(one, by));
    }
  }
}

const Metric& metric_of(const Series& series) {
  static const Metric unknown{"", "", Direction::lower_is_better, Repeatability::noisy};
  const Metric* known = find_metric(series.metric);
  return known ? *known : unknown;
}

// Returns the nights whose runs are compared.
std::set<NightId> nights_of(const Database& db, BuildId good, BuildId bad) {
  std::set<NightId> nights;
  for (const BuildId build : {good, bad})
    if (const auto night = storage::find_night_of_build(db, build)) nights.insert(night->id);
  return nights;
}

}  // namespace

Comparison compare(Database& db, BuildId good, BuildId bad) {
  Comparison made{good, bad, compared_series(db, good, bad), {}};
  add_choices(made);
  return made;
}

std::size_t size_of(const Comparison& comparison) {
  constexpr std::size_t node_bytes = 64;  // of a set, besides its value
  const auto text_bytes = [](const std::string& text) {
    const bool is_within = text.capacity() <= std::string().capacity();
    return is_within ? 0 : text.capacity() + 16;
  };
  std::size_t bytes = sizeof comparison + comparison.items.capacity() * sizeof(ComparedSeries);
  for (const ComparedSeries& one : comparison.items)
    bytes += text_bytes(one.series.workload_name.str()) + text_bytes(one.series.metric) +
             text_bytes(one.series.variant) + text_bytes(one.domain);
  for (const auto& [by, values] : comparison.choices)
    for (const std::string& value : values) bytes += node_bytes + text_bytes(value);
  return bytes;
}

std::string value_of(const ComparedSeries& one, GroupBy by) {
  const WorkloadName& name = one.series.workload_name;
  switch (by) {
    case GroupBy::domain:
      return one.domain;
    case GroupBy::suite:
      return std::string(name.suite());
    case GroupBy::model:
      return std::string(name.model());
    case GroupBy::metric:
      return one.series.metric;
    case GroupBy::machine:
      return std::to_string(one.series.machine.value);
    case GroupBy::variant:
      return one.series.variant;
    case GroupBy::device:
      return std::string(name.device());
    case GroupBy::backend:
      return std::string(name.backend());
  }
  return "";
}

bool Comparisons::holds(const Database& db, const Kept& kept, RunId newest) {
  // A restored copy may have fewer runs.
  return newest >= kept.newest && kept.nights == nights_of(db, kept.made->good, kept.made->bad) &&
         !storage::measured_since(db, kept.newest, kept.nights);
}

std::shared_ptr<const Comparison> Comparisons::of(Database& db, BuildId good, BuildId bad) {
  // While one is made, others wait: most of them want the same.
  const std::lock_guard lock(mutex_);
  const RunId newest = storage::newest_run(db);
  std::erase_if(kept_, [&](const Kept& one) { return !holds(db, one, newest); });
  for (Kept& one : kept_) one.newest = newest;
  auto found = std::find_if(kept_.begin(), kept_.end(), [&](const Kept& one) {
    return one.made->good == good && one.made->bad == bad;
  });
  if (found != kept_.end()) {
    std::rotate(found, found + 1, kept_.end());
    return kept_.back().made;
  }
  auto made = std::make_shared<const Comparison>(compare(db, good, bad));
  keep({nights_of(db, good, bad), newest, made, {}});
  return made;
}

void Comparisons::keep(Kept one) {
  if (kept_.size() == most_kept) kept_.erase(kept_.begin());
  const std::size_t bytes = size_of(*one.made);
  const web::Payer payer{web::Account::comparisons, ""};
  auto charge = ledger_.try_charge(payer, bytes);
  while (!charge && !kept_.empty()) {
    kept_.erase(kept_.begin());
    charge = ledger_.try_charge(payer, bytes);
  }
  if (!charge) return;
  one.charge = *std::move(charge);
  kept_.push_back(std::move(one));
}

JudgedSeries judged(const ComparedSeries& one, double least) {
  const Metric& metric = metric_of(one.series);
  const bool by_ratio = one.change && metric.repeatability != Repeatability::slope;
  double low = one.difference.low, high = one.difference.high;
  bool is_large = std::abs(one.difference.value) >= metric.least_change;
  JudgedSeries made{&one};
  if (by_ratio) {
    low = one.change->low - 1, high = one.change->high - 1;
    is_large = std::abs(one.change->ratio - 1) >= least;
    made.size = std::abs(std::log(one.change->ratio));
  } else if (one.difference.value != 0) {
    made.size = std::numeric_limits<double>::infinity();
  }
  if (metric.direction != Direction::unknown && is_large && (low > 0 || high < 0))
    made.standing = (low > 0) == (metric.direction == Direction::lower_is_better)
                        ? Standing::worse
                        : Standing::better;
  return made;
}

bool comes_before(const JudgedSeries& a, const JudgedSeries& b) {
  const auto key = [](const JudgedSeries& judged) {
    return std::tuple(judged.standing == Standing::alike, -judged.size, judged.one->series.id);
  };
  return key(a) < key(b);
}

std::vector<JudgedSeries> judged(const Comparison& comparison, const ComparedFilter& filter,
                                 double least) {
  std::unordered_map<WorkloadId, bool> fits;
  std::vector<JudgedSeries> all;
  for (const ComparedSeries& one : comparison.items) {
    const Series& series = one.series;
    if (filter.metric && *filter.metric != series.metric) continue;
    if (filter.variant && *filter.variant != series.variant) continue;
    if (filter.machine && *filter.machine != series.machine) continue;
    const auto [fit, is_new] = fits.try_emplace(series.workload);
    if (is_new) fit->second = matches(filter.workload, series.workload_name);
    if (fit->second) all.push_back(judged(one, least));
  }
  std::sort(all.begin(), all.end(), comes_before);
  return all;
}

ComparedGroup taken_together(const std::string& name, const std::vector<JudgedSeries>& some) {
  ComparedGroup group{.name = name};
  std::map<std::string, std::pair<int, double>> logs;
  for (const JudgedSeries& judged : some) {
    ++(judged.standing == Standing::worse    ? group.worse
       : judged.standing == Standing::better ? group.better
                                             : group.alike);
    const SeriesId id = judged.one->series.id;
    if (!group.first || id < group.first) group.first = id;
    const bool differs = judged.standing != Standing::alike;
    if (differs && (!group.largest || comes_before(judged, *group.largest))) group.largest = judged;
    // That some runs pass and others fail has no mean.
    if (!judged.one->change || metric_of(judged.one->series).unit == "outcome") continue;
    auto& [count, sum] = logs[judged.one->series.metric];
    ++count;
    sum += std::log(judged.one->change->ratio);
  }
  for (const auto& [metric, sum] : logs)
    group.means.push_back({metric, sum.first, std::exp(sum.second / sum.first)});
  return group;
}

std::vector<ComparedGroup> grouped(const std::vector<JudgedSeries>& all, GroupBy by) {
  std::map<std::string, std::vector<JudgedSeries>> by_name;
  for (const JudgedSeries& judged : all) by_name[value_of(*judged.one, by)].push_back(judged);
  std::vector<ComparedGroup> groups;
  for (const auto& [name, some] : by_name) groups.push_back(taken_together(name, some));
  std::stable_sort(groups.begin(), groups.end(), [](const auto& a, const auto& b) {
    return std::tie(a.worse, a.better) > std::tie(b.worse, b.better);
  });
  return groups;
}

}  // namespace nightjar::service::api
