#include "service/builds/ci/conclusion.hpp"

#include <catch2/catch.hpp>

using namespace nightjar;
using namespace nightjar::service::ci;
using namespace std::chrono_literals;
using enum CiLookupState;

namespace {

const Time look_time = *parse_rfc3339("2026-08-20T12:00:00Z");

CiLookup fresh_lookup() {
  return {.commit = *CommitSha::parse(std::string(40, 'a')), .variant = "cpu"};
}

Sight finished(int runs) {
  Sight sight;
  sight.runs = runs;
  sight.commit_age = 48h;
  return sight;
}

}  // namespace

TEST_CASE("only a look that saw everything says that there is no wheel") {
  const CiLookup absent_one = after_full_look(fresh_lookup(), finished(3), look_time);
  CHECK(absent_one.state == absent);
  CHECK_FALSE(absent_one.retry_at);
  CHECK(after_full_look(fresh_lookup(), finished(0), look_time).reason ==
        "GitHub has no run of this commit");
  Sight other = finished(3);
  other.missing = {"x: it has no wheel"};
  CHECK(after_full_look(fresh_lookup(), other, look_time).state == absent);
}

TEST_CASE("runs that go on, or have not begun, are waited for") {
  Sight running = finished(3);
  running.unfinished_runs = 1;
  const CiLookup lookup = after_full_look(fresh_lookup(), running, look_time);
  CHECK(lookup.state == failed);
  CHECK(lookup.reason == "1 of its 3 runs are not finished yet");
  CHECK(lookup.retry_at == look_time + 15min);
  Sight young = finished(0);
  young.commit_age = 5min;
  CHECK(after_full_look(fresh_lookup(), young, look_time).state == failed);
}

TEST_CASE("no answer is asked for again later and later, not before the time that was named") {
  CiLookup lookup = fresh_lookup();
  std::vector<std::chrono::microseconds> waits;
  for (int i = 0; i < 12; ++i) {
    lookup = after_no_answer(lookup, "away", {}, look_time);
    waits.push_back(*lookup.retry_at - look_time);
  }
  CHECK(waits[0] == 1min);
  CHECK(waits[1] == 2min);
  CHECK(waits[11] == 6h);
  CHECK(lookup.failures == 12);
  CHECK(*after_no_answer(fresh_lookup(), "limit", 3000s, look_time).retry_at == look_time + 3000s);
}

TEST_CASE("what vanished is looked for again, what cannot be used three times in all") {
  Sight gone = finished(1);
  gone.gone = {"it expired"};
  CHECK(after_full_look(fresh_lookup(), gone, look_time).retry_at);
  Sight refused = finished(1);
  refused.refused = {"wrong CRC"};
  CiLookup lookup = fresh_lookup();
  for (int i = 0; i < 2; ++i) {
    lookup = after_full_look(lookup, refused, look_time);
    CHECK(lookup.retry_at);
  }
  lookup = after_full_look(lookup, refused, look_time);
  CHECK(lookup.state == failed);
  CHECK(lookup.reason == "wrong CRC");
  CHECK_FALSE(lookup.retry_at);
}
