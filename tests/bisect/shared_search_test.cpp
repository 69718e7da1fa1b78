#include "bisect/shared_search.hpp"

#include <cmath>
#include <map>
#include <random>

#include <catch2/catch.hpp>

using namespace nightjar::bisect;

namespace {

constexpr int commit_count = 60;
constexpr std::size_t benchmark_count = 50;

struct Step {
  int commit = 0;
  double size = 0;  // of the log
};

// Runs with noise of 3 %, of which benchmarks share a part, a drift of 1 % from session to session,
// and one run in twenty disturbed.
class Machine {
 public:
  Machine(unsigned seed, std::map<std::size_t, Step> steps)
      : random_(seed), steps_(std::move(steps)) {}

  void begin_session() { drift_ = .7 * drift_ + .01 * normal_(random_); }
  std::vector<std::optional<double>> run(int commit) {
    const double shared = .01 * normal_(random_);
    std::vector<std::optional<double>> values;
    for (std::size_t i = 0; i < benchmark_count; ++i) {
      double log = drift_ + shared + .03 * normal_(random_);
      if (uniform_(random_) < .05) log += .12 * std::abs(normal_(random_));
      const auto step = steps_.find(i);
      if (step != steps_.end() && commit >= step->second.commit) log += step->second.size;
      values.emplace_back(std::exp(log));
    }
    return values;
  }

 private:
  std::mt19937 random_;
  std::normal_distribution<> normal_;
  std::uniform_real_distribution<> uniform_;
  std::map<std::size_t, Step> steps_;
  double drift_ = 0;
};

SharedSearch searched(Machine machine) {
  SearchPolicy policy;
  policy.build_cost = 10;
  SharedSearch search(commit_count, policy);
  for (std::size_t i = 0; i < benchmark_count; ++i) search.add(false);
  int session = 0;
  while (const auto step = search.next()) {
    if (step->new_session && search.runs() > 0) {
      ++session;
      machine.begin_session();
    }
    for (const int commit : step->order) {
      search.take(session, commit, machine.run(commit));
      search.note_built(commit);
    }
  }
  return search;
}

// The commits that were named, by benchmark.
std::map<std::size_t, int> named(const SharedSearch& search) {
  std::map<std::size_t, int> out;
  for (std::size_t i = 0; i < benchmark_count; ++i)
    for (const auto& step : search.parts()[i].answer.value().culprits)
      out[i] = step.first == step.last ? step.first : -1;
  return out;
}

}  // namespace

TEST_CASE("among fifty benchmarks that did not change none has a culprit") {
  for (unsigned seed = 1; seed <= 8; ++seed) {
    INFO("seed " << seed);
    CHECK(named(searched(Machine(seed, {}))).empty());
  }
}

TEST_CASE("three of fifty benchmarks that changed have their culprits, and no other has one") {
  for (unsigned seed = 1; seed <= 2; ++seed) {
    INFO("seed " << seed);
    const SharedSearch search =
        searched(Machine(seed, {{3, {11, .10}}, {20, {37, .15}}, {41, {52, .09}}}));
    CHECK(named(search) == std::map<std::size_t, int>{{3, 11}, {20, 37}, {41, 52}});
    CHECK(search.runs() < 300);
  }
}

TEST_CASE("a search that goes on from its runs has the answers that it had") {
  const SharedSearch first = searched(Machine(1, {{3, {11, .10}}}));
  SharedSearch again(commit_count, {});
  for (std::size_t i = 0; i < benchmark_count; ++i) again.add(false);
  const auto& runs = first.parts().front().log.runs;
  for (std::size_t r = 0; r < runs.size(); ++r) {
    std::vector<std::optional<double>> values;
    for (const SharedPart& part : first.parts()) values.emplace_back(part.log.runs[r].value);
    again.take(runs[r].session, runs[r].commit, values);
    again.note_built(runs[r].commit);
  }
  for (std::size_t i = 0; i < benchmark_count; ++i)
    again.restore(i, first.parts()[i].answered_after, first.parts()[i].runs_for_others);
  CHECK_FALSE(again.next());
  CHECK(named(again) == std::map<std::size_t, int>{{3, 11}});
}
