// The threshold decides who is blamed: below it nobody is, and everything is judged in units of it.
#include <limits>
#include <map>

#include <catch2/catch.hpp>

#include "tests/support/search_world.hpp"

using namespace nightjar;
using namespace nightjar::bisect;
using test::World;
using test::WorldOptions;

namespace {

struct Searched {
  std::vector<std::vector<int>> orders;
  std::vector<bool> new_sessions;
  Answer answer;
  Belief belief;
  World world;
  int runs = 0;
};

// A whole search, and every decision on its way.
Searched searched(const WorldOptions& options, std::uint64_t seed, const SearchPolicy& policy) {
  Searched out{{}, {}, {}, {}, World(options, seed), 0};
  SearchLog log;
  log.commits = options.commits;
  for (int session = -1;;) {
    const NextStep next = next_step(log, policy);
    if (const auto* answer = std::get_if<Answer>(&next.step)) {
      out.answer = *answer;
      out.belief = next.belief;
      out.runs = static_cast<int>(log.runs.size());
      return out;
    }
    const auto& measure = std::get<Measure>(next.step);
    out.orders.push_back(measure.order);
    out.new_sessions.push_back(measure.new_session);
    const int asked = measure.order.front();
    if (!out.world.buildable(asked)) {
      log.untestable.push_back(asked);
      continue;
    }
    if (measure.new_session) {
      out.world.new_session();
      ++session;
    }
    for (const int commit : measure.order) {
      const bool inner = commit != 0 && commit != log.commits;
      if (inner && std::find(log.built.begin(), log.built.end(), commit) == log.built.end())
        log.built.push_back(commit);
      log.runs.push_back({session, commit, std::exp(out.world.measure(commit))});
    }
  }
}

// A world and a policy as at 7 %, with noise, effects and threshold scaled to another threshold (in
// logs).
Searched scaled(WorldOptions options, std::uint64_t seed, double threshold) {
  const double unit = std::log1p(threshold) / std::log1p(.07);
  options.cv *= unit;
  options.session_sd *= unit;
  options.layout_sd *= unit;
  options.outlier_scale = unit;
  for (auto& planted : options.planted)
    planted.effect = std::expm1(unit * std::log1p(planted.effect));
  SearchPolicy policy;
  policy.threshold = threshold;
  return searched(options, seed, policy);
}

// How often each outcome came, and who was blamed though innocent, over `jobs` searches for steps
// at random places.
struct Tally {
  std::map<SearchOutcome, int> outcomes;
  int wrong = 0, longest = 0;
};

Tally tally(WorldOptions options, const std::vector<double>& effects, double threshold, int jobs) {
  Tally out;
  for (int job = 0; job < jobs; ++job) {
    std::mt19937_64 random(7000 + static_cast<std::uint64_t>(job));
    options.planted.clear();
    for (std::size_t i = 0; i < effects.size(); ++i) {
      const int from = 1 + static_cast<int>(i) * 50;
      options.planted.push_back({from + static_cast<int>(random() % 45), effects[i]});
    }
    SearchPolicy policy;
    policy.threshold = threshold;
    const Searched one = searched(options, random(), policy);
    ++out.outcomes[one.answer.outcome];
    out.longest = std::max(out.longest, one.runs);
    for (const auto* steps : {&one.answer.culprits, &one.answer.smaller})
      for (const NamedStep& step : *steps)
        out.wrong +=
            std::none_of(options.planted.begin(), options.planted.end(), [&](const auto& planted) {
              return one.world.cell(planted.commit) == std::pair(step.first - 1, step.last);
            });
  }
  return out;
}

WorldOptions quiet_world() {
  WorldOptions options;
  options.cv = .01;
  return options;
}

}  // namespace

TEST_CASE("scaling noise, effects and threshold together changes no decision and no answer") {
  const std::vector<std::vector<test::Planted>> truths = {
      {}, {{37, .07}}, {{30, .10}, {70, .07}}, {{55, .045}}};
  for (const double cv : {.01, .03}) {
    for (const auto& planted : truths) {
      WorldOptions options;
      options.cv = cv;
      options.planted = planted;
      const Searched usual = scaled(options, 5, .07);
      for (const double threshold : {.02, .20, .50}) {
        const Searched other = scaled(options, 5, threshold);
        const double unit = std::log1p(threshold) / std::log1p(.07);
        CHECK(other.orders == usual.orders);
        CHECK(other.new_sessions == usual.new_sessions);
        CHECK(other.answer.outcome == usual.answer.outcome);
        CHECK(other.belief.noise == Approx(usual.belief.noise * unit));
        REQUIRE(other.answer.culprits.size() == usual.answer.culprits.size());
        for (std::size_t i = 0; i < usual.answer.culprits.size(); ++i) {
          const NamedStep &one = other.answer.culprits[i], &same = usual.answer.culprits[i];
          CHECK(one.first == same.first);
          CHECK(one.last == same.last);
          CHECK(std::log(one.ratio) == Approx(unit * std::log(same.ratio)));
          CHECK(std::log(one.high) == Approx(unit * std::log(same.high)));
        }
      }
    }
  }
}

