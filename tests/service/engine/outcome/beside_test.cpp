#include "service/engine/outcome/beside.hpp"

#include <catch2/catch.hpp>

using namespace nightjar;
using namespace nightjar::service;
using nightjar::storage::SeriesPoint;

namespace {

constexpr const char* bert = "python/bert/eval/cuda/fp32/b1/eager";
constexpr const char* vgg = "python/vgg16/eval/cuda/fp32/b1/eager";

Series on(std::int64_t machine, std::int64_t id, const char* workload, const char* variant) {
  return {SeriesId{id},
          WorkloadId{id % 10},
          *WorkloadName::parse(workload),
          1,
          "latency",
          MachineId{machine},
          variant};
}

SeriesPoint point(const char* version, const char* date, std::vector<double> values) {
  return {BuildId{1}, version, date, std::move(values)};
}

SeriesPoint nightly(const char* date, std::vector<double> values) {
  return point("2.15.0.dev20260820+cpu", date, std::move(values));
}

}  // namespace

TEST_CASE("machines are compared by the newest date that both measured, with an interval") {
  const MeasuredOnBuilds here{
      on(1, 11, bert, "cu130"),
      {nightly("2026-08-21", {9, 9}), nightly("2026-08-20", {2, 2.02, 2.04, 1.98, 1.96})},
      ""};
  const MeasuredOnBuilds there{
      on(2, 21, bert, "rocm7"),  // the only variant in common is none
      {nightly("2026-08-20", {1, 1.01, 1.02, .99, .98}), nightly("2026-08-19", {5, 5})},
      ""};
  const auto rows = machines_beside({here}, {there});
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].ratio.value() == Approx(2).epsilon(.001));
  CHECK(rows[0].interval.value().low < 2);
  CHECK(rows[0].interval.value().high > 2);
  CHECK(rows[0].first->value == Approx(2));
  CHECK(rows[0].other->series.variant == "rocm7");
  CHECK(rows[0].reason.empty());
}

TEST_CASE("machines without a date in common are compared by the newest nightly of each") {
  const auto rows = machines_beside({{on(1, 11, bert, "cpu"), {nightly("2026-08-21", {3})}, ""}},
                                    {{on(2, 21, bert, "cpu"), {nightly("2026-08-20", {2})}, ""}});
  CHECK(rows.at(0).ratio.value() == Approx(1.5));
  CHECK_FALSE(rows.at(0).interval);  // one run says nothing about noise
}

TEST_CASE("a build with one run has the runs of nightlies of its level and of imports of it") {
  MeasuredOnBuilds one{on(1, 11, bert, "imported")};
  for (int day = 20; day > 10; --day) {
    one.builds.push_back(nightly("", {day > 14 ? 1 + .001 * day : 7}));
    one.builds.back().build = BuildId{day};
    one.builds.back().date = "2026-08-" + std::to_string(day);
  }
  one.builds.insert(one.builds.begin() + 2, point("2.9.1", "2026-08-18", {2}));
  one.builds.insert(one.builds.begin() + 5, point("v2.9.1", "2026-08-15", {2.02}));
  one.level_since = BuildId{17};
  auto rows = release_beside({one});
  CHECK(rows.at(0).first->point.values == std::vector{2, 2.02});
  CHECK(rows.at(0).other->point.values == std::vector{1.02, 1.019, 1.018, 1.017});
  CHECK(rows.at(0).ratio.value() == Approx(1.97).epsilon(.01));
  CHECK(rows.at(0).interval.value().low < *rows.at(0).ratio);
  one.level_since = BuildId{3};  // longer ago than what is loaded
  CHECK(release_beside({one}).at(0).other->point.values.size() == 5);
  one.level_since = BuildId{20};
  CHECK_FALSE(release_beside({one}).at(0).interval);
}

TEST_CASE("what could not be compared comes last, with its reason") {
  const auto date = "2026-08-20";
  const std::vector<MeasuredOnBuilds> first{{on(1, 11, bert, "cpu"), {nightly(date, {1, 1})}, ""},
                                            {on(1, 12, vgg, "cpu"), {nightly(date, {1, 1})}, ""}};
  const MeasuredOnBuilds failing{on(2, 22, vgg, "cpu"), {}, "out of memory, 4 GiB asked for"};
  const auto rows =
      machines_beside(first, {{on(2, 21, bert, "cpu"), {nightly(date, {2, 2})}, ""}, failing});
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].ratio.value() == Approx(.5));
  CHECK_FALSE(rows[1].ratio);
  CHECK(rows[1].reason ==
        "the other machine has no value from its newest nightlies: out of memory, 4 GiB asked for");
  const auto reason = [&](MeasuredOnBuilds one) {
    return machines_beside({first[0]}, {std::move(one)}).back().reason;
  };
  CHECK(reason({on(2, 21, bert, "cpu"), {nightly(date, {2, 0})}, ""}) == "a value is not positive");
  MeasuredOnBuilds changed{on(2, 21, bert, "cpu"), {nightly(date, {2})}, ""};
  changed.series.workload_version = 2;
  CHECK(reason(changed) == "version 1 of the workload was measured here, version 2 there");
  CHECK(reason({on(2, 22, vgg, "cpu"), {nightly(date, {2})}, ""}) ==
        "the first machine has no value from its newest nightlies");
}

TEST_CASE("the last release is compared with the newest nightly, the largest ratio first") {
  const auto rows = release_beside(
      {{on(1, 11, bert, "cpu"),
        {nightly("2026-08-21", {1, 1}), nightly("2026-08-20", {7, 7}),
         point("20260601.000000+2.9.1+cpu", "2026-06-01", {8, 8}),
         point("20260501.000000+2.10.0+cpu", "2026-05-01", {1.1, 1.1})},
        ""},
       {on(1, 12, vgg, "cpu"),
        {point("2.10.0", "2026-05-01", {1, 1}), nightly("2026-05-02", {2, 2})},
        ""},
       {on(2, 21, bert, "cpu"), {nightly("2026-08-21", {1, 1})}, ""},
       {on(2, 22, vgg, "cpu"), {point("2.10.0", "2026-05-01", {1})}, "crashed, signal 11"}});
  REQUIRE(rows.size() == 4);
  CHECK(rows[0].ratio.value() == Approx(.5));  // twice as long counts for more than a tenth less
  CHECK(rows[0].series.id == SeriesId{12});
  CHECK(rows[1].ratio.value() == Approx(1.1));  // 2.10 is later than 2.9
  CHECK(rows[1].first->point.date == "2026-05-01");
  CHECK(rows[1].other->point.date == "2026-08-21");
  CHECK(rows[2].reason == "no release was measured");
  CHECK(rows[3].reason == "no nightly was measured of late: crashed, signal 11");
  CHECK(rows[3].first);
}
