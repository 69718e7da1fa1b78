// GET /calibration: how far the verdicts on each series can be trusted, from cases of known truth.
#include "bisect/calibration.hpp"

#include <limits>
#include <map>

#include "bisect/noise_class.hpp"
#include "service/api/routes.hpp"
#include "service/engine/policy.hpp"
#include "service/engine/verdict/levels.hpp"
#include "storage/calibration.hpp"
#include "storage/replays.hpp"
#include "storage/series.hpp"

namespace nightjar::service::api {
namespace {

struct Share {
  int cases = 0, worse = 0;
  bisect::Interval interval = bisect::binomial_interval(0, 0, .95);
  std::optional<int> inconclusive = {};
  std::optional<double> planted = {};
};

struct Searches {
  storage::ReplayCount count;
  bisect::Interval interval = bisect::binomial_interval(0, 0, .95);
};

struct Calibration {
  Series series;
  bisect::SeriesNoise noise;
  std::optional<double> smallest_seen;
  Share same_build = {};
  std::vector<Share> planted = {};
  Searches searches = {};
};

template <class T>
auto end_of(double bisect::Interval::*end) {
  return [end](const T& counted) { return counted.interval.*end; };
}

const Row<Share>& share_row() {
  static const Row<Share> made(
      "CalibrationCount",
      "Cases, how many of them were judged worse, and the 95 % interval of that share (Clopper and "
      "Pearson).",
      {{"cases", &Share::cases, "", {{"minimum", 0}}},
       {"worse", &Share::worse, "", {{"minimum", 0}}},
       {"inconclusive",
        [](const Share& share) { return Maybe<int>{share.inconclusive}; },
        "",
        {{"minimum", 0}}},
       {"low", end_of<Share>(&bisect::Interval::low)},
       {"high", end_of<Share>(&bisect::Interval::high)},
       {"change", [](const Share& share) { return Maybe<double>{share.planted}; },
        "The planted slow-down, as a share."}});
  return made;
}

const Row<Searches>& searches_row() {
  static const Row<Searches> made(
      "",
      "Searches over recorded runs with a planted step; low and high: of the share that is exact.",
      {{"cases", [](const Searches& all) { return all.count.cases; }},
       {"exact", [](const Searches& all) { return all.count.exact; }},
       {"innocent", [](const Searches& all) { return all.count.innocent; },
        "Named a commit that had no step."},
       {"low", end_of<Searches>(&bisect::Interval::low)},
       {"high", end_of<Searches>(&bisect::Interval::high)}});
  return made;
}

const Row<Calibration>& calibration_row() {
  const auto noise = [](const Calibration& row) {
    return row.noise.sd > 0 ? std::optional(row.noise.sd) : std::nullopt;
  };
  static const Row<Calibration> made(
      "Calibration", "",
      {{"series", [](const Calibration& row) { return row.series.id; }},
       {"machine", [](const Calibration& row) { return row.series.machine; }},
       {"workload", [](const Calibration& row) { return row.series.workload_name; }},
       {"metric", [](const Calibration& row) { return row.series.metric; }},
       {"noise_class", [](const Calibration& row) { return row.noise.kind; }},
       {"noise", noise, "Sd of single runs of one build (of logs)."},
       {"smallest_seen", &Calibration::smallest_seen,
        "The smallest worsening that is flagged on its first night with probability .9."},
       {"same_build", &Calibration::same_build, share_row()},
       {"planted", &Calibration::planted, share_row()},
       {"searches", &Calibration::searches, searches_row()}});
  return made;
}

std::optional<double> smallest(const storage::Database& db, const bisect::SeriesNoise& noise,
                               const Series& series, const Config& config) {
  constexpr NightId all_nights{std::numeric_limits<std::int64_t>::max()};
  if (noise.sd <= 0) return std::nullopt;
  const auto policy = bisect::adapted(policy_of(series, config), noise);
  std::vector<double> levels;
  for (const Level& level : storage::levels_before(db, series.id, all_nights, noise_builds))
    levels.push_back(level.value);
  return bisect::smallest_seen({noise.sd, bisect::nights_sd(levels, policy),
                                bisect::runs_a_night(noise.kind, config.night.runs)},
                               policy);
}

storage::Page<Calibration> calibrations(storage::Database& db, const Config& config, Rows& rows) {
  std::map<SeriesId, Calibration> by_series;
  const auto row_of = [&](SeriesId id) -> Calibration& {
    if (const auto found = by_series.find(id); found != by_series.end()) return found->second;
    const Series& series = rows.series_of(id);
    const auto noise = noise_of(db, series);
    return by_series.emplace(id, Calibration{series, noise, smallest(db, noise, series, config)})
        .first->second;
  };
  for (const auto& count : storage::count_calibrations(db)) {
    Share found{count.cases, count.worse, bisect::binomial_interval(count.worse, count.cases, .95),
                count.inconclusive};
    Calibration& row = row_of(count.series);
    if (count.planted == 0) {
      row.same_build = found;
    } else {
      found.planted = count.planted;
      row.planted.push_back(found);
    }
  }
  for (const auto& [id, count] : storage::count_replays(db))
    row_of(id).searches = {count, bisect::binomial_interval(count.exact, count.cases, .95)};
  storage::Page<Calibration> page;
  for (auto& [id, row] : by_series) page.items.push_back(std::move(row));
  return page;
}

}  // namespace

void add_calibration_routes(Routes& routes) {
  static const auto page = page_row(calibration_row());
  routes.read(
      {.path = "/api/v1/calibration",
       .id = "list_calibration",
       .summary = "How far the verdicts on each series can be trusted, from cases of known truth",
       .parameters = representation(calibration_row().schema()),
       .answers = list_answers(page.schema())},
      [&context = routes.context](storage::Database& db, const web::Request& request) {
        Rows rows(db);
        return list_answer(request, page.write(calibrations(db, context.config, rows), rows),
                           calibration_row().schema());
      });
}

}  // namespace nightjar::service::api
