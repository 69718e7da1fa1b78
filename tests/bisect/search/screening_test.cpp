#include <catch2/catch.hpp>

#include "bisect/search/posterior.hpp"
#include "tests/support/search_world.hpp"

using namespace nightjar::bisect;

// What decides which hypotheses are fitted at all.
TEST_CASE("the quick evidence of a hypothesis is about that of its fit, from the fit's labels") {
  nightjar::test::WorldOptions options;
  options.planted = {{37, .07}};
  options.unbuildable = 0;
  for (const std::uint64_t seed : {1, 2, 3}) {
    nightjar::test::World world(options, seed);
    SearchLog log;
    log.commits = options.commits;
    for (const int commit : {0, 20, 50, 100})
      for (int i = 0; i < 10; ++i) log.runs.push_back({0, commit, std::exp(world.measure(commit))});
    const auto posterior = search::infer(log, {});
    const auto noise = search::cautious(posterior.noise, posterior.data);
    REQUIRE_FALSE(posterior.fits.empty());
    for (const auto& fit : posterior.fits) {
      const std::vector<search::Labels> labels{fit.outlying};
      const auto screened = search::screen_hypotheses(posterior.data, noise, labels);
      const auto quick = std::find_if(screened.begin(), screened.end(), [&](const auto& one) {
        return one.hypothesis.kind == fit.hypothesis.kind &&
               one.hypothesis.gaps == fit.hypothesis.gaps;
      });
      REQUIRE(quick != screened.end());
      CHECK(quick->log_posterior == Approx(fit.log_posterior).margin(2));
    }
  }
}
