#include "storage/ci_lookups.hpp"

#include <catch2/catch.hpp>

#include "storage/builds.hpp"

using namespace nightjar;
using namespace nightjar::storage;
using namespace std::chrono_literals;

namespace {

const Time noon = *parse_rfc3339("2026-08-20T12:00:00Z");

struct Lookups {
  Database db = Database::open_writer(":memory:");

  CiLookup want(char name, bool fetch = false, bool urgent = false, Time at = noon) {
    CiLookup wanted{.commit = *CommitSha::parse(std::string(40, name)), .variant = "cpu"};
    wanted.fetch = fetch;
    wanted.urgent = urgent;
    wanted.wanted_at = at;
    return write(db, [&](Transaction& tx) { return want_ci_wheel(tx, wanted); });
  }
  void note(const CiLookup& lookup) {
    write(db, [&](Transaction& tx) { note_ci_look(tx, lookup); });
  }
};

}  // namespace

TEST_CASE_METHOD(Lookups, "what is wanted is due at once, urgent ones first, then those to fetch") {
  want('a');
  want('b', true);
  want('c', false, true, noon + 1s);
  std::string order;
  while (const auto next = next_ci_lookup(db, {"cpu"}, noon + 1h)) {
    order += next->commit.str()[0];
    CiLookup looked = *next;
    looked.state = CiLookupState::absent;
    looked.retry_at.reset();
    note(looked);
  }
  CHECK(order == "cba");
}

TEST_CASE_METHOD(Lookups, "a look is written as it is, and its time to come again is kept") {
  CiLookup lookup = want('a', true);
  lookup.state = CiLookupState::failed;
  lookup.reason = "the bucket answered 503";
  lookup.looked_at = "a line\n";
  lookup.bytes = 17;
  lookup.failures = 2;
  lookup.looked_at_time = noon;
  lookup.retry_at = noon + 10min;
  note(lookup);
  CHECK_FALSE(next_ci_lookup(db, {"cpu"}, noon + 9min));
  const auto again = next_ci_lookup(db, {"cpu"}, noon + 10min);
  REQUIRE(again);
  CHECK(again->reason == lookup.reason);
  CHECK(again->looked_at == lookup.looked_at);
  CHECK(again->bytes == 17);
  CHECK(again->failures == 2);
  CHECK(again->looked_at_time == noon);
}

TEST_CASE_METHOD(Lookups, "asking again never weakens what was asked for") {
  want('a', true, true);
  const CiLookup again = want('a', false, false, noon + 1h);
  CHECK(again.fetch);
  CHECK(again.urgent);
  CHECK(again.retry_at == noon);
}

TEST_CASE_METHOD(Lookups, "a wheel that was found is due again once it is to be fetched") {
  CiLookup lookup = want('a');
  lookup.state = CiLookupState::found;
  lookup.looked_at_time = noon;
  lookup.retry_at.reset();
  note(lookup);
  CHECK_FALSE(next_ci_lookup(db, {"cpu"}, noon + 1h));
  CHECK(want('a', true, false, noon + 1h).retry_at == noon + 1h);
  note(lookup);  // a look that began before it was asked for
  CHECK(next_ci_lookup(db, {"cpu"}, noon)->fetch);
}

TEST_CASE_METHOD(Lookups, "a build keeps what it needs of a machine") {
  Build build;
  build.kind = BuildKind::ci;
  build.version = "2.15.0a0+git1234567";
  build.needs = {"cp311", "linux_x86_64", std::nullopt, "sm_75 sm_89"};
  const Build stored = write(db, [&](Transaction& tx) { return add_build(tx, build); });
  CHECK(stored.needs.python_tag == "cp311");
  CHECK_FALSE(stored.needs.glibc);
  CHECK(stored.needs.gpu_architectures == "sm_75 sm_89");
  build = stored;
  build.needs.glibc = "2.35";
  write(db, [&](Transaction& tx) { update_build(tx, build); });
  CHECK(find_build(db, build.id)->needs.glibc == "2.35");
}
