// What each format of results says in our terms.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "runner/format/dynamo.hpp"
#include "runner/format/torchbench_metrics.hpp"
#include "service/cli/history/collect.hpp"
#include "service/cli/history/formats.hpp"
#include "storage/model/metric.hpp"

using namespace nightjar;
using namespace nightjar::cli;

namespace {

// A line a value: "workload metric values accuracy".
std::vector<std::string> lines_of(const HistoryNight& night) {
  std::vector<std::string> lines;
  for (const HistoryValue& value : night.values) {
    std::string line = value.workload.str() + " " + value.metric;
    for (const double one : value.values) {
      char text[40];
      std::snprintf(text, sizeof text, " %.6g", one);
      line += text;
    }
    if (value.accuracy) line.append(" ").append(name_of(*value.accuracy));
    lines.push_back(line);
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

FoundNight only_night(const Reading& reading) {
  REQUIRE(reading.nights.size() == 1);
  return reading.nights[0];
}

const std::string some_commit(40, 'a');

}  // namespace

TEST_CASE(
    "TorchBench's metrics are read in the four forms of their names, and others as they are") {
  const auto read = [](const std::string& benchmark, const std::string& metrics) {
    const ResultFile file{"r/metrics-20260820073000.json",
                          R"({"name": ")" + benchmark +
                              R"(", "environ": {"pytorch_git_version": ")" + some_commit +
                              R"(", "pytorch_version": "2.9.0.dev20260819+cu130",
                              "device": "NVIDIA A100"}, "metrics": {)" +
                              metrics + "}}"};
    REQUIRE(format_of(file)->name == "torchbench");
    return read_torchbench(file);
  };
  const auto nightly = only_night(read("torch-nightly", R"(
      "test_eval[resnet50-cuda-eager]_latency": 12.5, "test_eval[resnet50-cuda-eager]_gmem": 2.5,
      "test_train[python/dlrm-bf16-b4-cpu-eager]_cmem": 0.5)"));
  CHECK(nightly.machine_class == "NVIDIA A100");
  CHECK(nightly.night.version == "2.9.0.dev20260819+cu130");
  CHECK(nightly.night.commit->str() == some_commit);
  CHECK(to_rfc3339(nightly.night.measured_at) == "2026-08-20T07:30:00Z");
  CHECK(lines_of(nightly.night) ==
        std::vector<std::string>{
            "python/dlrm/train/cpu/bf16/b4/eager peak_cpu_memory 5e+08",
            "torchbench/resnet50/eval/cuda/fp32/bdefault/eager latency 0.0125",
            "torchbench/resnet50/eval/cuda/fp32/bdefault/eager peak_gpu_memory 2.5e+09"});

  const auto bench = only_night(read("test_bench", R"(
      "model=dlrm, test=eval, device=cuda, bs=8, extra_args=[], metric=latencies": 2.0,
      "model=dlrm, test=eval, device=cuda, bs=8, extra_args=[], metric=cpu_peak_mem": 1.5,
      "model=vgg16, test=train, device=cuda, bs=None, extra_args=['--precision', 'fp16'], metric=latencies": "Traceback: OOM",
      "model=T5, test=eval, device=cuda, bs=None, extra_args=[], metric=latencies": "not_implemented")"));
  CHECK(lines_of(bench.night) ==
        std::vector<std::string>{"torchbench/dlrm/eval/cuda/fp32/b8/eager failures 1",
                                 "torchbench/dlrm/eval/cuda/fp32/b8/eager latency 0.002",
                                 "torchbench/dlrm/eval/cuda/fp32/b8/eager peak_cpu_memory 1.5e+09",
                                 "torchbench/vgg16/train/cuda/fp16/bdefault/eager failures 1.25"});

  const auto cpu = only_night(read("cpu", R"(
      "timm_regnet-eval_latency": 30.0, "timm_regnet-eval_iter_latencies": [29.0, 31.0],
      "timm_regnet-eval_throughput": 33.0)"));
  CHECK(lines_of(cpu.night) ==
        std::vector<std::string>{
            "torchbench/timm_regnet.throughput/eval/cpu/fp32/bdefault/eager imported_rate 33",
            "torchbench/timm_regnet/eval/cpu/fp32/bdefault/eager latency 0.029 0.031"});

  const auto optim = only_night(read("optim", R"(
      "resnet50, Adam, cuda, foreach": 0.004, "resnet50, Adam, cuda, pt2_foreach, compile_time": 9)"));
  const auto of_optim = lines_of(optim.night);
  REQUIRE(of_optim.size() == 2);
  CHECK(of_optim[0] ==
        "torchbench-optim/resnet50.Adam.foreach/optim/cuda/fp32/bdefault/eager latency 0.004");
  CHECK(of_optim[1].ends_with("/inductor compile_time 9"));

  const auto other = only_night(read("instruction-count", R"("add_count_min": 1200)"));
  CHECK(lines_of(other.night) ==
        std::vector<std::string>{"torchbench-instruction-count/add_count_min/bench/cuda/unknown/"
                                 "bdefault/unknown imported_cost 1200"});
}

TEST_CASE("What says neither its time nor has a date in its version is refused, with what to do") {
  const ResultFile file{"r/metrics.json", R"({"name": "x", "environ": {}, "metrics": {"a": 1}})"};
  CHECK_THROWS_WITH(read_torchbench(file), Catch::Contains("nothing says when it was measured") &&
                                               Catch::Contains("2026-08-20"));
  const ResultFile dated{"r/m.json",
                         R"({"name": "x", "environ": {"pytorch_version": "2.9.0.dev20260819"},
                             "metrics": {"a": 1}})"};
  CHECK(to_date(only_night(read_torchbench(dated)).night.measured_at) == "2026-08-19");
}

TEST_CASE("pytest-benchmark keeps its rounds, and its median where it has no rounds") {
  const ResultFile file{"0001.json", R"({"machine_info": {"node": "lab", "pytorch_version": "1.9.0",
      "pytorch_git_version": ")" + some_commit +
                                         R"("}, "datetime": "2021-06-01T10:20:30.123456",
      "benchmarks": [
        {"name": "test_train[BERT_pytorch-cuda-eager]", "stats": {"median": 0.5, "data": [0.4, 0.6]}},
        {"name": "test_add", "stats": {"median": 0.25}}]})"};
  REQUIRE(format_of(file)->name == "pytest");
  const auto found = only_night(read_pytest(file));
  CHECK(found.machine_class == "lab");
  CHECK(to_rfc3339(found.night.measured_at) == "2021-06-01T10:20:30Z");
  CHECK(lines_of(found.night) ==
        std::vector<std::string>{
            "pytest/test_add/bench/cpu/unknown/bdefault/unknown latency 0.25",
            "torchbench/BERT_pytorch/train/cuda/fp32/bdefault/eager latency 0.4 0.6"});
}

TEST_CASE("dynamo's CSV takes date and commit from its folders, and the rest from its name") {
  const ResultFile file{
      "runs/2026-08-20_" + some_commit + "/inductor_torchbench_amp_training_cuda_performance.csv",
      "dev,name,batch_size,speedup,abs_latency,compilation_latency,compression_ratio,"
      "eager_peak_mem,dynamo_peak_mem,calls_captured,unique_graphs,graph_breaks\n"
      "cuda,alexnet,128,2.0,10.5,30.0,1.2,4.0,3.3,20,1,0\n"
      "cuda,dlrm,0,0.0,0.0,0.0,0.0,0.0,0.0,0,0,0\n"
      "cuda,vgg16,4,nan,,,,,,,,\n"};
  REQUIRE(format_of(file)->name == "dynamo");
  const auto found = only_night(read_dynamo(file));
  CHECK(to_rfc3339(found.night.measured_at) == "2026-08-20T00:00:00Z");
  CHECK(found.night.commit->str() == some_commit);
  const std::string alexnet = "torchbench/alexnet/train/cuda/amp/b128/inductor ";
  CHECK(lines_of(found.night) ==
        std::vector<std::string>{alexnet + "compile_time 30", alexnet + "compression_ratio 1.2",
                                 alexnet + "graph_breaks 0", alexnet + "latency 0.0105",
                                 alexnet + "peak_gpu_memory 3.3e+09", alexnet + "speedup 2",
                                 alexnet + "unique_graphs 1",
                                 "torchbench/alexnet/train/cuda/amp/bdefault/inductor failures 1",
                                 "torchbench/dlrm/train/cuda/amp/bdefault/inductor failures 1.25"});
}

TEST_CASE("The accuracy that PyTorch's CI expects is read: what passes, fails and breaks graphs") {
  const ResultFile file{"2026-08-20/dynamic_inductor_torchbench_inference.csv",
                        "name,accuracy,graph_breaks\n"
                        "alexnet,pass,0\ndlrm,fail_accuracy,2\n"
                        "vgg16,model_fail_to_load,0\nyolov3,fail_to_dream,0\n"};
  const Reading reading = read_dynamo(file);
  REQUIRE(reading.left_out.size() == 1);
  CHECK(reading.left_out[0].find("the accuracy 'fail_to_dream' of torchbench/yolov3/") == 0);
  const auto found = only_night(reading);
  const auto name = [](const char* model) {
    return std::string("torchbench/") + model + "/eval/unknown/unknown/bdefault/dynamic_inductor ";
  };
  CHECK(lines_of(found.night) ==
        std::vector<std::string>{
            name("alexnet") + "failures 1 pass", name("alexnet") + "graph_breaks 0",
            name("dlrm") + "failures 1.25 fail_accuracy", name("dlrm") + "graph_breaks 2",
            name("vgg16") + "failures model_fail_to_load", name("vgg16") + "graph_breaks 0",
            name("yolov3") + "failures 1.25", name("yolov3") + "graph_breaks 0"});
}

TEST_CASE("Records of the benchmark database keep their samples, and each tells its own night") {
  const std::string record = R"({"timestamp": 1755675000, "head_sha": ")" + some_commit +
                             R"(", "runners": [{"name": "a100"}],
       "benchmark": {"name": "TorchInductor", "mode": "inference", "dtype": "bfloat16",
                     "extra_info": {"device": "cuda"}},
       "model": {"name": "BERT", "backend": "inductor"},
       "metric": {"name": "speedup", "benchmark_values": [1.5, 1.6]}})";
  std::string other = record;
  other.replace(other.find("1755675000"), 10, "1755761400");
  other.replace(other.find("speedup"), 7, "token_per_sec throughput");
  const ResultFile list{"r.json", "[" + record + "," + other + "]"};
  REQUIRE(format_of(list)->name == "database");
  const Reading reading = read_database(list);
  REQUIRE(reading.nights.size() == 2);
  CHECK(reading.nights[0].machine_class == "a100");
  CHECK(to_rfc3339(reading.nights[0].night.measured_at) == "2025-08-20T07:30:00Z");
  CHECK(lines_of(reading.nights[0].night) ==
        std::vector<std::string>{
            "TorchInductor/BERT/eval/cuda/bf16/bdefault/inductor failures 1",
            "TorchInductor/BERT/eval/cuda/bf16/bdefault/inductor speedup 1.5 1.6"});
  CHECK(lines_of(reading.nights[1].night) ==
        std::vector<std::string>{"TorchInductor/BERT.token_per_sec_throughput/eval/cuda/bf16/"
                                 "bdefault/inductor imported_rate 1.5 1.6"});

  std::string flat = record;
  flat.erase(std::remove(flat.begin(), flat.end(), '\n'), flat.end());
  const Reading lines = read_database({"r.jsonl", flat + "\n[" + flat + "]\n{\"metric\": {}}\n"});
  CHECK(lines.nights.size() == 1);
  REQUIRE(lines.left_out.size() == 1);
  CHECK(lines.left_out[0].find("record 3: its metric has no name") == 0);
  CHECK_THROWS_WITH(read_database({"r.jsonl", flat + "\n{\"metric\": {\n"}),
                    Catch::Contains("line 2"));

  std::string late = flat;
  late.replace(late.find("1755675000"), 10, "4102444800");
  const Reading past = read_database({"r.jsonl", flat + "\n" + late + "\n"});
  CHECK(past.nights.size() == 1);
  REQUIRE(past.left_out.size() == 1);
  CHECK(past.left_out[0] ==
        "all 2 values of a night: its time or the date in its version, 2100-01-01, is yet to come");
}

