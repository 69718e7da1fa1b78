#include "runner/format/torchbench_metrics.hpp"

#include <algorithm>

#include "storage/model/json.hpp"

namespace nightjar::runner {
namespace {

// TorchBench's pattern is test_(.*)\[(.*)-(.*)-eager\]: what it has no place for goes with the
// model.
std::string test_name(const WorkloadName& name, bool with_batch) {
  std::string model(name.model());
  if (name.suite() != "torchbench") model = std::string(name.suite()) + "/" + model;
  if (name.precision() != "fp32") model += "-" + std::string(name.precision());
  if (with_batch) model += "-" + std::string(name.batch());
  return "test_" + std::string(name.task()) + "[" + model + "-" + std::string(name.device()) + "-" +
         std::string(name.backend()) + "]";
}

// TorchBench names no batch size: it is the model's own. Ours always do, theirs where several were
// measured.
bool needs_batch(const SuiteResult& result, const WorkloadName& name) {
  if (name.suite() != "torchbench") return true;
  return std::any_of(result.items.begin(), result.items.end(), [&](const SuiteItem& other) {
    return other.name != name && test_name(other.name, false) == test_name(name, false);
  });
}

// The GPU's name if anything ran there, as TorchBench has it; else the CPU's.
std::string device_of(const SuiteResult& result) {
  const bool gpu = std::any_of(result.items.begin(), result.items.end(),
                               [](const SuiteItem& item) { return item.name.device() != "cpu"; });
  const auto found = result.machine.find(gpu ? "gpu" : "cpu_model");
  return found == result.machine.end() ? "" : found->second;
}

}  // namespace

std::string torchbench_metrics_json(const SuiteResult& result) {
  struct Place {
    const char *metric, *suffix;
    double factor;
  };
  constexpr Place places[] = {{"latency", "_latency", 1e3},
                              {"peak_cpu_memory", "_cmem", 1e-9},
                              {"peak_gpu_memory", "_gmem", 1e-9}};
  auto metrics = nlohmann::ordered_json::object();
  for (const SuiteItem& item : result.items) {
    if (item.status != RunStatus::measured) continue;
    const std::string test = test_name(item.name, needs_batch(result, item.name));
    for (const Place& place : places)
      if (const auto value = item.value(place.metric))
        metrics[test + place.suffix] = *value * place.factor;
  }
  const nlohmann::ordered_json root{{"name", "torch-nightly"},
                                    {"environ",
                                     {{"pytorch_git_version", result.commit},
                                      {"pytorch_version", result.version},
                                      {"device", device_of(result)}}},
                                    {"metrics", metrics}};
  return root.dump(4, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace nightjar::runner
