#include <catch2/catch.hpp>

#include "runner/format/dynamo.hpp"
#include "runner/format/measure_output.hpp"
#include "runner/format/table.hpp"
#include "runner/format/torchbench_metrics.hpp"
#include "storage/model/json.hpp"

using namespace nightjar;
using namespace nightjar::runner;

namespace {

MeasuredWorkload workload(const char* name, std::map<std::string, std::vector<double>> samples) {
  RunResult run;
  run.samples = std::move(samples);
  return {{*WorkloadName::parse(name)}, {run}, RunStatus::measured, "", ""};
}

MeasuredWorkload failing(const char* name, RunStatus status, const char* reason) {
  return {{*WorkloadName::parse(name)}, {}, status, reason, ""};
}

Measurement of(std::vector<MeasuredWorkload> workloads) {
  return {{"2.15.0", "abc", "/x"}, {{"cpu_model", "EPYC"}, {"gpu", "H100"}}, std::move(workloads)};
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0, end; begin < text.size(); begin = end + 1) {
    end = text.find('\n', begin);
    lines.push_back(text.substr(begin, end - begin));
  }
  return lines;
}

std::size_t widest(const std::string& text) {
  std::size_t width = 0;
  for (const auto& line : lines_of(text)) {
    const auto columns =
        std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xC0) != 0x80; });
    width = std::max(width, static_cast<std::size_t>(columns));
  }
  return width;
}

const Measurement& compiled() {
  static const Measurement measurement = of({
      workload("python/m/eval/cpu/fp32/b4/eager", {{"latency", {.2}}, {"peak_cpu_memory", {3e9}}}),
      workload("python/m/eval/cpu/fp32/b4/inductor", {{"latency", {.1}},
                                                      {"peak_cpu_memory", {2e9}},
                                                      {"compile_time", {12.5}},
                                                      {"speedup", {1.9}},
                                                      {"unique_graphs", {2}},
                                                      {"graph_breaks", {1}},
                                                      {"compression_ratio", {1.5}}}),
      workload("python/m/eval/cpu/fp32/b4/inductor-dynamic",
               {{"latency", {.16}}, {"peak_cpu_memory", {3e9}}}),
      failing("python/m/eval/cpu/fp32/b4/inductor-max-autotune", RunStatus::out_of_memory,
              "no memory"),
      workload("python/n/train/cpu/fp32/b8/eager",
               {{"latency", {.05}}, {"peak_cpu_memory", {1e9}}}),
  });
  return measurement;
}

}  // namespace

TEST_CASE("dynamo's performance file has a row a compiled workload, zeros for what failed") {
  const auto lines = lines_of(formatted(suite_result(compiled()), "csv"));
  REQUIRE(lines.size() == 5);
  CHECK(lines[0].starts_with(
      "dev,name,batch_size,speedup,abs_latency,compilation_latency,compression_ratio,"));
  CHECK(lines[1] ==
        "cpu,m,4,1.900000,100.000000,12.500000,1.500000,3.000000,2.000000,,2,1,"
        "python/m/eval/cpu/fp32/b4/inductor");
  // Without a speed-up measured in turns: the ratio to eager. What was not measured is empty, not
  // 0.
  CHECK(lines[2] ==
        "cpu,m,4,1.250000,160.000000,,,3.000000,3.000000,,,,"
        "python/m/eval/cpu/fp32/b4/inductor-dynamic");
  CHECK(lines[3] ==
        "cpu,m,0,0.000000,0.000000,0.000000,0.000000,0.000000,0.000000,,,,"
        "python/m/eval/cpu/fp32/b4/inductor-max-autotune");
  CHECK(lines[4] ==
        "cpu,n,8,1.000000,50.000000,0.000000,1.000000,1.000000,1.000000,0,0,0,"
        "python/n/train/cpu/fp32/b8/eager");
}

