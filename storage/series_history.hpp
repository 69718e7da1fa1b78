// All that a plot of a series over years shows: one point a nightly with where it was measured,
// the levels, and the nights without a value. Used by the REST interface.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "storage/database.hpp"
#include "storage/model/series.hpp"
#include "storage/series.hpp"

namespace nightjar::storage {

// The screening runs of one nightly. Job, runner and facts are those of its first run.
struct HistoryPoint {
  BuildId build;
  std::string version;
  std::string date;  // "2026-08-20"; empty: not known
  std::string lock;  // SHA-256 of its packages; empty: those of the runner's own Python
  std::vector<double> values;
  JobId job;
  RunnerId runner;
  FactsId facts;                // of the machine, as they were then
  std::optional<double> level;  // that was accepted on this build
  NightId level_night;          // and in which night
};

// A night that is done, and has no value of the series.
struct NightWithout {
  NightId night;
  BuildId build;     // 0: there was no new one
  std::string date;  // of the build, or when the night began
  std::string reason;
};

struct SeriesHistory {
  std::vector<HistoryPoint> points;   // oldest first, by date and version
  std::vector<NightWithout> without;  // oldest first, since the first point
};

SeriesHistory history_of_series(const Database& db, const Series& series);

// The same as points_of_series(), for builds whose ids are from `first` to `last`.
std::vector<SeriesPoint> points_between(const Database& db, SeriesId series, BuildId first,
                                        BuildId last, int limit);

}  // namespace nightjar::storage
