// Finds the batch size with the largest throughput by doubling it, as TorchBench chooses its own,
// and keeps what was found: `bmax` in a workload's name means that size on this class of machine.
// Used by `measure` and for a service's jobs.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runner/catalog/catalog.hpp"
#include "storage/model/job.hpp"

namespace nightjar::runner {

// The batch part of a name that leaves the size to this machine.
inline constexpr std::string_view best_batch_name = "bmax";

struct BatchPoint {
  int batch = 1;
  RunStatus status = RunStatus::measured;
  std::optional<double> latency;  // seconds an iteration; none also if the run was disturbed
  std::string reason;             // where it was not measured

  double throughput() const { return latency ? batch / *latency : 0; }  // items/s
  bool disturbed() const { return status == RunStatus::measured && !latency; }
};

// Returns the size to try next, from 1 on. nullopt if nothing is to be gained: two doublings
// brought less than 5 % together, an iteration took over a second, or the last size could not be
// run while a smaller one could, or it was disturbed throughout. (Some models refuse small batches,
// so failures before the first success end nothing.)
std::optional<int> next_batch(const std::vector<BatchPoint>& tried);

// Returns the smallest size within 5 % of the largest throughput, so that noise does not double it;
// nullopt if none ran.
std::optional<int> best_batch(const std::vector<BatchPoint>& tried);

struct SweepResult {
  std::optional<int> batch;
  std::string reason;                         // why there is none
  RunStatus status = RunStatus::unavailable;  // of the workload then
};
// `try_batch` runs a workload once.
SweepResult sweep_batches(const CatalogEntry& entry,
                          const std::function<BatchPoint(const CatalogEntry&, int)>& try_batch);

// Keeps what was found in a JSON file of the cache folder, by machine class, workload and version.
class PinnedBatches {
 public:
  explicit PinnedBatches(const std::filesystem::path& cache);
  std::optional<int> find(const std::string& machine_class, const CatalogEntry& entry) const;
  // Throws std::system_error if the file cannot be written.
  void pin(const std::string& machine_class, const CatalogEntry& entry, int batch) const;

 private:
  std::filesystem::path file_;
};

}  // namespace nightjar::runner