TEST_CASE("asv's results are a value for each combination of parameters, in both versions") {
  const std::string head = R"({"commit_hash": ")" + some_commit +
                           R"(", "date": 1594958251000, "env_name": "py3.7",
                              "params": {"machine": "atom"}, )";
  const ResultFile second{
      "results/atom/a.json",
      head + R"("result_columns": ["result", "params", "version", "started_at", "samples"],
        "results": {
          "linalg.Solve.time_solve": [[0.5, NaN, 0.25, null],
             [["'lu'", "'qr'"], ["10", "100"]], "v1", 1, [[0.4, 0.6], null, null, null]],
          "linalg.Solve.peakmem_solve": [[4096]],
          "linalg.Solve.track_error": [null, [["1", "2"]]],
          "linalg.Bad.time_it": [[1, 2, 3], [["1", "2"]]]}, "version": 2})"};
  REQUIRE(format_of(second)->name == "asv");
  const Reading reading = read_asv(second);
  const auto found = only_night(reading);
  CHECK(found.machine_class == "atom py3.7");
  CHECK(to_rfc3339(found.night.measured_at) == "2020-07-17T03:57:31Z");
  CHECK(lines_of(found.night) ==
        std::vector<std::string>{
            "asv/linalg.Solve.peakmem_solve/peakmem/cpu/unknown/bdefault/unknown peak_cpu_memory "
            "4096",
            "asv/linalg.Solve.time_solve-lu-10/time/cpu/unknown/bdefault/vv1 latency 0.4 0.6",
            "asv/linalg.Solve.time_solve-qr-10/time/cpu/unknown/bdefault/vv1 latency 0.25"});
  CHECK(reading.unmeasured == std::map<std::string, int>{{"null or NaN", 4}});
  REQUIRE(reading.left_out.size() == 1);
  CHECK(reading.left_out[0] ==
        "linalg.Bad.time_it: it has 3 values for 2 combinations of parameters");

  const ResultFile first{"results/atom/b.json", head + R"("results": {"linalg.time_a": 0.5,
        "linalg.time_b": {"result": [1.0, 2.0], "params": [["1", "2"]]}}, "version": 1})"};
  CHECK(lines_of(only_night(read_asv(first)).night).size() == 3);
  CHECK(is_beside({"results/atom/machine.json", ""}));
}

