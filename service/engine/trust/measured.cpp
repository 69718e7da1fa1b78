#include "service/engine/trust/measured.hpp"

#include <map>

#include "bisect/calibration.hpp"
#include "service/engine/policy.hpp"

namespace nightjar::service {
namespace {

constexpr double confidence = .95;
constexpr double stated_power = .9;
constexpr const char* calibrated = "latency";  // the only metric that calibration compares

using Group = std::pair<MachineId, std::string>;

Rate rate_of(std::int64_t hits, std::int64_t cases) {
  return {cases, hits, bisect::binomial_interval(hits, cases, confidence)};
}

std::optional<bool> shows_threshold(const Judged& judged, const TrustFacts& facts) {
  const auto threshold = facts.thresholds.find(judged.metric);
  if (!judged.smallest || threshold == facts.thresholds.end()) return std::nullopt;
  return !bisect::cannot_show(judged.smallest->change, threshold->second);
}

std::optional<double> smallest_planted(const std::vector<PlantedRate>& by_size) {
  for (const PlantedRate& one : by_size)
    if (one.seen.interval.low >= stated_power) return one.change;
  return std::nullopt;
}

// Returns the number of cases without a miss that puts the lower bound at stated_power.
int cases_that_would_do() {
  int cases = 1;
  while (bisect::binomial_interval(cases, cases, confidence).low < stated_power) ++cases;
  return cases;
}

std::vector<std::string> missing_of(const MeasuredVerdicts& all, const std::string& metric) {
  static const int would_do = cases_that_would_do();  // asked for each metric at each scrape
  std::vector<std::string> missing;
  if (all.judged.series_nights == 0)
    missing.emplace_back(
        "False alarms are not measured yet: the next night that is held against a level counts.");
  if (metric != calibrated) {
    missing.emplace_back(
        "Known cases are not measured: calibration compares latency only. So the power is not "
        "known, and the smallest change is computed from noise.");
  } else {
    const std::string more =
        " are not measured yet: [calibration] share of the configuration "
        "gives them time each night.";
    if (all.same_build.cases == 0) missing.push_back("Builds against themselves" + more);
    if (all.planted.empty())
      missing.push_back("Planted changes" + more);
    else if (!all.smallest_planted)
      missing.push_back("No planted change is known to be seen with probability .9 yet: " +
                        std::to_string(would_do) + " of one size without a miss would show it.");
  }
  if (!all.judged.smallest)
    missing.emplace_back(
        "The smallest change is not computed yet: a series' noise is known after 12 repeated "
        "runs.");
  return missing;
}

std::optional<std::string> missing_of(PredictionSource source,
                                      const std::vector<Prediction>& predictions) {
  if (!predictions.empty()) return std::nullopt;
  switch (source) {
    case PredictionSource::replay_named:
    case PredictionSource::replay_suspected:
      break;
    case PredictionSource::told:
      return "Not measured yet: a culprit counts once a person dismisses it, or says the commit "
             "that did it (POST /api/v1/regressions/{id}/cause).";
  }
  return "Not measured yet: searches are replayed after each night, on series with three runs of "
         "six builds or more, while [calibration] share is over 0.";
}

MeasuredSearches searches_of(PredictionSource source, const std::vector<Prediction>& predictions) {
  return {source, bisect::reliability(predictions), missing_of(source, predictions)};
}

}  // namespace

std::optional<double> Rate::share() const {
  if (cases == 0) return std::nullopt;
  return static_cast<double>(hits) / static_cast<double>(cases);
}

TrustFacts load_trust(const storage::Database& db, const Config& config) {
  TrustFacts facts{storage::judged_so_far(db),
                   storage::confirmed_findings(db),
                   storage::known_cases(db),
                   storage::predictions_of_replays(db),
                   storage::predictions_with_ruling(db),
                   {}};
  for (const Judged& one : facts.judged)
    facts.thresholds[one.metric] = threshold_of(one.metric, config);
  return facts;
}

std::vector<Judged> cannot_show(const TrustFacts& facts) {
  std::vector<Judged> found;
  for (const Judged& one : facts.judged)
    if (shows_threshold(one, facts) == false) found.push_back(one);
  return found;
}

MeasuredTrust measure(const TrustFacts& facts) {
  std::map<Group, MeasuredVerdicts> groups;
  for (const Judged& one : facts.judged) groups[{one.machine, one.metric}].judged = one;
  for (const ConfirmedFindings& one : facts.confirmed)
    groups[{one.machine, one.metric}].findings = one;
  for (const KnownCases& one : facts.cases) {  // the smallest first
    MeasuredVerdicts& group = groups[{one.machine, one.metric}];
    const Rate rate = rate_of(one.worse, one.cases);
    if (one.planted == 0)
      group.same_build = rate;
    else
      group.planted.push_back({one.planted, rate});
  }
  MeasuredTrust trust;
  for (auto& [group, all] : groups) {
    all.judged.machine = all.findings.machine = group.first;
    all.judged.metric = all.findings.metric = group.second;
    all.false_alarms =
        rate_of(all.findings.not_reproduced + all.findings.no_regression, all.judged.series_nights);
    all.smallest_planted = smallest_planted(all.planted);
    all.shows_threshold = shows_threshold(all.judged, facts);
    all.not_measured = missing_of(all, group.second);
    trust.verdicts.push_back(std::move(all));
  }
  using enum PredictionSource;
  trust.searches = {searches_of(replay_named, facts.replays.named),
                    searches_of(replay_suspected, facts.replays.suspected),
                    searches_of(told, facts.told)};
  return trust;
}

}  // namespace nightjar::service