TEST_CASE(
    "a step of 18 % is named at the usual threshold, and below one of 50 % or 20 % nobody is "
    "blamed for it") {
  CHECK(tally(quiet_world(), {.18}, .07, 10).outcomes[SearchOutcome::culprit] == 10);
  CHECK(tally(quiet_world(), {.18}, .50, 10).outcomes[SearchOutcome::below_threshold] == 10);
  CHECK(tally(quiet_world(), {.18}, .20, 40).outcomes[SearchOutcome::culprit] <= 2);
  WorldOptions plain = quiet_world();  // as a script's numbers scatter
  plain.session_sd = plain.layout_sd = plain.outliers = 0;
  CHECK(tally(plain, {.18}, .20, 20).outcomes[SearchOutcome::below_threshold] >= 17);
}

TEST_CASE("a step of 3 % or 3.6 % at a noise of 1 % ends in tens of runs, and nobody is blamed") {
  for (const double effect : {.03, .036}) {
    Tally seen = tally(quiet_world(), {effect}, .07, 20);
    CHECK(seen.outcomes[SearchOutcome::culprit] == 0);
    CHECK(seen.outcomes[SearchOutcome::below_threshold] >= 19);
    CHECK(seen.wrong == 0);
    CHECK(seen.longest < 150);
  }
}

TEST_CASE(
    "a certain step that cannot reach the threshold blames nobody and says how large it is, and "
    "where") {
  Tally seen = tally(quiet_world(), {.045}, .07, 20);
  CHECK(seen.outcomes[SearchOutcome::culprit] <= 1);
  CHECK(seen.outcomes[SearchOutcome::below_threshold] >= 19);
  CHECK(seen.wrong == 0);
  WorldOptions options = quiet_world();
  options.planted = {{37, .045}};
  const Searched one = searched(options, 3, {});
  REQUIRE(one.answer.outcome == SearchOutcome::below_threshold);
  CHECK(one.answer.culprits.empty());
  REQUIRE(one.answer.smaller.size() == 1);
  const NamedStep& step = one.answer.smaller.front();
  CHECK(one.world.cell(37) == std::pair(step.first - 1, step.last));
  CHECK(step.low < 1.045);
  CHECK(step.high > 1.045);
  CHECK(step.probability >= .99);
  CHECK(one.answer.rule.find("the largest step is +") == 0);
  CHECK(one.answer.rule.find("below the threshold of 7 %") != std::string::npos);
}

TEST_CASE(
    "a step of 5 % at a noise of 1 % is hardly ever named, and one of the threshold nearly always "
    "is") {
  Tally small = tally(quiet_world(), {.05}, .07, 40);
  CHECK(small.outcomes[SearchOutcome::culprit] <= 4);
  CHECK(small.wrong == 0);
  CHECK(tally(quiet_world(), {.07}, .07, 40).outcomes[SearchOutcome::culprit] >= 39);
}

TEST_CASE("the sentence of a search over inverses says sizes of the number itself") {
  WorldOptions options = quiet_world();
  for (const double effect : {.025, .045}) {
    options.planted = {{37, effect}};
    SearchPolicy inverses;
    inverses.of_inverses = true;
    const Searched plain = searched(options, 3, {}), turned = searched(options, 3, inverses);
    REQUIRE(plain.answer.outcome == SearchOutcome::below_threshold);
    CHECK(turned.orders == plain.orders);
    CHECK(turned.answer.outcome == plain.answer.outcome);
    const std::string words = effect < .035 ? "the ends differ by " : "the largest step is ";
    CHECK(plain.answer.rule.find(words + "+") == 0);
    REQUIRE(turned.answer.rule.find(words + "-") == 0);
    double size = 0, low = 0, high = 0;
    const char* sizes = turned.answer.rule.c_str() + words.size();
    REQUIRE(std::sscanf(sizes, "%lf %% (%lf to %lf %%)", &size, &low, &high) == 3);
    CHECK(size == Approx(100 / (1 + effect) - 100).margin(1.2));
    CHECK(low < size);
    CHECK(size < high);
    CHECK(turned.answer.rule.find("below the threshold of 7 %") != std::string::npos);
  }
}

TEST_CASE("two steps of 4 % are several small ones, for together they reach the threshold") {
  Tally seen = tally(quiet_world(), {.04, .04}, .07, 20);
  CHECK(seen.outcomes[SearchOutcome::several_small] >= 17);
  CHECK(seen.wrong == 0);
}

TEST_CASE("a step too small to be blamed is told beside the culprit") {
  WorldOptions options = quiet_world();
  options.planted = {{30, .20}, {70, .045}};
  const Searched one = searched(options, 8, {});
  REQUIRE(one.answer.outcome == SearchOutcome::culprit);
  REQUIRE(one.answer.culprits.size() == 1);
  CHECK(one.answer.culprits[0].last == one.world.cell(30).second);
  REQUIRE(one.answer.smaller.size() == 1);
  CHECK(one.answer.smaller[0].last == one.world.cell(70).second);
}

TEST_CASE("a threshold that is not positive and finite is refused") {
  SearchLog log;
  log.commits = 10;
  for (const double threshold : {0., -.07, std::numeric_limits<double>::infinity(), std::nan("")}) {
    SearchPolicy policy;
    policy.threshold = threshold;
    CHECK_THROWS_AS(next_step(log, policy), std::invalid_argument);
  }
}