TEST_CASE("What `nightjar-runner convert` writes is read back under the same names") {
  runner::SuiteResult result{"2.9.0.dev20260819+cpu", some_commit, {{"cpu_model", "EPYC"}}, {}};
  for (const char* name :
       {"python/dlrm/eval/cpu/bf16/b4/eager", "torchbench/vgg16/train/cpu/fp32/b8/inductor"}) {
    runner::SuiteItem item{*WorkloadName::parse(name), RunStatus::measured, "", Accuracy::pass, {}};
    item.metrics["latency"] = {1, {.25}, runner::summarize(std::vector{.25})};
    item.metrics["peak_cpu_memory"] = {1, {3e8}, runner::summarize(std::vector{3e8})};
    result.items.push_back(item);
  }
  const ResultFile metrics{"metrics-20260820073000.json", runner::torchbench_metrics_json(result)};
  REQUIRE(format_of(metrics)->name == "torchbench");
  const auto found = only_night(read_torchbench(metrics));
  CHECK(found.night.commit->str() == some_commit);
  CHECK(lines_of(found.night) ==
        std::vector<std::string>{
            "python/dlrm/eval/cpu/bf16/b4/eager latency 0.25",
            "python/dlrm/eval/cpu/bf16/b4/eager peak_cpu_memory 3e+08",
            "torchbench/vgg16/train/cpu/fp32/bdefault/inductor latency 0.25",
            "torchbench/vgg16/train/cpu/fp32/bdefault/inductor peak_cpu_memory 3e+08"});

  const ResultFile csv{"2026-08-20/x.csv", runner::performance_csv(runner::dynamo_rows(result))};
  REQUIRE(format_of(csv)->name == "dynamo");
  const auto lines = lines_of(only_night(read_dynamo(csv)).night);
  CHECK(std::count(lines.begin(), lines.end(),
                   "torchbench/vgg16/train/cpu/fp32/b8/inductor latency 0.25") == 1);
  CHECK(std::count(lines.begin(), lines.end(),
                   "python/dlrm/eval/cpu/bf16/b4/eager peak_cpu_memory 3e+08") == 1);
}

