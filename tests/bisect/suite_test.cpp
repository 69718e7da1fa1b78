#include "bisect/suite.hpp"

#include <cmath>
#include <random>
#include <vector>

#include <catch2/catch.hpp>

using namespace nightjar;
using namespace nightjar::bisect;

namespace {

const MeanPolicy speedup_policy = policy_of(SuiteMeasure::speedup);

// SuiteNights of one suite, each judged by those before it.
struct SuiteNights {
  std::vector<NightMean> newest_first;
  MeanPolicy policy = speedup_policy;

  MeanVerdict add(const Members& members) {
    const MeanVerdict verdict = judge_mean(newest_first, members, policy);
    newest_first.insert(newest_first.begin(),
                        {members, verdict.level, verdict.verdict,
                         verdict.change ? std::optional(verdict.change->ratio) : std::nullopt});
    if (newest_first.size() > nights_of_mean) newest_first.pop_back();
    return verdict;
  }
};

// Ten members around two times eager, of which some are faster by a factor.
Members ten(double factor = 1, int changed = 10) {
  Members members;
  for (int i = 1; i <= 10; ++i)
    members[WorkloadId{i}] = (1.5 + .1 * i) * (i <= changed ? factor : 1);
  return members;
}

// Makes `quiet` quiet nights, in turns .2 % above and below.
SuiteNights quiet_nights(int quiet) {
  SuiteNights nights;
  for (int i = 0; i < quiet; ++i) nights.add(ten(i % 2 == 0 ? 1.002 : .998));
  return nights;
}

Members without(Members members, std::initializer_list<int> ids) {
  for (const int id : ids) members.erase(WorkloadId{id});
  return members;
}

// What one world's nights look like. All sds are of logs.
struct SuiteWorld {
  int members = 10;
  double member_sd = .02;  // of each member, each night
  double night_sd = .005;  // of all members of a night alike
  double missing = .03;    // the share of members that a night lacks
  double outliers = 0;     // the share of members that are 30 % off
  double change = 0;       // of all members, from night 40 on
};

struct SuiteTold {
  int worse = 0, better = 0;
  int first_worse = -1;  // night
};

SuiteTold play_suite(const SuiteWorld& world, std::uint64_t seed, int nights) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform;
  SuiteNights told;
  SuiteTold out;
  for (int night = 0; night < nights; ++night) {
    const double shift =
        world.night_sd * normal(random) + (night >= 40 ? std::log1p(world.change) : 0);
    Members members;
    for (int i = 1; i <= world.members; ++i) {
      const double own = std::log(1 + .05 * i) + world.member_sd * normal(random);
      const double off = uniform(random) < world.outliers ? -.3 : 0;
      const bool is_missing = uniform(random) < world.missing;
      if (!is_missing || (i == 1 && members.empty()))
        members[WorkloadId{i}] = std::exp(own + off + shift);
    }
    const SuiteVerdict verdict = told.add(members).verdict;
    out.worse += verdict == SuiteVerdict::worse;
    out.better += verdict == SuiteVerdict::better;
    if (verdict == SuiteVerdict::worse && out.first_worse < 0) out.first_worse = night;
  }
  return out;
}

}  // namespace

TEST_CASE("a model passes by the dashboard's rule") {
  CHECK(passes("pass", {}, false));
  CHECK(passes("eager_variation", 1.2, false));
  CHECK(passes("pass_due_to_skip", 0, false));
  CHECK_FALSE(passes("pass", 0, false));
  CHECK_FALSE(passes("fail_accuracy", 1.2, false));
  CHECK(passes("fail_accuracy", 1.2, true));
  CHECK(passes("", 1.2, false));
  CHECK_FALSE(passes("", {}, false));
  CHECK(geometric_mean({2, 8}).value == Approx(4));
  CHECK(arithmetic_mean({2, 8}).value == Approx(5));
  CHECK_FALSE(geometric_mean({}).value);
}

TEST_CASE("the first night of a suite has nothing to be held against") {
  SuiteNights nights;
  const auto verdict = nights.add(ten());
  CHECK(verdict.verdict == SuiteVerdict::first_night);
  CHECK(verdict.level == Approx(mean_of(ten(), speedup_policy)));
  CHECK_FALSE(verdict.change);
  CHECK_THROWS_AS(judge_mean({}, {}, speedup_policy), std::invalid_argument);
}

