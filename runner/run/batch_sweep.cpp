#include "runner/run/batch_sweep.hpp"

#include <algorithm>

#include "storage/base/files.hpp"
#include "storage/base/foreign_number.hpp"
#include "storage/model/foreign_json.hpp"
#include "storage/model/json.hpp"

namespace nightjar::runner {
namespace {

constexpr double gain = 1.05;
constexpr double longest_iteration = 1.0;  // seconds an iteration: thirty of them are a run
constexpr int largest = 1 << 20;
constexpr int largest_first = 64;  // what no size up to here can do, none can

double best_throughput(auto first, auto last) {
  double best = 0;
  for (; first != last; ++first) best = std::max(best, first->throughput());
  return best;
}

std::string key_of(const CatalogEntry& entry) {
  return entry.name.str() + "@" + std::to_string(entry.version);
}

// An object, whatever is in the file: what was pinned is found again by measuring.
nlohmann::json pins_in(const std::filesystem::path& file) {
  auto pins = parse_foreign(read_file(file).value_or("{}"));
  return pins.is_object() ? pins : nlohmann::json::object();
}

}  // namespace

std::optional<int> next_batch(const std::vector<BatchPoint>& tried) {
  if (tried.empty()) return 1;
  const BatchPoint& last = tried.back();
  const double best = best_throughput(tried.begin(), tried.end());
  const bool ran = last.status == RunStatus::measured;
  const bool refused =
      !ran && (best > 0 || last.batch >= largest_first || last.status == RunStatus::unavailable);
  if (refused || last.batch >= largest || last.disturbed()) return std::nullopt;
  if (ran && *last.latency > longest_iteration) return std::nullopt;
  if (tried.size() > 2) {
    const double before = best_throughput(tried.begin(), tried.end() - 2);
    if (before > 0 && best < gain * before) return std::nullopt;
  }
  return last.batch * 2;
}

std::optional<int> best_batch(const std::vector<BatchPoint>& tried) {
  const double best = best_throughput(tried.begin(), tried.end());
  for (const BatchPoint& point : tried)
    if (best > 0 && point.throughput() * gain >= best) return point.batch;
  return std::nullopt;
}

SweepResult sweep_batches(const CatalogEntry& entry,
                          const std::function<BatchPoint(const CatalogEntry&, int)>& try_batch) {
  std::vector<BatchPoint> tried;
  while (const auto batch = next_batch(tried)) tried.push_back(try_batch(entry, *batch));
  if (tried.back().disturbed())
    return {std::nullopt, "no run at batch size b" + std::to_string(tried.back().batch) +
                              " saw the machine undisturbed; see nightjar-runner doctor"};
  if (const auto best = best_batch(tried)) return {best, ""};
  return {std::nullopt,
          "no batch size up to b" + std::to_string(tried.back().batch) +
              " could be run; the last one: " + tried.back().reason,
          tried.back().status};
}

PinnedBatches::PinnedBatches(const std::filesystem::path& cache) : file_(cache / "batches.json") {}

std::optional<int> PinnedBatches::find(const std::string& machine_class,
                                       const CatalogEntry& entry) const {
  const auto pins = pins_in(file_);
  const auto ours = pins.find(machine_class);
  if (ours == pins.end() || !ours->is_object()) return std::nullopt;
  const auto found = ours->find(key_of(entry));
  if (found == ours->end() || !found->is_number_integer()) return std::nullopt;
  return integer_in(found->get<double>(), 1);
}

void PinnedBatches::pin(const std::string& machine_class, const CatalogEntry& entry,
                        int batch) const {
  auto pins = pins_in(file_);
  pins[machine_class][key_of(entry)] = batch;
  write_durably(file_, pins.dump(1) + "\n");
}

}  // namespace nightjar::runner