TEST_CASE("Two sources of one name do not become one series in silence") {
  Reading reading;
  NightReader night(reading, "", {});
  night.add({"asv", "f(a)", "time", "cpu", "", "", ""}, {"latency", 1}, {1}, "f(a)");
  night.add({"asv", "f<a>", "time", "cpu", "", "", ""}, {"latency", 1}, {2}, "f<a>");
  night.add({"asv", "f(a)", "time", "cpu", "", "", ""}, {"latency", 1}, {3}, "f(a)");
  night.finish();
  CHECK(lines_of(only_night(reading).night) ==
        std::vector<std::string>{"asv/f_a/time/cpu/unknown/bdefault/unknown latency 3"});
  REQUIRE(reading.left_out.size() == 1);
  CHECK(reading.left_out[0].find("'f<a>' would be latency of") == 0);
}

TEST_CASE("A name of any length and script is a workload's name") {
  const std::string longest(500, 'x');
  const auto name = workload_of({"", "α " + longest, "", "", "", "0", "a/b"});
  CHECK(name.str().size() < 300);
  CHECK(name.suite() == "unknown");
  CHECK(name.batch() == "bdefault");
  CHECK(name.backend() == "a_b");
  CHECK(name.model() != workload_of({"", "α " + longest + "y", "", "", "", "", ""}).model());
}

