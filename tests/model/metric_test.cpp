#include "storage/model/metric.hpp"

#include <set>

#include <catch2/catch.hpp>

using namespace nightjar;

TEST_CASE("every metric is found by its name, which is unique") {
  std::set<std::string_view> names;
  for (const Metric& metric : all_metrics()) {
    CHECK(names.insert(metric.name).second);
    CHECK(find_metric(metric.name) == &metric);
    CHECK_FALSE(metric.unit.empty());
    if (metric.repeatability == Repeatability::slope)
      CHECK((metric.least_change > 0) == (metric.direction != Direction::unknown));
  }
  CHECK(names == std::set<std::string_view>{"latency",           "compile_time",
                                            "peak_cpu_memory",   "memory_after_import",
                                            "peak_gpu_memory",   "leaked_memory",
                                            "failures",          "cuda_latency",
                                            "warm_compile_time", "speedup",
                                            "unique_graphs",     "graph_breaks",
                                            "recompiles",        "peak_gpu_memory_reserved",
                                            "peak_memory",       "leaked_gpu_memory",
                                            "compression_ratio", "imported_cost",
                                            "imported_rate",     "kernel_time",
                                            "imported_value"});
  CHECK(find_metric("speed") == nullptr);
}

TEST_CASE("metrics repeat as it was measured") {
  CHECK(find_metric("latency")->repeatability == Repeatability::noisy);
  CHECK(find_metric("peak_cpu_memory")->repeatability == Repeatability::steady);
  CHECK(find_metric("kernel_time")->repeatability == Repeatability::steady);
  CHECK(find_metric("kernel_time")->threshold == 0.005);
  CHECK(find_metric("peak_memory")->threshold == 0.005);
  CHECK(find_metric("latency")->threshold == 0);
  CHECK(find_metric("leaked_memory")->repeatability == Repeatability::slope);
  CHECK(find_metric("latency")->direction == Direction::lower_is_better);
  CHECK(find_metric("speedup")->direction == Direction::higher_is_better);
  CHECK(find_metric("graph_breaks")->repeatability == Repeatability::slope);
}
