// What a finding costs to tell does not depend on how many other series its night measured.
#include <catch2/catch.hpp>

#include "service/engine/night/nights.hpp"
#include "service/engine/verdict/extent.hpp"
#include "storage/nights.hpp"
#include "tests/service/engine/verdict/wide_world.hpp"
#include "tests/support/statement_count.hpp"

using namespace nightjar;
using namespace nightjar::service;
using service::test::WideWorld;

namespace {

// Two nights, the second one worse. `modes` more workloads of each model.
struct Fleet : WideWorld {
  explicit Fleet(int modes) {
    config.night.session_workloads = 1000;  // one session of all
    for (const std::string& model : service::test::model_names)
      for (int mode = 0; mode < modes; ++mode)
        runner.workloads.add("python/" + model + "/train/cpu/fp32/b" + std::to_string(100 + mode) +
                             "/eager@1");
    runner = storage::register_runner(storage::Autocommit(db), runner);
    night();
    step_at = 18;
    night();
  }
  Regression reported() {
    const auto found = storage::regressions_in_state(db, RegressionState::reported);
    REQUIRE(found.size() == 1);
    return found.front();
  }
  std::size_t looked_at() {
    const Regression finding = reported();
    const ReportExtent extent = decide(load_extent(context(), finding), finding);
    return extent.worse.size() + extent.not_seen.size();
  }
};

}  // namespace

TEST_CASE("the extent of a finding takes as many statements in a large fleet as in a small one") {
  Fleet small(0), large(6);
  CHECK(large.looked_at() >= small.looked_at() + 30);
  const auto statements = [](Fleet& fleet) {
    const Regression finding = fleet.reported();
    const auto context = fleet.context();
    return statements_of(fleet.db, [&] { load_extent(context, finding); });
  };
  CHECK(statements(large) == statements(small));
}

TEST_CASE("a finding that joined costs one observation, however many machine classes joined") {
  Fleet fleet(0);
  const Regression finding = fleet.reported();
  const auto context = fleet.context();
  // The night's own group is left out, so that these are of another night.
  Regression first = finding;
  first.night = storage::list_nights(fleet.db, {}).items.back().id;
  std::vector<Regression> joined{first};
  const auto statements = [&] {
    return statements_of(fleet.db, [&] { worse_beside(context, finding, {}, joined); });
  };
  const int of_one = statements();
  for (const int machine : {7, 8, 9}) {
    joined.push_back(first);
    joined.back().machine = MachineId{machine};
  }
  // Each finding asks for its own lead series and build.
  CHECK(statements() <= of_one + 2 * 3);
}

TEST_CASE("a night is judged with as many statements in a large fleet as in a small one") {
  Fleet small(0), large(6);
  const auto statements = [](Fleet& fleet) {
    const Night night = storage::list_nights(fleet.db, {}).items.front();
    const auto context = fleet.context();
    return statements_of(fleet.db, [&] { load_judging(context, night); });
  };
  CHECK(statements(large) == statements(small));
}