TEST_CASE("Python's NaN is null, but not in a text") {
  CHECK(json_of_python(R"([NaN, -Infinity, Infinity, -1, "NaN \" NaN"])") ==
        R"([null, null, null, -1, "NaN \" NaN"])");
}

TEST_CASE("Dates and commits are read from the deepest folder that has them") {
  CHECK(to_rfc3339(*when_of("2026-01-01/run-2026-08-20T07-30/x.csv").time) ==
        "2026-08-20T07:30:00Z");
  CHECK(to_date(*when_of("20260820/x.csv").time) == "2026-08-20");
  CHECK_FALSE(when_of("1234567890/2026-13-01/x.csv").time);
  CHECK_FALSE(when_of(some_commit + "20260820/x.csv").commit);
  CHECK(when_of("a/" + some_commit + "/x.csv").commit->str() == some_commit);
}

TEST_CASE("Batches hold so many values and are of one machine class, and lose nothing") {
  std::vector<FoundNight> nights;
  for (const char* machine : {"a", "a", "b"}) {
    FoundNight found{machine, {}};
    for (int i = 0; i < 7; ++i)
      found.night.values.push_back(
          {workload_of({"s", "m" + std::to_string(i), "t", "cpu", "", "", ""}), "latency", {1}});
    nights.push_back(found);
  }
  const auto batches = batches_of(nights, 5);
  std::size_t values = 0;
  for (const History& batch : batches) {
    std::size_t of_batch = 0;
    for (const HistoryNight& night : batch.nights) of_batch += night.values.size();
    CHECK(of_batch <= 5);
    values += of_batch;
  }
  CHECK(values == 21);
  CHECK(batches.size() == 5);
  CHECK(batches[2].machine_class == "a");
  CHECK(batches[3].machine_class == "b");
  const auto extents = extents_of(nights);
  REQUIRE(extents.size() == 2);
  CHECK((extents[0].series == 7 && extents[0].nights == 2 && extents[0].values == 14));
}