TEST_CASE("a suite that is slower by 5 % for two nights is worse, and has another level then") {
  SuiteNights nights = quiet_nights(12);
  const auto first = nights.add(ten(.95));
  CHECK(first.verdict == SuiteVerdict::suspect_worse);
  CHECK(first.level == Approx(mean_of(ten(), speedup_policy)).epsilon(.003));
  CHECK(first.change->ratio == Approx(.95).epsilon(.003));
  CHECK(first.compared == 10);
  const auto second = nights.add(ten(.951));
  CHECK(second.verdict == SuiteVerdict::worse);
  CHECK(second.level == Approx(mean_of(ten(.95), speedup_policy)).epsilon(.003));
  CHECK(nights.add(ten(.95)).verdict == SuiteVerdict::same);
  CHECK(nights.add(ten()).verdict == SuiteVerdict::suspect_better);
  CHECK(nights.add(ten()).verdict == SuiteVerdict::better);
}

TEST_CASE("one bad night is a suspicion, and leaves no trace in the level") {
  SuiteNights nights = quiet_nights(12);
  CHECK(nights.add(ten(.9)).verdict == SuiteVerdict::suspect_worse);
  const auto next = nights.add(ten());
  CHECK(next.verdict == SuiteVerdict::same);
  CHECK(next.level == Approx(mean_of(ten(), speedup_policy)).epsilon(.003));
  CHECK(nights.add(ten(1.2)).verdict == SuiteVerdict::suspect_better);
  CHECK(nights.add(ten(.8)).verdict == SuiteVerdict::suspect_worse);  // the other way: no verdict
}

TEST_CASE("more compile time is worse, less is better") {
  SuiteNights nights = quiet_nights(0);
  nights.policy = policy_of(SuiteMeasure::compile_time);
  for (int i = 0; i < 12; ++i) nights.add(ten());
  nights.add(ten(1.2));
  CHECK(nights.add(ten(1.2)).verdict == SuiteVerdict::worse);
  CHECK(nights.add(ten(1.2)).level == Approx(1.2 * mean_of(ten(), nights.policy)));
}

TEST_CASE("a mean that moves because its members changed says so and names them") {
  SuiteNights nights = quiet_nights(12);
  // The five fastest are gone: the mean falls by a tenth, and nobody is slower.
  const auto gone = nights.add(without(ten(), {6, 7, 8, 9, 10}));
  CHECK(gone.verdict == SuiteVerdict::members_changed);
  CHECK(gone.moved == Approx(.886).epsilon(.01));
  CHECK(gone.change->ratio == Approx(1).epsilon(.003));
  CHECK(gone.compared == 5);
  CHECK(gone.went.size() == 5);
  CHECK(gone.came.empty());
  CHECK(gone.level ==
        Approx(mean_of(without(ten(), {6, 7, 8, 9, 10}), speedup_policy)).epsilon(.003));
  // The night after has the same members: nothing moved.
  const auto next = nights.add(without(ten(), {6, 7, 8, 9, 10}));
  CHECK(next.verdict == SuiteVerdict::same);
  CHECK(next.went.empty());
  // They come back, and one of them is known to be as it was.
  const auto back = nights.add(ten());
  CHECK(back.verdict == SuiteVerdict::members_changed);
  CHECK(back.came.size() == 5);
  CHECK(back.compared == 10);
}

TEST_CASE("members that change without moving the mean are told, and are no verdict") {
  SuiteNights nights = quiet_nights(12);
  const auto verdict = nights.add(without(ten(), {5, 6}));
  CHECK(verdict.verdict == SuiteVerdict::same);
  CHECK(verdict.went == std::vector{WorkloadId{5}, WorkloadId{6}});
}

TEST_CASE("a suite is worse although members came that hide it") {
  SuiteNights nights = quiet_nights(12);
  Members more = ten(.94);
  for (int i = 11; i <= 14; ++i) more[WorkloadId{i}] = 3;
  CHECK(mean_of(more, speedup_policy) > mean_of(ten(), speedup_policy));
  CHECK(nights.add(more).verdict == SuiteVerdict::suspect_worse);
  CHECK(nights.add(more).verdict == SuiteVerdict::worse);
}

