#include "bisect/evidence/earlier_history.hpp"

#include <catch2/catch.hpp>

#include "storage/model/json.hpp"

using namespace nightjar;
using namespace nightjar::evidence;

namespace {

// 20 nights at 1, 12 at 1.2, 20 at .9.
HistoryMedians three_levels() {
  HistoryMedians history;
  for (int i = 0; i < 52; ++i) {
    history.builds.push_back(BuildId{i + 1});
    history.medians.push_back((i < 20 ? 1 : i < 32 ? 1.2 : .9) * (1 + .001 * (i * 7 % 5)));
  }
  return history;
}

// What rules 10 said of the first step.
nlohmann::json said_of(const HistoryMedians& history) {
  const std::span<const double> all(history.medians);
  return {{"position", 20},
          {"before", bisect::hodges_lehmann(all.first(20))},
          {"after", bisect::hodges_lehmann(all.subspan(20, 12))}};
}

}  // namespace

TEST_CASE("a step of earlier rules is judged again between the levels that it names") {
  const HistoryMedians history = three_levels();
  const auto change = earlier_history_step(said_of(history), history, {});
  CHECK(change.position == 20);
  CHECK(change.worse);
  CHECK(change.ratio.ratio == Approx(1.2).epsilon(.005));
  CHECK(change.ratio.low > 1.15);
}

TEST_CASE("figures that no stretch beside the step has are refused") {
  const HistoryMedians history = three_levels();
  auto said = said_of(history);
  said["after"] = 1.5;
  CHECK_THROWS_WITH(earlier_history_step(said, history, {}), Catch::Contains("after the step"));
  said = said_of(history);
  said["before"] = .9;
  CHECK_THROWS_WITH(earlier_history_step(said, history, {}), Catch::Contains("before the step"));
}

TEST_CASE("a step of earlier rules where nothing moved is refused") {
  HistoryMedians history = three_levels();
  for (std::size_t i = 0; i < history.medians.size(); ++i)
    history.medians[i] = 1 + .001 * static_cast<double>(i * 7 % 5);
  CHECK_THROWS_WITH(earlier_history_step(said_of(history), history, {}),
                    Catch::Contains("cannot be told apart"));
}