TEST_CASE("The words of a name, else of its unit, say which way a metric is better") {
  for (const char* rate :
       {"tokens_per_second", "requests_per_second", "fps", "GB/s", "mfu", "accuracy", "hit_rate",
        "tokensPerSec", "samples_sec", "memory_bandwidth", "tflops", "speedup(x)", "tok/s/gpu",
        "cross_entropy_loss_tflops", "energy_efficiency", "tokens_per_joule", "compression_ratio"})
    CHECK(direction_of(rate) == Direction::higher_is_better);
  for (const char* cost :
       {"mean_ttft_ms", "p99_us", "peakMemory", "ms/iter", "time_per_output_token", "error_rate",
        "binary_size", "bytes", "train_loss", "accuracy_drop", "errors_per_second", "s/it",
        "peak_inference_mem_usage(mb)", "score_latency", "eval_accuracy_time"})
    CHECK(direction_of(cost) == Direction::lower_is_better);
  for (const char* neither : {"num_prompts", "batch_size", "throughput_std", "target_latency",
                              "gpu_memory_utilization", "p50", "request_rate", "min_value", ""})
    CHECK(direction_of(neither) == Direction::unknown);
  CHECK(direction_of("track_solve", "Mflops") == Direction::higher_is_better);
  const ChosenDirections chosen{{"*GB/s", "p?0"}, {"hit*"}};
  CHECK(direction_of("p50", "", chosen) == Direction::higher_is_better);
  CHECK(direction_of("hit/rate", "", chosen) == Direction::lower_is_better);
}

TEST_CASE("A record tells machine, suite, compiler and failure as PyTorch's CI writes them") {
  const auto record = [](const std::string& gpu, const std::string& settings,
                         const std::string& metric) {
    return R"({"timestamp": 1780000000, "head_sha": ")" + some_commit +
           R"(", "runners": [{"name": "cuda", "type": ")" + gpu +
           R"("}], "benchmark": {"name": "TorchInductor", "mode": "inference", "dtype": "amp",
        "extra_info": {"device": "cuda", "batch_size": null, )" +
           settings + R"(}}, "model": {"name": "dcgan", "backend": "inductor",
        "origins": ["torchbench"]}, "metric": )" +
           metric + "}";
  };
  const std::string plain = R"("disable_cudagraphs": false)";
  const std::string fast = R"({"name": "abs_latency", "benchmark_values": [5.0]})";
  const Reading reading = read_database(
      {"r.json",
       "[" + record("NVIDIA A100", plain, fast) + "," +
           record("NVIDIA A100", R"("disable_cudagraphs": true, "dynamic_shapes": true)", fast) +
           "," +
           record("NVIDIA H100",
                  R"("output": "/x/inductor_cpp_wrapper_torchbench_amp_)"
                  R"(inference_cuda_performance.csv")",
                  fast) +
           "," + record("NVIDIA H100", plain, R"({"name": "speedup", "benchmark_values": [0.0]})") +
           "," +
           record("NVIDIA H100", plain, R"({"name": "graph_breaks", "benchmark_values": [0]})") +
           "," + record("NVIDIA H100", plain, R"({"name": "accuracy", "extra_info":
                         {"benchmark_values": "[\"fail_to_run\"]"}})") +
           "]"});
  REQUIRE(reading.nights.size() == 2);
  CHECK(reading.nights[0].machine_class == "NVIDIA A100");
  const std::string dcgan = "torchbench/dcgan/eval/cuda/amp/bdefault/inductor";
  CHECK(lines_of(reading.nights[0].night) ==
        std::vector<std::string>{dcgan + " latency 0.005",
                                 dcgan + "_dynamic_no_cudagraphs latency 0.005"});
  CHECK(lines_of(reading.nights[1].night) ==
        std::vector<std::string>{dcgan + " failures 1.25 fail_to_run",
                                 dcgan + "_cpp_wrapper latency 0.005"});
}

