#include "storage/model/benchmark_record.hpp"

#include "storage/model/json.hpp"
#include "storage/model/pytorch_words.hpp"

namespace nightjar {
namespace {
using Json = nlohmann::ordered_json;

std::string fact_of(const BenchmarkRecord& record, const char* name) {
  const auto found = record.machine.find(name);
  return found == record.machine.end() ? std::string() : found->second;
}

// The name is the kind of device, as PyTorch's runners write it, and empty of a CPU.
Json runner_of(const BenchmarkRecord& record) {
  const bool on_gpu = record.workload.device() != "cpu";
  const bool is_rocm = record.version.find("+rocm") != std::string::npos;
  const std::string kind = !on_gpu ? "" : is_rocm ? "rocm" : std::string(record.workload.device());
  Json runner{{"name", kind},
              {"type", fact_of(record, on_gpu ? "gpu" : "cpu_model")},
              {"cpu_info", fact_of(record, "cpu_model")},
              {"cpu_count", fact_of(record, "cpu_count")}};
  if (on_gpu) runner["gpu_info"] = fact_of(record, "gpu");
  return runner;
}

Json metric_of(const BenchmarkRecord& record) {
  Json metric{{"name", record.metric}, {"benchmark_values", record.values}};
  if (record.target) metric["target_value"] = *record.target;
  if (!record.more.empty()) metric["extra_info"] = record.more;
  return metric;
}

Json begun_with(const std::optional<BenchmarkMetadata>& metadata) {
  if (!metadata) return Json::object();
  return {{"timestamp", metadata->timestamp},
          {"name", metadata->name},
          {"repo", metadata->repository},
          {"head_branch", metadata->branch},
          {"workflow_id", metadata->workflow},
          {"run_attempt", 1},
          {"job_id", metadata->job}};
}

}  // namespace

std::string benchmark_record_json(const BenchmarkRecord& record) {
  const WorkloadName& name = record.workload;
  Json json = begun_with(record.metadata);
  json["schema_version"] = "v3";
  json["head_sha"] = record.commit;
  json["metric"] = metric_of(record);
  json["benchmark"] = {{"name", record.benchmark},
                       {"mode", word_of_pytorch(name.task())},
                       {"dtype", word_of_pytorch(name.precision())},
                       {"extra_info",
                        {{"suite", std::string(name.suite())},
                         {"device", std::string(name.device())},
                         {"batch_size", std::string(name.batch())},
                         {"nightjar_workload", name.str()}}}};
  json["model"] = {{"name", std::string(name.model())},
                   {"type", "OSS model"},
                   {"backend", std::string(name.backend())},
                   {"origins", Json::array({std::string(name.suite())})}};
  json["runners"] = Json::array({runner_of(record)});
  json["dependencies"] = {
      {"pytorch",
       {{"repo", "pytorch/pytorch"}, {"sha", record.commit}, {"version", record.version}}}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace nightjar
