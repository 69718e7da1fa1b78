#include "storage/model/metric.hpp"

namespace nightjar {
namespace {
constexpr Direction kLower = Direction::lower_is_better;
// Runs of one build differed by up to 50 KiB an iteration (docs/workloads.md: the heap of small
// workloads still grows). The GPU's caching allocator is exact.
constexpr double kLeastLeak = 64 << 10, kLeastGpuLeak = 512;
// Below these nobody notices a wait, and clocks and timers do not repeat.
constexpr double kLeastTime = 1e-6, kLeastCompilation = .25;
// The environment alone changes the memory of a process by up to kLeastMemory. The allocator of a
// device gives whole blocks, and reserves whole segments.
constexpr double kLeastMemory = 1 << 20, kLeastGpuMemory = 256 << 10, kLeastSegment = 2 << 20;
// Runs differ by 0.25 % (docs/cuda.md). A threshold of half a percent shows a change of one
// percent nearly always; one of a whole percent would show it half of the time.
constexpr double kKernelThreshold = .005;
// Runs of one build differ by 0.12 % (docs/workloads.md).
constexpr double kBlocksThreshold = .005;
constexpr Metric kMetrics[] = {
    {"latency", "s", kLower, Repeatability::noisy, kLeastTime},
    {"cuda_latency", "s", kLower, Repeatability::noisy, kLeastTime},
    {"kernel_time", "s", kLower, Repeatability::steady, kLeastTime, kKernelThreshold},
    {"compile_time", "s", kLower, Repeatability::noisy, kLeastCompilation},
    {"warm_compile_time", "s", kLower, Repeatability::noisy, kLeastCompilation},
    {"speedup", "times eager", Direction::higher_is_better, Repeatability::noisy},
    {"unique_graphs", "graphs", kLower, Repeatability::steady},
    {"graph_breaks", "breaks", kLower, Repeatability::slope, 1},
    {"recompiles", "recompilations", kLower, Repeatability::slope, 1},
    {"peak_cpu_memory", "bytes", kLower, Repeatability::steady, kLeastMemory},
    {"peak_memory", "bytes", kLower, Repeatability::steady, kLeastMemory, kBlocksThreshold},
    {"memory_after_import", "bytes", kLower, Repeatability::steady, kLeastMemory},
    {"peak_gpu_memory", "bytes", kLower, Repeatability::steady, kLeastGpuMemory},
    {"peak_gpu_memory_reserved", "bytes", kLower, Repeatability::steady, kLeastSegment},
    {"leaked_memory", "bytes/iteration", kLower, Repeatability::slope, kLeastLeak},
    {"leaked_gpu_memory", "bytes/iteration", kLower, Repeatability::slope, kLeastGpuLeak},
    {kFailures, "outcome", kLower, Repeatability::steady},
    {"compression_ratio", "times eager", Direction::higher_is_better, Repeatability::steady},
    {"imported_cost", "units", kLower, Repeatability::noisy},
    {"imported_rate", "units", Direction::higher_is_better, Repeatability::noisy},
    {"imported_value", "units", Direction::unknown, Repeatability::slope},
};
}  // namespace

std::span<const Metric> all_metrics() {
  return kMetrics;
}

const Metric* find_metric(std::string_view name) {
  for (const Metric& metric : kMetrics)
    if (metric.name == name) return &metric;
  return nullptr;
}

bool is_steady(std::string_view name) {
  const Metric* metric = find_metric(name);
  return metric && metric->repeatability == Repeatability::steady;
}

}  // namespace nightjar