TEST_CASE("Other benchmarks of the database keep two configurations apart") {
  const auto read = [](const std::string& arguments) {
    const std::string text = R"({"timestamp": 1780000000, "benchmark": {"name": "vLLM benchmark",
        "extra_info": {"args": {"seed": 1, "output_json": "/tmp/x", )" +
                             arguments + R"(}}}, "model": {"name": "m"}, "metric":
        {"name": "tokens_per_second", "benchmark_values": [5, "inf"]}})";
    const Reading reading = read_database({"r.json", text});
    CHECK(reading.unmeasured == std::map<std::string, int>{{"'inf'", 1}});
    CHECK(reading.directions.at("tokens_per_second") == Direction::higher_is_better);
    return only_night(reading).night.values.at(0).workload.str();
  };
  CHECK(read(R"("tensor_parallel_size": 1)") != read(R"("tensor_parallel_size": 4)"));
  CHECK(read(R"("tensor_parallel_size": 4)") ==
        read(R"("tensor_parallel_size": 4, "new_flag": false, "result_dir": "b")"));
}

TEST_CASE("A dynamo file of the field loses single cells only, and counts them by their words") {
  const ResultFile file{"2026-08-20/inductor_torchbench_amp_inference_cuda_a100_performance.csv",
                        "dev,name,batch_size,speedup,abs_latency,mfu,tag\n"
                        "cuda,alexnet,0,0.0,0.0,0,0\n"
                        "cuda,alexnet,8,2.0,-inf,.5,x\n"
                        "\xef\xbb\xbf"
                        "dev,name,batch_size,speedup,abs_latency\n"
                        "cuda,dcgan,0,infra_error,0\n"
                        "cuda,maml,0,timeout,0\n"};
  REQUIRE(format_of(file)->name == "dynamo");
  const Reading reading = read_dynamo(file);
  const auto found = only_night(reading);
  CHECK(found.machine_class == "a100");
  const auto name = [](const char* model) { return std::string("torchbench/") + model; };
  const std::string rest = "/eval/cuda/amp/bdefault/inductor failures ";
  CHECK(lines_of(found.night) ==
        std::vector<std::string>{name("alexnet.mfu/eval/cuda/amp/b8/inductor imported_rate 0.5"),
                                 name("alexnet/eval/cuda/amp/b8/inductor speedup 2"),
                                 name("alexnet") + rest + "1", name("maml") + rest + "1.25"});
  CHECK(reading.unmeasured ==
        std::map<std::string, int>{{"'-inf'", 1}, {"'infra_error'", 1}, {"0", 1}});
  CHECK(reading.not_taken == std::map<std::string, int>{{"tag", 1}});
  REQUIRE(reading.left_out.size() == 1);
  CHECK(reading.left_out[0] == "row 1 of alexnet: a later row says it again");
}