TEST_CASE("dynamo's accuracy file says in its words what became of a workload") {
  auto measurement =
      of({workload("python/a/eval/cpu/fp32/b4/inductor", {{"latency", {.1}}}),
          failing("python/b/eval/cpu/fp32/b4/inductor", RunStatus::wrong_result, "x"),
          failing("python/c/eval/cpu/fp32/b4/inductor", RunStatus::wrong_result, "x"),
          failing("python/c/eval/cpu/fp32/b4/eager", RunStatus::crashed, "x"),
          failing("python/d/eval/cpu/fp32/b4/eager", RunStatus::out_of_memory, "x"),
          failing("python/e/eval/cuda/fp32/b4/eager", RunStatus::unavailable, "x"),
          failing("python/f/eval/cpu/fp32/b4/eager", RunStatus::timed_out, "x"),
          failing("python/g/eval/cpu/fp32/b4/inductor", RunStatus::crashed, "x"),
          failing("python/h/eval/cpu/fp32/b4/inductor", RunStatus::broken_environment, "x")});
  measurement.workloads[2].accuracy = Accuracy::eager_two_runs_differ;
  const auto lines = lines_of(formatted(suite_result(measurement), "accuracy-csv"));
  CHECK(read_suite_result(measurement_json(measurement)).items[2].accuracy ==
        Accuracy::eager_two_runs_differ);
  REQUIRE(lines.size() == 9);  // c's eager item gives way to its compiled one
  CHECK(lines[1] == "cpu,a,4,no_evidence,,,,python/a/eval/cpu/fp32/b4/inductor");
  CHECK(lines[2].starts_with("cpu,b,0,fail_accuracy,"));
  CHECK(lines[3].starts_with("cpu,c,0,eager_two_runs_differ,"));
  CHECK(lines[4].starts_with("cpu,d,0,eager_1st_run_OOM,"));
  CHECK(lines[5].starts_with("cuda,e,0,model_fail_to_load,"));
  CHECK(lines[6].starts_with("cpu,f,0,timeout,"));
  CHECK(lines[7].starts_with("cpu,g,0,fail_to_run,"));
  CHECK(lines[8].starts_with("cpu,h,0,infra_error,"));
}

TEST_CASE("On a GPU dynamo's memory is the GPU's") {
  const auto rows = dynamo_rows(suite_result(
      of({workload("python/m/eval/cuda/amp/b4/eager",
                   {{"latency", {.2}}, {"peak_cpu_memory", {3e9}}, {"peak_gpu_memory", {5e9}}})})));
  CHECK(*rows[0].peak_gb == Approx(5));
}

TEST_CASE("TorchBench's metrics file names tests as TorchBench does, in its units") {
  const auto measurement =
      of({workload("torchbench/dcgan/eval/cpu/fp32/b64/eager",
                   {{"latency", {.2}}, {"peak_cpu_memory", {3e9}}}),
          workload("torchbench/maml/train/cuda/amp/b1/inductor",
                   {{"latency", {.1}}, {"peak_gpu_memory", {2e9}}}),
          workload("torchbench/dlrm/eval/cpu/fp32/b1/eager", {{"latency", {.1}}}),
          workload("torchbench/dlrm/eval/cpu/fp32/b8/eager", {{"latency", {.4}}}),
          workload("native/dcgan/eval/cpu/fp32/b16/eager", {{"latency", {.3}}}),
          failing("torchbench/yolov3/eval/cpu/fp32/b1/eager", RunStatus::unavailable, "x")});
  const auto root = nlohmann::json::parse(formatted(suite_result(measurement), "torchbench"));
  CHECK(root.at("name") == "torch-nightly");  // whose regression detector then reads it
  CHECK(root.at("environ").at("pytorch_git_version") == "abc");
  CHECK(root.at("environ").at("pytorch_version") == "2.15.0");
  CHECK(root.at("environ").at("device") == "H100");
  const nlohmann::json wanted{{"test_eval[dcgan-cpu-eager]_latency", 200.0},
                              {"test_eval[dcgan-cpu-eager]_cmem", 3.0},
                              {"test_train[maml-amp-cuda-inductor]_latency", 100.0},
                              {"test_train[maml-amp-cuda-inductor]_gmem", 2.0},
                              {"test_eval[dlrm-b1-cpu-eager]_latency", 100.0},
                              {"test_eval[dlrm-b8-cpu-eager]_latency", 400.0},
                              {"test_eval[native/dcgan-b16-cpu-eager]_latency", 300.0}};
  REQUIRE(root.at("metrics").size() == wanted.size());
  for (const auto& [name, value] : wanted.items())
    CHECK(root.at("metrics").at(name).get<double>() == Approx(value.get<double>()));
}

