#include "service/cli/lost_runs.hpp"

#include <random>

#include <catch2/catch.hpp>

using nightjar::cli::LostRuns;

namespace {

constexpr int inner = 5, bad_end = 9;

// Lost runs one after another until the commit is condemned.
int lost_until_condemned(LostRuns& runs, int commit) {
  for (int lost = 1; lost <= 20; ++lost) {
    runs.note(commit, true);
    if (runs.condemn(commit)) return lost;
  }
  return -1;
}

// Some numbers of each end, by turns, where `share` of the runs is lost. True if an end was
// condemned.
bool stops(std::mt19937& random, double share, int numbers) {
  LostRuns runs(bad_end);
  std::bernoulli_distribution lost(share);
  for (int i = 0; i < numbers; ++i)
    for (const int commit : {0, bad_end})
      for (bool again = true; again;) {
        again = lost(random);
        runs.note(commit, again);
        if (runs.condemn(commit)) return true;
      }
  return false;
}

}  // namespace

TEST_CASE("A commit that loses each run is condemned, and an end later than another") {
  LostRuns runs(bad_end);
  CHECK_FALSE(runs.condemn(inner));
  CHECK(lost_until_condemned(runs, inner) == 3);
  CHECK(lost_until_condemned(runs, 0) == 4);
  CHECK(lost_until_condemned(runs, bad_end) == 4);
  // However many numbers it gave, one counts.
  for (int i = 0; i < 15; ++i) runs.note(inner + 1, false);
  CHECK(lost_until_condemned(runs, inner + 1) == 4);
}

TEST_CASE("Where other commits lose runs as well, more of them condemn") {
  LostRuns runs(bad_end);
  for (int i = 0; i < 20; ++i) runs.note(1, i % 2 == 0);
  CHECK(lost_until_condemned(runs, inner) > 6);
  // One that gave no number says nothing of the others.
  LostRuns broken(bad_end);
  for (int i = 0; i < 20; ++i) broken.note(1, true);
  CHECK(lost_until_condemned(broken, inner) == 3);
}

TEST_CASE("A measure that loses a tenth of its runs does not stop a search") {
  std::mt19937 random(20261129);
  int stopped = 0;
  for (int i = 0; i < 1000; ++i) stopped += stops(random, .1, 20);
  CHECK(stopped <= 5);  // three of the last four runs would stop 95
}
