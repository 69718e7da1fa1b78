#include "runner/run/batch_trial.hpp"

#include <algorithm>
#include <unistd.h>

#include "runner/catalog/variants.hpp"
#include "storage/base/foreign_number.hpp"
#include "storage/model/run_value.hpp"

namespace nightjar::runner {
namespace {

constexpr int trials = 3;
constexpr double memory_share = 0.8;  // of the machine's
constexpr double most_seconds = 0.3;

}  // namespace

BatchPoint try_batch(const CatalogEntry& entry, int batch, RunLimits limits, const RunOnce& run) {
  const auto memory =
      static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGESIZE));
  if (limits.memory_bytes == 0)
    limits.memory_bytes = clamped_integer<std::int64_t>(memory_share * memory);
  limits.seconds = std::min(limits.seconds, most_seconds);
  limits.kernel_iterations = 0;
  limits.peak_memory = false;
  const CatalogEntry tried = at_batch(entry, "b" + std::to_string(batch));
  BatchPoint point;
  for (int trial = 0; trial < trials; ++trial) {
    const RunResult result = run(tried, limits);
    point = {batch, result.status, value_of(result, "latency"), result.reason};
    if (!point.disturbed()) break;
  }
  return point;
}

}  // namespace nightjar::runner
