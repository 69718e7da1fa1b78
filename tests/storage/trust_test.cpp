#include "storage/trust.hpp"

#include <catch2/catch.hpp>

#include "storage/calibration.hpp"
#include "storage/replays.hpp"
#include "tests/storage/story.hpp"
#include "tests/support/any_state.hpp"

using namespace nightjar;
using namespace nightjar::storage;
using namespace nightjar::storage::test;

namespace {

struct Counted : Story {
  Regression regression = suspect();  // opened at 20
  Judged judged{machine.id, "latency", at(20), 1, 9, 2, 0, {}};

  void become(RegressionState state) {
    nightjar::test::change_to_any(Autocommit(db), regression, {state, at(30), "{}"});
  }
  ConfirmedFindings confirmed() {
    const auto all = confirmed_findings(db);
    return all.empty() ? ConfirmedFindings{} : all.at(0);
  }
  void rule(RulingKind kind, std::optional<CommitSha> commit = {}, bool was_confirmed = true) {
    set_ruling(Autocommit(db), {regression.id, kind, was_confirmed, commit, at(40)});
  }
};

}  // namespace

TEST_CASE("nights add up, and the smallest change is that of the newest") {
  Counted story;
  CHECK(judged_so_far(story.db).empty());
  story.judged.smallest = SmallestSeen{5, .08, .07, .09};
  count_judged(Autocommit(story.db), story.judged);
  Judged later = story.judged;
  later.since = at(90);
  later.series_nights = 10;
  later.suspicions = 0;
  later.smallest.reset();
  count_judged(Autocommit(story.db), later);
  later.metric = "peak_cpu_memory";
  later.smallest = SmallestSeen{1, .07, .07, .07};
  count_judged(Autocommit(story.db), later);
  const auto all = judged_so_far(story.db);
  REQUIRE(all.size() == 2);
  CHECK(all[0].metric == "latency");
  CHECK(all[0].since == at(20));
  CHECK(all[0].nights == 2);
  CHECK(all[0].series_nights == 19);
  CHECK(all[0].suspicions == 2);
  CHECK_FALSE(all[0].smallest);
  REQUIRE(all[1].smallest);
  CHECK(all[1].smallest->change == .07);
  CHECK(all[1].smallest->series == 1);
}

TEST_CASE("a dismissed suspicion counts if its night did") {
  Counted story;
  const SeriesId lead = story.latency().id;
  count_dismissed(Autocommit(story.db), lead, at(20));
  CHECK(judged_so_far(story.db).empty());
  count_judged(Autocommit(story.db), story.judged);
  count_dismissed(Autocommit(story.db), lead, at(19));
  CHECK(judged_so_far(story.db).at(0).dismissed == 0);
  count_dismissed(Autocommit(story.db), lead, at(20));
  CHECK(judged_so_far(story.db).at(0).dismissed == 1);
}

TEST_CASE("what was confirmed stays counted, whatever becomes of it") {
  using enum RegressionState;
  Counted story;
  story.become(confirmed);
  CHECK(story.confirmed().confirmed == 0);  // its night is not counted
  count_judged(Autocommit(story.db), story.judged);
  CHECK(story.confirmed().machine == story.machine.id);
  CHECK(story.confirmed().metric == "latency");
  CHECK(story.confirmed().confirmed == 1);
  story.become(recovered);
  CHECK(story.confirmed().confirmed == 1);
  CHECK(story.confirmed().not_reproduced + story.confirmed().no_regression == 0);
  story.become(dismissed);
  CHECK(story.confirmed().confirmed == 0);  // by stage two, as far as is known
  story.rule(RulingKind::no_regression);
  CHECK(story.confirmed().confirmed == 1);
  CHECK(story.confirmed().no_regression == 1);
  story.rule(RulingKind::meant);
  CHECK(story.confirmed().confirmed == 1);
  CHECK(story.confirmed().no_regression == 0);
  story.rule(RulingKind::no_regression, {}, false);
  CHECK(story.confirmed().confirmed == 0);
}

TEST_CASE("what a search does not reproduce was confirmed and is a false alarm") {
  Counted story;
  count_judged(Autocommit(story.db), story.judged);
  Bisection search;
  search.regression = story.regression.id;
  search.series = story.latency().id;
  search.good = story.good.id;
  search.bad = story.bad.id;
  search.state = BisectionState::not_reproduced;
  add_bisection(Autocommit(story.db), search);
  story.become(RegressionState::dismissed);
  CHECK(story.confirmed().confirmed == 1);
  CHECK(story.confirmed().not_reproduced == 1);
}

TEST_CASE("a named commit is right if a person says that it did it") {
  Counted story;
  story.regression.culprit = Culprit{{commit('a'), commit('b')}, .995, 1.2, 1.1, 1.3};
  story.become(RegressionState::blamed);
  story.rule(RulingKind::cause);  // in words only
  CHECK(predictions_with_ruling(story.db).empty());
  story.rule(RulingKind::cause, commit('b'));
  REQUIRE(predictions_with_ruling(story.db).size() == 1);
  CHECK(predictions_with_ruling(story.db)[0].probability == .995);
  CHECK(predictions_with_ruling(story.db)[0].right);
  story.rule(RulingKind::cause, commit('c'));
  CHECK_FALSE(predictions_with_ruling(story.db).at(0).right);
  story.rule(RulingKind::meant);  // says nothing of the commit
  CHECK(predictions_with_ruling(story.db).empty());
  story.rule(RulingKind::no_regression);
  CHECK_FALSE(predictions_with_ruling(story.db).at(0).right);
}

TEST_CASE("known cases are told by size, and a replay's predictions are stored once") {
  Counted story;
  const SeriesId series = story.latency().id;
  using enum CalibrationVerdict;
  const JobId first = story.measure("c1", JobKind::calibrate).id;
  const JobId second = story.measure("c2", JobKind::calibrate).id;
  add_calibration(Autocommit(story.db), {0, first, series, 0, worse, 1, 1, 1, 10, at(30)});
  add_calibration(Autocommit(story.db), {0, second, series, .15, worse, 1, 1, 1, 10, at(30)});
  const auto cases = known_cases(story.db);
  REQUIRE(cases.size() == 2);
  CHECK(cases[0].planted == 0);
  CHECK(cases[0].worse == 1);
  CHECK(cases[1].planted == .15);
  CHECK(cases[1].metric == "latency");

  ReplayedSearch replayed{story.night.id,
                          series,
                          .15,
                          ReplayOutcome::exact,
                          90,
                          at(40),
                          {{.997, true}},
                          {{.2, false}, {.95, true}}};
  add_replay(Autocommit(story.db), replayed);
  add_replay(Autocommit(story.db), replayed);
  const auto all = predictions_of_replays(story.db);
  REQUIRE(all.named.size() == 1);
  CHECK(all.named[0].probability == .997);
  CHECK(all.named[0].right);
  REQUIRE(all.suspected.size() == 2);
  CHECK(all.suspected[0].right != all.suspected[1].right);
}
