// What each format of results says in our terms.
#include <algorithm>

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

const std::string kCommit(40, 'a');

}  // namespace

TEST_CASE(
    "TorchBench's metrics are read in the four forms of their names, and others as they are") {
  const auto read = [](const std::string& benchmark, const std::string& metrics) {
    const ResultFile file{"r/metrics-20260820073000.json",
                          R"({"name": ")" + benchmark +
                              R"(", "environ": {"pytorch_git_version": ")" + kCommit +
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
  CHECK(nightly.night.commit->str() == kCommit);
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
      "pytorch_git_version": ")" + kCommit +
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
      "runs/2026-08-20_" + kCommit + "/inductor_torchbench_amp_training_cuda_performance.csv",
      "dev,name,batch_size,speedup,abs_latency,compilation_latency,compression_ratio,"
      "eager_peak_mem,dynamo_peak_mem,calls_captured,unique_graphs,graph_breaks\n"
      "cuda,alexnet,128,2.0,10.5,30.0,1.2,4.0,3.3,20,1,0\n"
      "cuda,dlrm,0,0.0,0.0,0.0,0.0,0.0,0.0,0,0,0\n"
      "cuda,vgg16,4,nan,,,,,,,,\n"};
  REQUIRE(format_of(file)->name == "dynamo");
  const auto found = only_night(read_dynamo(file));
  CHECK(to_rfc3339(found.night.measured_at) == "2026-08-20T00:00:00Z");
  CHECK(found.night.commit->str() == kCommit);
  const std::string alexnet = "torchbench/alexnet/train/cuda/amp/bdefault/inductor ";
  CHECK(lines_of(found.night) ==
        std::vector<std::string>{alexnet + "compile_time 30", alexnet + "compression_ratio 1.2",
                                 alexnet + "failures 1", alexnet + "graph_breaks 0",
                                 alexnet + "latency 0.0105", alexnet + "peak_gpu_memory 3.3e+09",
                                 alexnet + "speedup 2", alexnet + "unique_graphs 1",
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
  const std::string record =
      R"({"timestamp": 1755675000, "head_sha": ")" + kCommit + R"(", "runners": [{"name": "a100"}],
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
            "TorchInductor/BERT/eval/cuda/bf16/bdefault/inductor speedup 1.5 1.6"});
  CHECK(lines_of(reading.nights[1].night) ==
        std::vector<std::string>{"TorchInductor/BERT.token_per_sec_throughput/eval/cuda/bf16/"
                                 "bdefault/inductor imported_rate 1.5 1.6"});

  std::string flat = record;
  flat.erase(std::remove(flat.begin(), flat.end(), '\n'), flat.end());
  const Reading lines = read_database({"r.jsonl", flat + "\n" + flat + "\n{\"metric\": {}}\n"});
  CHECK(lines.nights.size() == 1);
  REQUIRE(lines.left_out.size() == 1);
  CHECK(lines.left_out[0].find("record 3: its metric has no name") == 0);
  CHECK_THROWS_WITH(read_database({"r.jsonl", flat + "\n{\"metric\": {\n"}),
                    Catch::Contains("line 2"));
}

TEST_CASE("asv's results are a value for each combination of parameters, in both versions") {
  const std::string head = R"({"commit_hash": ")" + kCommit +
                           R"(", "date": 1594958251000, "env_name": "py3.7",
                              "params": {"machine": "atom"}, )";
  const ResultFile second{
      "results/atom/a.json",
      head + R"("result_columns": ["result", "params", "version", "started_at", "samples"],
        "results": {
          "linalg.Solve.time_solve": [[0.5, NaN, 0.25, null],
             [["'lu'", "'qr'"], ["10", "100"]], "v", 1, [[0.4, 0.6], null, null, null]],
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
            "asv/linalg.Solve.time_solve-lu-10/time/cpu/unknown/bdefault/unknown latency 0.4 0.6",
            "asv/linalg.Solve.time_solve-qr-10/time/cpu/unknown/bdefault/unknown latency 0.25"});
  CHECK(reading.unmeasured == 4);
  REQUIRE(reading.left_out.size() == 1);
  CHECK(reading.left_out[0] ==
        "linalg.Bad.time_it: it has 3 values for 2 combinations of parameters");

  const ResultFile first{"results/atom/b.json", head + R"("results": {"linalg.time_a": 0.5,
        "linalg.time_b": {"result": [1.0, 2.0], "params": [["1", "2"]]}}, "version": 1})"};
  CHECK(lines_of(only_night(read_asv(first)).night).size() == 3);
  CHECK(is_beside({"results/atom/machine.json", ""}));
}

TEST_CASE("What `nightjar-runner convert` writes is read back under the same names") {
  runner::SuiteResult result{"2.9.0.dev20260819+cpu", kCommit, {{"cpu_model", "EPYC"}}, {}};
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
  CHECK(found.night.commit->str() == kCommit);
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
  CHECK_FALSE(when_of(kCommit + "20260820/x.csv").commit);
  CHECK(when_of("a/" + kCommit + "/x.csv").commit->str() == kCommit);
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
