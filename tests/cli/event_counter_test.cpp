#include "service/cli/event_counter.hpp"

#include <linux/perf_event.h>
#include <vector>

#include <catch2/catch.hpp>

#include "service/cli/shell.hpp"

using namespace nightjar::cli;

// Page faults, which the kernel counts itself: not every machine has a counter of instructions.
TEST_CASE("A counter has what children and their children do, and nothing of this process") {
  const CounterEvent faults{PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS};
  const auto counted = [&](const std::string& command) {
    const ChildCounter counter(faults);
    const std::vector<char> touched(std::size_t{32} << 20, 'x');
    CHECK_FALSE(counter.count());
    REQUIRE(run_command(command, {"/", {}}, 60, {}).process.fine());
    return counter.count().value();
  };
  if (const ChildCounter counter(faults); !counter.problem().empty()) {
    WARN("nothing is shown here: the kernel lends no counter: " + counter.problem());
    return;
  }
  const double one = counted("/bin/true"),
               many = counted("(for i in 1 2 3 4 5 6 7 8; do /bin/true; done)");
  CHECK(one > 10);
  CHECK(one < 2000);  // this process touches 8192 pages
  CHECK(many > 2 * one);
}