TEST_CASE("Records of the benchmark database have one value a run, and say whose they are") {
  const auto measurement =
      of({workload("python/m/eval/cuda/bf16/b4/inductor",
                   {{"latency", {.2, .3}}, {"peak_gpu_memory", {2e9}}}),
          failing("python/n/train/cpu/fp32/b8/eager", RunStatus::crashed, "x"),
          failing("python/o/train/cpu/fp32/b8/eager", RunStatus::unavailable, "x")});
  const auto records = nlohmann::json::parse(formatted(suite_result(measurement), "database"));
  REQUIRE(records.size() == 3);
  const auto& latency = records[0];
  CHECK(latency.at("schema_version") == "v3");
  CHECK(latency.at("head_sha") == "abc");
  CHECK(latency.at("dependencies").at("pytorch").at("version") == "2.15.0");
  CHECK(latency.at("metric").at("name") == "latency");
  CHECK(latency.at("benchmark").at("mode") == "inference");
  CHECK(latency.at("benchmark").at("dtype") == "bfloat16");
  CHECK(latency.at("benchmark").at("extra_info").at("nightjar_workload") ==
        "python/m/eval/cuda/bf16/b4/inductor");
  CHECK(latency.at("model").at("backend") == "inductor");
  CHECK(latency.at("runners").at(0).at("name") == "cuda");
  CHECK(latency.at("runners").at(0).at("type") == "H100");
  CHECK(records[1].at("metric").at("benchmark_values") == nlohmann::json{2e9});
  CHECK(records[2].at("model").at("name") == "n");
  CHECK(records[2].at("metric") ==
        nlohmann::json{{"name", "failures"}, {"benchmark_values", {1.0}}});
}

TEST_CASE("A measurement's JSON, read again, gives the same files and table") {
  const auto read = read_suite_result(measurement_json(compiled()));
  for (const char* format : {"csv", "accuracy-csv", "torchbench", "database", "table"})
    CHECK(formatted(read, format) == formatted(suite_result(compiled()), format));
  CHECK(read.items[3].status == RunStatus::out_of_memory);
  CHECK(read.items[3].reason == "no memory");
  for (const char* text : {"{", "[]", "{\"items\": 3}", "{\"items\": [{\"workload\": \"x\"}]}"})
    CHECK_THROWS_AS(read_suite_result(text), std::invalid_argument);
}

TEST_CASE(
    "A workload that never saw the machine undisturbed has its memory, and says why no latency") {
  auto measurement = of({workload("python/m/eval/cpu/fp32/b4/eager",
                                  {{"latency", {.1, .2, .3}}, {"peak_cpu_memory", {123 << 20}}})});
  auto& runs = measurement.workloads[0].runs;
  runs[0].slowdown = {1.3, 1.4, 2};
  runs.push_back(RunResult(runs[0]));
  const auto latency = [&] {
    return nlohmann::json::parse(measurement_json(measurement))
        .at("items")[0]
        .at("metrics")
        .at("latency");
  };
  CHECK((latency().at("location").is_null() && latency().at("runs").size() == 2));
  const auto result = read_suite_result(measurement_json(measurement));
  CHECK(formatted(result, "table").find("disturbed          123\n") != std::string::npos);
  CHECK(formatted(result, "table").find("b4/eager: no run saw the machine undisturbed") !=
        std::string::npos);
  CHECK(formatted(result, "csv").find("cpu,m,4,1.000000,,") != std::string::npos);
  runs[0].slowdown = {1, 1.25, 2};  // one of two runs has a value, which is that of the workload
  CHECK(latency().at("location").get<double>() == Approx(.11));
  CHECK((latency().at("values")[0] == latency().at("location") &&
         latency().at("values")[1].is_null()));
}

TEST_CASE("A table of many models holds a terminal") {
  std::vector<MeasuredWorkload> workloads;
  for (const char* batch : {"b1", "b4", "b16"})
    for (const char* backend : {"eager", "inductor", "inductor-reduce-overhead"})
      workloads.push_back(workload(
          ("python/vision_transformer/eval/cpu/bf16/" + std::string(batch) + "/" + backend).c_str(),
          {{"latency", {.123456}}, {"peak_cpu_memory", {2e9}}}));
  workloads[8] = failing("python/vision_transformer/eval/cpu/bf16/b16/inductor-reduce-overhead",
                         RunStatus::out_of_memory, "4 GiB asked for");
  workloads.push_back(workload("native/soft_actor_critic/update/cpu/fp32/b64/eager",
                               {{"latency", {.0051}}, {"peak_cpu_memory", {123 << 20}}}));
  workloads.back().runs.push_back(workloads.back().runs.front());
  const std::string table = formatted(suite_result(of(std::move(workloads))), "table");
  CHECK(widest(table) <= 100);
  CHECK(table.find(
            "native/soft_actor_critic/update/cpu/fp32/b64/eager   5.1 ±0.0 %          123\n") !=
        std::string::npos);
  CHECK(table.find("b4 inductor-reduce-overhead") != std::string::npos);
  CHECK(table.find("  OOM\n") != std::string::npos);
  CHECK(table.find("b16/inductor-reduce-overhead: out_of_memory: 4 GiB asked for") !=
        std::string::npos);
}