TEST_CASE("a mean that one member moved names it, and the suite is the same") {
  SuiteNights nights = quiet_nights(12);
  Members one = ten();
  one[WorkloadId{3}] *= .6;
  const auto verdict = nights.add(one);
  CHECK(verdict.verdict == SuiteVerdict::same);
  CHECK(verdict.carried_by == std::vector{WorkloadId{3}});
  CHECK(quiet_nights(12).add(ten()).carried_by.empty());
}

TEST_CASE("with no member of before there is nothing to compare") {
  SuiteNights nights = quiet_nights(12);
  Members others;
  for (int i = 21; i <= 24; ++i) others[WorkloadId{i}] = 3;
  const auto verdict = nights.add(others);
  CHECK(verdict.verdict == SuiteVerdict::members_changed);
  CHECK_FALSE(verdict.change);
  CHECK(verdict.level == Approx(3));
  CHECK(verdict.came.size() == 4);
  CHECK(verdict.went.size() == 10);
  CHECK(nights.add(others).verdict == SuiteVerdict::same);
}

TEST_CASE("before eight nights have shown their noise there is no verdict on members") {
  CHECK(quiet_nights(8).add(ten(.5)).verdict == SuiteVerdict::same);
  CHECK_FALSE(quiet_nights(8).add(ten()).allowed);
  CHECK(quiet_nights(9).add(ten(.5)).verdict == SuiteVerdict::suspect_worse);
  CHECK(*quiet_nights(12).add(ten()).allowed == Approx(.02));
  SuiteNights restless;
  for (int i = 0; i < 20; ++i) restless.add(ten(i % 2 == 0 ? 1.02 : .98));
  CHECK(*restless.add(ten()).allowed > .05);
  // Other members are told even then.
  CHECK(quiet_nights(2).add(without(ten(), {9, 10})).verdict == SuiteVerdict::members_changed);
}

TEST_CASE("a suite of five members has no verdict, they have their own") {
  SuiteNights nights;
  const auto five = [](double factor) { return without(ten(factor), {6, 7, 8, 9, 10}); };
  for (int i = 0; i < 12; ++i) nights.add(five(1));
  const auto verdict = nights.add(five(.8));
  CHECK(verdict.verdict == SuiteVerdict::same);
  CHECK(verdict.change->ratio == Approx(.8));
  CHECK(verdict.carried_by.size() == 5);
}

TEST_CASE("members that come are no excuse for those that got slower") {
  SuiteNights nights;
  const auto five = [](double factor) { return without(ten(factor), {6, 7, 8, 9, 10}); };
  for (int i = 0; i < 12; ++i) nights.add(five(1));
  Members slower = five(.8);
  slower[WorkloadId{6}] = 1.4;
  CHECK(nights.add(slower).verdict == SuiteVerdict::same);
}

TEST_CASE("200 quiet nights have no verdict, whatever their noise") {
  int worlds = 0, nights = 0, verdicts = 0;
  for (const int members : {3, 6, 10, 40})
    for (const double member_sd : {.005, .02, .08})
      for (const double night_sd : {.001, .01, .03})
        for (const double outliers : {0., .03}) {
          SuiteWorld world;
          world.members = members;
          world.member_sd = member_sd;
          world.night_sd = night_sd;
          world.outliers = outliers;
          const auto seed = static_cast<std::uint64_t>(++worlds);
          for (const std::uint64_t again : {0, 1000, 2000, 3000, 4000}) {
            const SuiteTold told = play_suite(world, seed + again, 200);
            nights += 200;
            verdicts += told.worse + told.better;
          }
        }
  INFO(verdicts << " verdicts in " << nights << " nights");
  CHECK(nights == 72000);
  CHECK(verdicts <= 3);
}

TEST_CASE("5 % over all members is seen by the second night if nights differ by half a percent") {
  int seen = 0, played = 0;
  for (const double night_sd : {.002, .005})
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
      SuiteWorld world;
      world.members = 20;
      world.night_sd = night_sd;
      world.change = -.05;
      seen += play_suite(world, seed, 46).first_worse == 41;
      ++played;
    }
  INFO(seen << " of " << played);
  CHECK(seen >= 196);
}