TEST_CASE("asv's units tell a direction, and a changed benchmark is another series") {
  const auto read = [](const std::string& version) {
    return read_asv({"results/m/a.json",
                     R"({"commit_hash": ")" + some_commit +
                         R"(", "date": 1594958251000, "params": {"machine": "m"},
        "result_columns": ["result", "params", "version"], "results": {
          "b.track_by": [[5], [["'p50_ms'"]]], "b.track_dot": [[5.5], [], ")" +
                         version + R"("], "b.track_x": [[-1]]}})",
                     R"({"b.track_dot": {"unit": "Mflops"}, "version": 2})"});
  };
  CHECK(lines_of(only_night(read(std::string(64, '1'))).night) ==
        std::vector<std::string>{
            "asv/b.track_by-p50_ms/track/cpu/unknown/bdefault/unknown imported_cost 5",
            "asv/b.track_dot/track/cpu/unknown/bdefault/v11111111 imported_rate 5.5",
            "asv/b.track_x/track/cpu/unknown/bdefault/unknown imported_value -1"});
  CHECK(lines_of(only_night(read("2")).night)[1].find("/v2 ") != std::string::npos);
}

TEST_CASE("An instance of TorchBench's cpu benchmark takes model, test and mode from its folder") {
  const ResultFile file{
      "cpu/cpu-20230420004336/alexnet-eval-jit/metrics-3347653.json",
      R"({"name": "cpu", "environ": {}, "metrics": {"latency": 5, "throughput": 200}})"};
  const auto found = only_night(read_torchbench(file));
  CHECK(found.is_instance);
  CHECK(lines_of(found.night) ==
        std::vector<std::string>{
            "torchbench/alexnet.throughput/eval/cpu/fp32/bdefault/jit imported_rate 200",
            "torchbench/alexnet/eval/cpu/fp32/bdefault/jit latency 0.005"});
}

TEST_CASE("A folder of results is read whole, and a failure is told of the batch of its model") {
  namespace fs = std::filesystem;
  const fs::path folder =
      fs::temp_directory_path() / ("nightjar-history-" + std::to_string(::getpid()));
  const auto write = [&](const char* day, const char* name, const std::string& text) {
    fs::create_directories(folder / day);
    std::ofstream(folder / day / name, std::ios::binary) << text;
  };
  const std::string head =
                        "\xef\xbb\xbf"
                        "dev,name,batch_size,",
                    stem = "inductor_torchbench_amp_inference_cuda_";
  for (const char* day : {"2026-01-01", "2026-01-02"}) {
    const bool fails = day[9] == '2';
    write(day, (stem + "performance.csv").c_str(),
          head + "speedup,abs_latency\ncuda,dlrm," + (fails ? "0,0.0,0.0\n" : "128,2.0,5\n"));
    write(day, (stem + "accuracy.csv").c_str(),
          head + "accuracy\ncuda,dlrm," + (fails ? "0,fail_to_run\n" : "4,pass\n"));
  }
  // printf '{"a": 1}' | gzip -n
  write("z", "a.json",
        std::string("\x1f\x8b\x08\0\0\0\0\0\0\x03\xab\x56\x4a\x54\xb2\x52"
                    "\x30\xac\x05\0\x97\x8e\xa1\xfb\x08\0\0\0",
                    28));
  write("z", "a.json.zst", "x");
  write("z", "machine.json", "{}");
  write("z", "notes.txt", "");
  const Collection all =
      collect(folder, "auto", "A\u009B100\a", {}, [](std::size_t, std::size_t) {});
  fs::remove_all(folder);
  REQUIRE(all.nights.size() == 2);
  CHECK(all.nights[0].machine_class == "A 100 ");  // as the service takes it
  const std::string dlrm = "torchbench/dlrm/eval/cuda/amp/b128/inductor ";
  CHECK(lines_of(all.nights[0].night) == std::vector<std::string>{dlrm + "failures 1 pass",
                                                                  dlrm + "latency 0.005",
                                                                  dlrm + "speedup 2"});
  CHECK(lines_of(all.nights[1].night) ==
        std::vector<std::string>{dlrm + "failures 1.25 fail_to_run"});
  CHECK((all.files == 4 && all.skipped == 2));
  REQUIRE(all.not_read.size() == 2);
  CHECK(all.not_read[0].second == "it is of no format that is known here");
  CHECK(all.not_read[1].second ==
        "it is compressed as zst, which is not read here; unpack it first");
}
