#include "storage/model/lifecycle.hpp"

#include <fstream>
#include <sstream>

#include <catch2/catch.hpp>

#include "tests/support/source_tree.hpp"

namespace nightjar {
namespace {

// The table as a state diagram of Mermaid.
std::string diagram() {
  std::string text = "stateDiagram-v2\n";
  for (const LifecycleRow& row : lifecycle()) {
    const std::string name(name_of(row.state));
    if (row.may_begin) text += "  [*] --> " + name + "\n";
    for (const RegressionState next : row.next)
      text += "  " + name + " --> " + std::string(name_of(next)) + "\n";
  }
  return text;
}

}  // namespace

TEST_CASE("The table of states has a row for each state, in the enumeration's order") {
  const auto& rows = lifecycle();
  REQUIRE(rows.size() == all_of<RegressionState>().size());
  for (const RegressionState state : all_of<RegressionState>())
    CHECK(lifecycle_of(state).state == state);
}

TEST_CASE("Only what is real is counted, and what is over ends unless a row says otherwise") {
  for (const LifecycleRow& row : lifecycle()) {
    INFO(name_of(row.state));
    CHECK((row.is_real || !row.is_counted));
    // A person's word can end whatever has not ended.
    CHECK((may_follow(row.state, RegressionState::dismissed) == (row.progress != Progress::over)));
  }
}

TEST_CASE("The picture of a regression's states in the documents is the table's") {
  std::ifstream file(test::source_tree() / "docs/architecture.md");
  std::ostringstream page;
  page << file.rdbuf();
  const std::string wanted = "```mermaid\n" + diagram() + "```\n";
  if (page.str().find(wanted) == std::string::npos) FAIL("docs/architecture.md needs\n" << wanted);
}

}  // namespace nightjar
