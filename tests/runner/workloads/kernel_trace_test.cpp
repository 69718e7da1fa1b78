// The native twin of harness/kernels.py: tests/workloads/kernels_test.py asks the same of that one.
#include "runner/workloads/harness/kernel_trace.hpp"

#include <functional>
#include <nlohmann/json.hpp>

#include <catch2/catch.hpp>

#include "storage/base/files.hpp"
#include "tests/support/source_tree.hpp"

using nightjar::workloads::BadTrace;
using nightjar::workloads::kernel_seconds;
using Json = nlohmann::json;

namespace {

std::string trace() {
  return nightjar::read_file(nightjar::test::source_tree() / "tests/workloads/data/kernels.json")
      .value();
}

// The trace with only the events that `keep` takes; it may change them.
std::string changed(const std::function<bool(Json& event)>& keep) {
  Json json = Json::parse(trace());
  Json events = Json::array();
  for (Json& event : json["traceEvents"])
    if (keep(event)) events.push_back(event);
  json["traceEvents"] = events;
  return json.dump();
}

bool is(const Json& event, const char* field, const char* value) {
  return event.value(field, Json()) == value;
}

}  // namespace

TEST_CASE("The kernels of each iteration are summed, copies are not, and launches decide") {
  const auto seconds = kernel_seconds(trace(), 3);
  REQUIRE(seconds.size() == 3);
  CHECK(seconds[0] == Approx(45.376e-6));
  CHECK(seconds[1] == Approx(45.536e-6));  // its kernel's clock is behind
  CHECK(seconds[2] == Approx(45.280e-6));
  const auto late = changed([](Json& event) {
    if (is(event, "cat", "kernel")) event["ts"] = event["ts"].get<double>() + 5000;
    return true;
  });
  CHECK(kernel_seconds(late, 3) == seconds);
}

TEST_CASE("A trace that is not whole gives no time") {
  const auto without = [](const char* field, const char* value) {
    return changed([=](Json& event) { return !is(event, field, value); });
  };
  const auto with_duration = [](const Json& value) {
    return changed([=](Json& event) {
      if (is(event, "cat", "kernel")) event["dur"] = value;
      return true;
    });
  };
  const double begin = Json::parse(trace())["traceEvents"][0]["ts"];
  const auto without_second = changed([=](Json& event) {
    const double at = event.value("ts", 0.0) - begin;
    return !is(event, "cat", "kernel") || at < 1000 || at > 2000;
  });
  CHECK_THROWS_WITH(kernel_seconds("{", 3), "the trace is no JSON");
  CHECK_THROWS_WITH(kernel_seconds("[]", 3), "the trace has no list of events");
  CHECK_THROWS_WITH(kernel_seconds(trace(), 4), "the trace has 3 iterations, not 4");
  CHECK_THROWS_WITH(kernel_seconds(without("cat", "kernel"), 3), "the trace has no kernel");
  CHECK_THROWS_WITH(kernel_seconds(without("name", "cudaLaunchKernel"), 3),
                    "a kernel was launched in no iteration");
  CHECK_THROWS_WITH(kernel_seconds(with_duration(-1), 3), "an event of kind kernel has no 'dur'");
  CHECK_THROWS_WITH(kernel_seconds(with_duration("41"), 3), "an event of kind kernel has no 'dur'");
  CHECK_THROWS_WITH(kernel_seconds(without_second, 3), "iteration 2 of the trace has no kernel");
  CHECK_THROWS_AS(kernel_seconds("", 3), BadTrace);
}
