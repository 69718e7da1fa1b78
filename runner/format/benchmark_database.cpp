#include "runner/format/benchmark_database.hpp"

#include "runner/format/pytorch_words.hpp"
#include "storage/model/json.hpp"
#include "storage/model/metric.hpp"

namespace nightjar::runner {
namespace {
using Json = nlohmann::ordered_json;

Json runner_of(const SuiteResult& result, const WorkloadName& name) {
  const auto fact = [&](const char* key) {
    const auto found = result.machine.find(key);
    return found == result.machine.end() ? std::string() : found->second;
  };
  const bool on_gpu = name.device() != "cpu";
  Json runner{{"name", fact(on_gpu ? "gpu" : "cpu_model")},
              {"type", std::string(name.device())},
              {"cpu_info", fact("cpu_model")},
              {"cpu_count", fact("cpu_count")}};
  if (on_gpu) runner["gpu_info"] = fact("gpu");
  return runner;
}

Json record_of(const SuiteResult& result, const WorkloadName& name, const std::string& metric,
               const std::vector<double>& values) {
  return {{"schema_version", "v3"},
          {"head_sha", result.commit},
          {"metric", {{"name", metric}, {"benchmark_values", values}}},
          {"benchmark",
           {{"name", "nightjar"},
            {"mode", word_of_pytorch(name.task())},
            {"dtype", word_of_pytorch(name.precision())},
            {"extra_info",
             {{"suite", std::string(name.suite())},
              {"device", std::string(name.device())},
              {"batch_size", std::string(name.batch())},
              {"nightjar_workload", name.str()}}}}},
          {"model",
           {{"name", std::string(name.model())},
            {"type", "OSS model"},
            {"backend", std::string(name.backend())},
            {"origins", {std::string(name.suite())}}}},
          {"runners", Json::array({runner_of(result, name)})},
          {"dependencies",
           {{"pytorch",
             {{"repo", "pytorch/pytorch"}, {"sha", result.commit}, {"version", result.version}}}}}};
}

}  // namespace

std::string benchmark_database_json(const SuiteResult& result) {
  Json records = Json::array();
  for (const SuiteItem& item : result.items) {
    if (item.status == RunStatus::unavailable) continue;
    if (item.status != RunStatus::measured) {
      records.push_back(record_of(result, item.name, std::string(kFailures), {1}));
      continue;
    }
    for (const auto& [metric, measured] : item.metrics)
      if (!measured.values.empty())
        records.push_back(record_of(result, item.name, metric, measured.values));
  }
  return records.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace nightjar::runner
