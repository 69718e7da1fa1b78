#include "service/api/metrics.hpp"

namespace nightjar::service::api {
namespace {

class TrustMetrics {
 public:
  TrustMetrics(Metrics& metrics, const MeasuredTrust& trust) : metrics_(metrics), trust_(trust) {}

  void false_alarms() {
    count("nightjar_judged_series_nights_total", "Series that were held against a level, by night.",
          [](const MeasuredVerdicts& one) { return one.judged.series_nights; });
    count("nightjar_suspicions_total",
          "Those of judged_series_nights that were suspected to be worse.",
          [](const MeasuredVerdicts& one) { return one.judged.suspicions; });
    count("nightjar_suspicions_dismissed_total", "Suspicions that a confirmation dismissed.",
          [](const MeasuredVerdicts& one) { return one.judged.dismissed; });
    count("nightjar_findings_confirmed_total", "Suspicions that were confirmed side by side.",
          [](const MeasuredVerdicts& one) { return one.findings.confirmed; });
    const char* name = "nightjar_findings_disproved_total";
    metrics_.describe(name, "counter",
                      "Confirmed findings that the search did not reproduce, or that a person "
                      "dismissed as no regression.");
    for (const MeasuredVerdicts& one : trust_.verdicts) {
      metrics_.with(name, labels_of(one, "by", "search"), one.findings.not_reproduced);
      metrics_.with(name, labels_of(one, "by", "person"), one.findings.no_regression);
    }
    const char* ratio = "nightjar_false_alarm_ratio";
    metrics_.describe(ratio, "gauge",
                      "Findings that were disproved, a judged series and night; estimate and 95 % "
                      "interval.");
    for (const MeasuredVerdicts& one : trust_.verdicts) {
      const auto share = one.false_alarms.share();
      if (!share) continue;
      metrics_.with(ratio, labels_of(one, "bound", "low"), one.false_alarms.interval.low);
      metrics_.with(ratio, labels_of(one, "bound", "estimate"), *share);
      metrics_.with(ratio, labels_of(one, "bound", "high"), one.false_alarms.interval.high);
    }
  }

  void power() {
    known("nightjar_known_cases", "Newest cases of known truth, by the share that was planted.",
          &Rate::cases);
    known("nightjar_known_cases_worse",
          "Known cases that were judged worse. With 0 planted these are false alarms.",
          &Rate::hits);
    const char* name = "nightjar_smallest_seen_ratio";
    metrics_.describe(name, "gauge",
                      "The smallest worsening that is seen with probability .9: proved with "
                      "planted ones, or computed from noise.");
    for (const MeasuredVerdicts& one : trust_.verdicts) {
      if (one.smallest_planted)
        metrics_.with(name, labels_of(one, "from", "planted"), *one.smallest_planted);
      if (one.judged.smallest)
        metrics_.with(name, labels_of(one, "from", "noise"), one.judged.smallest->change);
    }
  }

  void searches() {
    const char* all = "nightjar_search_predictions";
    metrics_.describe(all, "gauge",
                      "Newest accusations of known truth, by who knows it and by the probability "
                      "that they stated, from this bound on.");
    for_bins([&](const Metrics::Labels& labels, const bisect::Reliability& bin) {
      metrics_.with(all, labels, bin.cases);
    });
    const char* right = "nightjar_search_predictions_right";
    metrics_.describe(right, "gauge", "Those of search_predictions that were right.");
    for_bins([&](const Metrics::Labels& labels, const bisect::Reliability& bin) {
      metrics_.with(right, labels, bin.right);
    });
  }

 private:
  static Metrics::Labels labels_of(const MeasuredVerdicts& one) {
    return {{"machine", std::to_string(one.judged.machine.value)}, {"metric", one.judged.metric}};
  }
  static Metrics::Labels labels_of(const MeasuredVerdicts& one, std::string_view label,
                                   const std::string& is) {
    auto labels = labels_of(one);
    labels.emplace_back(label, is);
    return labels;
  }
  static std::string written(double number) {
    std::ostringstream text;
    text << number;
    return text.str();
  }
  template <class Get>
  void count(const char* name, const char* help, Get get) {
    metrics_.describe(name, "counter", help);
    for (const MeasuredVerdicts& one : trust_.verdicts)
      metrics_.with(name, labels_of(one), get(one));
  }
  void known(const char* name, const char* help, std::int64_t Rate::*number) {
    metrics_.describe(name, "gauge", help);
    for (const MeasuredVerdicts& one : trust_.verdicts) {
      if (one.same_build.cases > 0)
        metrics_.with(name, labels_of(one, "planted", "0"), one.same_build.*number);
      for (const PlantedRate& planted : one.planted)
        metrics_.with(name, labels_of(one, "planted", written(planted.change)),
                      planted.seen.*number);
    }
  }
  template <class Do>
  void for_bins(Do act) {
    for (const MeasuredSearches& one : trust_.searches)
      for (const bisect::Reliability& bin : one.bins)
        act({{"source", std::string(name_of(one.source))}, {"stated_from", written(bin.from)}},
            bin);
  }

  Metrics& metrics_;
  const MeasuredTrust& trust_;
};

}  // namespace

void trust_metrics(Metrics& metrics, const MeasuredTrust& trust) {
  TrustMetrics of_trust(metrics, trust);
  of_trust.false_alarms();
  of_trust.power();
  of_trust.searches();
}

}  // namespace nightjar::service::api
