#include "storage/model/metric.hpp"

namespace nightjar {
namespace {
constexpr Direction lower = Direction::lower_is_better;
// Runs of one build differed by up to 50 KiB an iteration (docs/workloads.md: the heap of small
// workloads still grows). The GPU's caching allocator is exact.
constexpr double least_leak = 64 << 10, least_gpu_leak = 512;
// Below these nobody notices a wait, and clocks and timers do not repeat.
constexpr double least_time = 1e-6, least_compilation = .25;
// The environment alone changes the memory of a process by up to least_memory. The allocator of a
// device gives whole blocks, and reserves whole segments.
constexpr double least_memory = 1 << 20, least_gpu_memory = 256 << 10, least_segment = 2 << 20;
// Runs differ by 0.25 % (docs/cuda.md). A threshold of half a percent shows a change of one
// percent nearly always; one of a whole percent would show it half of the time.
constexpr double kernel_threshold = .005;
// Runs of one build differ by 0.12 % (docs/workloads.md).
constexpr double blocks_threshold = .005;
constexpr Metric metric_table[] = {
    {"latency", "s", lower, Repeatability::noisy, least_time},
    {"cuda_latency", "s", lower, Repeatability::noisy, least_time},
    {"kernel_time", "s", lower, Repeatability::steady, least_time, kernel_threshold},
    {"compile_time", "s", lower, Repeatability::noisy, least_compilation},
    {"warm_compile_time", "s", lower, Repeatability::noisy, least_compilation},
    {"speedup", "times eager", Direction::higher_is_better, Repeatability::noisy},
    {"unique_graphs", "graphs", lower, Repeatability::steady},
    {"graph_breaks", "breaks", lower, Repeatability::slope, 1},
    {"recompiles", "recompilations", lower, Repeatability::slope, 1},
    {"peak_cpu_memory", "bytes", lower, Repeatability::steady, least_memory},
    {"peak_memory", "bytes", lower, Repeatability::steady, least_memory, blocks_threshold},
    {"memory_after_import", "bytes", lower, Repeatability::steady, least_memory},
    {"peak_gpu_memory", "bytes", lower, Repeatability::steady, least_gpu_memory},
    {"peak_gpu_memory_reserved", "bytes", lower, Repeatability::steady, least_segment},
    {"leaked_memory", "bytes/iteration", lower, Repeatability::slope, least_leak},
    {"leaked_gpu_memory", "bytes/iteration", lower, Repeatability::slope, least_gpu_leak},
    {failures_metric, "outcome", lower, Repeatability::steady},
    {"compression_ratio", "times eager", Direction::higher_is_better, Repeatability::steady},
    {"imported_cost", "units", lower, Repeatability::noisy},
    {"imported_rate", "units", Direction::higher_is_better, Repeatability::noisy},
    {"imported_value", "units", Direction::unknown, Repeatability::slope},
};
}  // namespace

std::span<const Metric> all_metrics() {
  return metric_table;
}

const Metric* find_metric(std::string_view name) {
  for (const Metric& metric : metric_table)
    if (metric.name == name) return &metric;
  return nullptr;
}

bool is_steady(std::string_view name) {
  const Metric* metric = find_metric(name);
  return metric && metric->repeatability == Repeatability::steady;
}

}  // namespace nightjar
