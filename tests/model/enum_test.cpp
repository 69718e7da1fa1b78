#include "storage/model/enum.hpp"

#include <catch2/catch.hpp>

#include "storage/model/build.hpp"
#include "storage/model/fix.hpp"
#include "storage/model/job.hpp"
#include "storage/model/lock.hpp"
#include "storage/model/night.hpp"
#include "storage/model/outbox.hpp"
#include "storage/model/regression.hpp"

using namespace nightjar;

namespace {
template <class E>
int check_every_name() {
  int count = 0;
  for (auto rest = enum_names(E{}); !rest.empty(); ++count) {
    const auto name = name_of(static_cast<E>(count));
    REQUIRE(rest.substr(0, name.size()) == name);
    CHECK(enum_from<E>(name) == static_cast<E>(count));
    rest.remove_prefix(std::min(rest.size(), name.size() + 2));
  }
  return count;
}
}  // namespace

TEST_CASE("every enumerator has the name it has in C++, both ways") {
  CHECK(check_every_name<BuildKind>() == 5);
  CHECK(check_every_name<Cause>() == 8);
  CHECK(check_every_name<BuildState>() == 5);
  CHECK(check_every_name<JobKind>() == 6);
  CHECK(check_every_name<JobState>() == 5);
  CHECK(check_every_name<RunStatus>() == 8);
  CHECK(check_every_name<NightState>() == 5);
  CHECK(check_every_name<NightTrigger>() == 5);
  CHECK(check_every_name<OutboxKind>() == 5);
  CHECK(check_every_name<OutboxState>() == 3);
  CHECK(check_every_name<RegressionState>() == 13);
  CHECK(check_every_name<BisectionState>() == 5);
  CHECK(check_every_name<FixNotSearched>() == 3);
  CHECK(name_of(RunStatus::broken_environment) == "broken_environment");
}

TEST_CASE("a name that no enumerator has is refused, and the message says which") {
  for (const char* text : {"", "nightl", "nightlyy", "Nightly", "nightly, ci", " ci", ","}) {
    INFO(text);
    CHECK_FALSE(enum_from<BuildKind>(text));
  }
  CHECK_THROWS_WITH(require_enum<BuildKind>("weird"), "no BuildKind is called 'weird'");
  CHECK(require_enum<BuildKind>("ci") == BuildKind::ci);
}
