#include "runner/run/batch_trial.hpp"

#include <algorithm>
#include <unistd.h>

#include "runner/catalog/variants.hpp"
#include "runner/run/local_session.hpp"
#include "runner/run/session.hpp"
#include "storage/base/foreign_number.hpp"
#include "storage/model/run_value.hpp"

namespace nightjar::runner {
namespace {

constexpr int kTrials = 3;
constexpr double kMemoryShare = 0.8;  // of the machine's
constexpr double kMostSeconds = 0.3;

}  // namespace

BatchPoint try_batch(const CatalogEntry& entry, int batch, RunLimits limits, Executor& executor,
                     std::stop_token stop) {
  const auto memory =
      static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGESIZE));
  if (limits.memory_bytes == 0)
    limits.memory_bytes = clamped_integer<std::int64_t>(kMemoryShare * memory);
  limits.seconds = std::min(limits.seconds, kMostSeconds);
  const JobSpec job =
      local_job(JobKind::screen, {at_batch(entry, "b" + std::to_string(batch))}, {0}, limits);
  BatchPoint point;
  for (int trial = 0; trial < kTrials; ++trial) {
    const auto session = run_session({}, job, executor, SystemClock(), stop);
    const RunResult& run = session.runs.front();
    point = {batch, run.status, value_of(run, "latency"), run.reason};
    if (!point.disturbed()) break;
  }
  return point;
}

}  // namespace nightjar::runner
