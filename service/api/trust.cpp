// GET /trust: how often verdicts were right here, by metric and machine class.
#include "service/api/routes.hpp"
#include "service/engine/trust/measured.hpp"

namespace nightjar::service::api {
namespace {

template <class T>
Field<T> end_of(const char* name, double bisect::Interval::*end) {
  return {name, [end](const T& item) { return item.interval.*end; }};
}

const Described<Rate>& rate_row() {
  static const Described<Rate> made(
      "Rate",
      "How often something happened; low and high: the 95 % interval of its probability (Clopper "
      "and Pearson).",
      {{"cases", &Rate::cases, "", {{"minimum", 0}}},
       {"hits", &Rate::hits, "In how many of them it happened.", {{"minimum", 0}}},
       {"share", &Rate::share, "Null: there are no cases yet."},
       end_of<Rate>("low", &bisect::Interval::low),
       end_of<Rate>("high", &bisect::Interval::high)});
  return made;
}

const Described<PlantedRate>& planted_row() {
  static const Described<PlantedRate> made(
      "PlantedRate", "How often planted changes of one size were seen.",
      {{"change", &PlantedRate::change, "As a share."}, {"seen", &PlantedRate::seen, rate_row()}});
  return made;
}

template <class T>
auto of_computed(T SmallestSeen::*member) {
  return [member](const MeasuredVerdicts& row) {
    const auto& smallest = row.judged.smallest;
    return smallest ? std::optional((*smallest).*member) : std::nullopt;
  };
}

const Described<MeasuredVerdicts>& smallest_row() {
  static const Described<MeasuredVerdicts> made(
      "SmallestSeen",
      "The smallest worsening that is seen with probability .9, as a share (of a slope: of its "
      "judged value).",
      {{"planted", &MeasuredVerdicts::smallest_planted,
        "The smallest planted change of which that is known with 95 % confidence."},
       {"computed", of_computed(&SmallestSeen::change),
        "For the median series of the newest night: computed from its noise by the detection "
        "policy, for its first night."},
       {"low", of_computed(&SmallestSeen::low), "The 95 % interval of the computed one."},
       {"high", of_computed(&SmallestSeen::high)},
       {"shows_threshold", &MeasuredVerdicts::shows_threshold,
        "False: the computed one is over the metric's threshold by more than a quarter, so most "
        "series cannot show a change of the threshold on its first night. Null: not known."},
       {"series",
        [](const MeasuredVerdicts& row) {
          return row.judged.smallest ? row.judged.smallest->series : 0;
        },
        "Whose noise is known."}});
  return made;
}

template <class T>
auto judged(T Judged::*member) {
  return [member](const MeasuredVerdicts& row) { return row.judged.*member; };
}
auto found(int ConfirmedFindings::*member) {
  return [member](const MeasuredVerdicts& row) { return row.findings.*member; };
}

const Described<MeasuredVerdicts>& verdicts_row() {
  const auto since = [](const MeasuredVerdicts& row) {
    return row.judged.nights > 0 ? std::optional(row.judged.since) : std::nullopt;
  };
  const auto itself = [](const MeasuredVerdicts& row) { return row; };
  static const Described<MeasuredVerdicts> made(
      "MeasuredVerdicts", "Verdicts on one metric on one machine class.",
      {{"machine", judged(&Judged::machine)},
       {"metric", judged(&Judged::metric)},
       {"since", since, "When the first night was counted."},
       {"nights", judged(&Judged::nights)},
       {"suspicions", judged(&Judged::suspicions), "That screening had."},
       {"dismissed", judged(&Judged::dismissed), "Their number, as the confirmation decided."},
       {"confirmed", found(&ConfirmedFindings::confirmed),
        "Their number, as the confirmation decided."},
       {"not_reproduced", found(&ConfirmedFindings::not_reproduced),
        "Confirmed, but the search did not see the change again."},
       {"no_regression", found(&ConfirmedFindings::no_regression),
        "Confirmed, but a person dismissed it."},
       {"false_alarms", &MeasuredVerdicts::false_alarms, rate_row(),
        "Cases are series and nights that were held against a level. Hits were confirmed, and then "
        "not reproduced or dismissed as no regression."},
       {"same_build", &MeasuredVerdicts::same_build, rate_row(),
        "A build against itself; hits were judged worse."},
       {"planted", &MeasuredVerdicts::planted, planted_row(), "By size."},
       {"smallest_seen", itself, smallest_row()},
       {"not_measured", &MeasuredVerdicts::not_measured,
        "What is not known yet, and what would tell."}});
  return made;
}

const Described<bisect::Reliability>& bin_row() {
  using Bin = bisect::Reliability;
  static const Described<Bin> made(
      "ReliabilityBin",
      "Accusations whose stated probability lies in a bin; low and high: the 95 % interval of the "
      "share that is right (Clopper and Pearson).",
      {{"from", &Bin::from},
       {"to", &Bin::to},
       {"cases", &Bin::cases, "", {{"minimum", 0}}},
       {"right", &Bin::right, "", {{"minimum", 0}}},
       {"stated",
        [](const Bin& bin) { return bin.cases ? std::optional(bin.stated) : std::nullopt; },
        "The mean of what was stated."},
       end_of<Bin>("low", &bisect::Interval::low),
       end_of<Bin>("high", &bisect::Interval::high)});
  return made;
}

const Described<MeasuredSearches>& searches_row() {
  static const Described<MeasuredSearches> made(
      "MeasuredSearches",
      "When the search states a probability, how often is it right? Covers the newest 5,000.",
      {{"source", &MeasuredSearches::source,
        "replay_named: steps that replayed searches named. replay_suspected: their likeliest "
        "commit on the way there, once a search and bin. told: culprits of finished searches whose "
        "cause a person has named, or which a person has dismissed."},
       {"bins", &MeasuredSearches::bins, bin_row()},
       {"not_measured", &MeasuredSearches::not_measured, "Null: there are cases."}});
  return made;
}

const Described<MeasuredTrust>& trust_row() {
  static const Described<MeasuredTrust> made(
      "Trust", "How often verdicts were right, as far as it is known.",
      {{"verdicts", &MeasuredTrust::verdicts, verdicts_row(), "By machine class, then metric."},
       {"searches", &MeasuredTrust::searches, searches_row()}});
  return made;
}

}  // namespace

void add_trust_routes(Routes& routes) {
  routes.read({.path = "/api/v1/trust",
               .id = "get_trust",
               .summary = "How often verdicts were right: false alarms, power, the smallest change "
                          "that is seen, and the search's probabilities",
               .answers = {{.schema = trust_row().schema()}}},
              [&context = routes.context](storage::Database& db, const web::Request&) {
                return json_answer(trust_row().write(measure(load_trust(db, context.config))));
              });
}

}  // namespace nightjar::service::api
