#include <fstream>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "service/cli/csv_file.hpp"
#include "service/cli/failure.hpp"
#include "service/cli/known_units.hpp"
#include "service/cli/metrics_files.hpp"
#include "service/cli/suite_summary.hpp"

using nightjar::Direction;
using namespace nightjar::cli;
namespace fs = std::filesystem;

namespace {

class Folder {
 public:
  Folder() : path_(fs::temp_directory_path() / ("nightjar-summary-" + std::to_string(::getpid()))) {
    fs::create_directories(path_);
  }
  ~Folder() { fs::remove_all(path_); }
  fs::path file(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name) << text;
    return path_ / name;
  }

 private:
  fs::path path_;
};

// As benchmarks/dynamo/common.py leaves them: a failed model has batch 0 and a short row filled up
// with 0.
const char* const performance_csv =
    "dev,name,batch_size,speedup,abs_latency,compilation_latency,compression_ratio,eager_peak_mem,"
    "dynamo_peak_mem,"
    "calls_captured,unique_graphs,graph_breaks,unique_graph_breaks,autograd_captures,autograd_"
    "compiles\n"
    "cuda,BERT_pytorch,16,2.000000,10.500000,30.000000,1.200000,4.0,3.3,1000,2,0,0,0,0\n"
    "cuda,alexnet,128,0.500000,20.000000,10.000000,0.800000,4.0,5.0,20,1,0,0,0,0\n"
    "cuda,dlrm,2048,3.000000,1.000000,50.000000,1.000000,4.0,4.0,20,1,0,0,0,0\n"
    "cuda,yolov3,0,0.000000,0.000000,0,0,0,0,0,0,0,0,0,0\n"
    "cuda,maml,1,4.000000,1.000000,nan,1.000000,1.0,1.0,20,1,0,0,0,0\n";
const char* const accuracy_csv =
    "dev,name,batch_size,accuracy,calls_captured,unique_graphs,graph_breaks\n"
    "cuda,BERT_pytorch,4,pass,1000,2,0\n"
    "cuda,alexnet,4,pass,20,1,0\n"
    "cuda,dlrm,4,fail_accuracy,20,1,0\n"
    "cuda,yolov3,0,\"model_fail_to_load, a, \"\"reason\"\"\",0,0,0\n"
    "cuda,moco,0,pass_due_to_skip,0,0,0\n"
    "cuda,maml,1,eager_variation,20,1,0\n"
    "cuda,vgg16,4,pass,20,1,0\n";
const char* const file_stem = "inductor_with_cudagraphs_torchbench_amp_training_cuda_h100_";

ModelResult model(const char* name, const char* accuracy, std::optional<double> speedup,
                  double latency) {
  return {{"s", "eval", "cuda", "fp32", "inductor"}, name, accuracy, speedup, latency, {}, {}};
}

}  // namespace

TEST_CASE("A suite is summed up by the dashboard's definitions, the accuracy file found beside") {
  const Folder folder;
  folder.file(std::string(file_stem) + "accuracy.csv", accuracy_csv);
  const auto models =
      read_models({folder.file(std::string(file_stem) + "performance.csv", performance_csv)})
          .models;
  REQUIRE(models.size() == 7);
  const auto groups = summaries(models);
  REQUIRE(groups.size() == 1);
  CHECK(groups[0].group == Group{"torchbench", "train", "cuda", "amp", "inductor_with_cudagraphs"});
  CHECK(groups[0].models == 7);
  CHECK(groups[0].passed ==
        4);  // BERT, alexnet, maml, moco; vgg16 has no row in the performance file
  CHECK(*groups[0].speedup.value == Approx(std::cbrt(2.0 * .5 * 4)));
  CHECK(groups[0].speedup.models == 3);
  CHECK(*groups[0].compile_seconds.value == Approx(20));  // maml's was not measured
  CHECK(groups[0].compile_seconds.models == 2);
  CHECK(*groups[0].compression_ratio.value == Approx(1));
}

TEST_CASE("Without an accuracy a model passes that has a speed-up") {
  const Folder folder;
  const auto groups = summaries(read_models({folder.file("mine.csv", performance_csv)}).models);
  CHECK(groups[0].group == Group{"mine", "", "cuda", "", ""});
  CHECK(groups[0].passed == 4);
  CHECK(groups[0].models == 5);
}

TEST_CASE("Groups come from the names that runner.py gives its files") {
  const auto group = [](const char* name) { return group_of_file(fs::path("logs") / name); };
  CHECK(group("inductor_timm_models_float32_inference_cpu_performance.csv") ==
        Group{"timm_models", "eval", "cpu", "fp32", "inductor"});
  CHECK(group("inductor_no_cudagraphs_huggingface_bfloat16_training_cuda_accuracy.csv") ==
        Group{"huggingface", "train", "cuda", "bf16", "inductor_no_cudagraphs"});
}

TEST_CASE("Side by side stand the models that ran on both sides") {
  const std::vector<ModelResult> first{model("a", "pass", 1, 10), model("b", "pass", 1, 10),
                                       model("c", "fail_accuracy", 1, 10),
                                       model("d", "pass", 1, 10)};
  const std::vector<ModelResult> beside{model("a", "pass", 1, 5), model("b", "pass", 0, 0),
                                        model("c", "pass", 1, 5), model("e", "pass", 1, 5)};
  const auto both = ratios(first, beside);
  REQUIRE(both.size() == 1);
  CHECK(both[0].model == "a");
  CHECK(both[0].ratio() == Approx(2));
  CHECK(in_both(first, beside).size() == 3);
  CHECK(summaries(in_both(first, beside))[0].passed == 2);
}

TEST_CASE("A file that is none is refused in one line that names it") {
  const Folder folder;
  for (const auto& [name, text] :
       std::vector<std::pair<std::string, std::string>>{{"a.csv", ""},
                                                        {"b.csv", "x,y\n1,2\n"},
                                                        {"c.csv", "dev,name\ncpu,m\n"},
                                                        {"e.csv", "name,speedup\nm,1,2\n"},
                                                        {"f.json", "{\"items\": 3}"},
                                                        {"g.csv", "dev,name,speedup\n"}}) {
    CAPTURE(name);
    try {
      read_models({folder.file(name, text)});
      FAIL("it was read");
    } catch (const BadInput& error) {
      CHECK(std::string(error.what()).find(name) != std::string::npos);
      CHECK(std::string(error.what()).find('\n') == std::string::npos);
    }
  }
  CHECK_THROWS_AS(read_models({"/nowhere.csv"}), BadInput);
}

TEST_CASE("Metrics are read from TorchBench's, dynamo's and our own files") {
  const Folder folder;
  const MetricsSide side = read_side(
      {folder.file("metrics-20230820120000.json",
                   R"({"name": "test_bench", "environ": {"pytorch_git_version": "c"}, "metrics": {
  "model=alexnet, test=eval, device=cuda, bs=None, extra_args=[], metric=latencies": 3.5,
  "model=maml, test=train, device=cuda, bs=None, extra_args=[], metric=latencies": "not_implemented",
  "model=sam, test=eval, device=cuda, bs=None, extra_args=[], metric=gpu_peak_mem": NaN}})"),
       folder.file(std::string(file_stem) + "performance.csv", performance_csv),
       folder.file("ours.json",
                   R"({"items": [{"workload": "python/m/eval/cpu/fp32/b4/eager", "version": 1,
  "status": "measured", "reason": null, "build": {"version": "2", "commit": "c"}, "machine": {"cpu_model": "x"},
  "metrics": {"latency": {"unit": "s", "location": 2, "low": 1, "high": 3, "cv": 0, "values": [1, 3, null],
                          "runs": [[1, 1, 1], [3], [9]]},
              "leaked_memory": {"unit": "b", "location": 2, "low": 1, "high": 3, "cv": 0, "values": [2, 0], "runs": [[2], [0]]}},
  "output": {"checksum": 1}}]})")});
  const auto& metrics = side.values;
  CHECK(metrics.at(
            "model=alexnet, test=eval, device=cuda, bs=None, extra_args=[], metric=latencies") ==
        std::vector{3.5});
  CHECK(metrics.at("torchbench/dlrm/train/cuda/amp/b2048/inductor_with_cudagraphs abs_latency") ==
        std::vector{1.0});
  CHECK(metrics.at("python/m/eval/cpu/fp32/b4/eager latency") == std::vector{1.0, 3.0});
  for (const auto& [name, values] : metrics) {
    CHECK(name.find("yolov3") == std::string::npos);
    CHECK(name.find("maml, test") == std::string::npos);
  }
  CHECK(metrics.at("python/m/eval/cpu/fp32/b4/eager leaked_memory") == std::vector{2.0, 0.0});
  CHECK(metric_of("python/m/eval/cpu/fp32/b4/eager latency") == nightjar::find_metric("latency"));
  CHECK(metric_of("test_eval[alexnet-cpu-eager]_cmem") == nightjar::find_metric("peak_cpu_memory"));
  CHECK(metric_of("test_eval[alexnet-cpu-eager]_latency") == nullptr);
  const auto direction = [&](const char* name) { return direction_in(side, name); };
  CHECK(direction("torchbench/dlrm/train/cuda/amp/b2048/inductor_with_cudagraphs "
                  "compression_ratio") == Direction::higher_is_better);
  CHECK(direction("test_eval[speedup-cuda-eager]_latency") == Direction::lower_is_better);
  CHECK(direction("test_eval[alexnet-cuda-eager]_nonsense") == Direction::unknown);
}

TEST_CASE("A benchmark in another unit is converted, on either side, or left out and told") {
  const Folder folder;
  const auto google = [&](const char* name, double time, const std::string& unit) {
    return folder.file(name, R"({"context": {}, "benchmarks": [{"name": "BM_a", "run_type": )"
                             R"("iteration", "real_time": )" +
                                 std::to_string(time) + R"(, "time_unit": ")" + unit + "\"}]}");
  };
  const MetricsSide control = read_side(
      {google("a.json", 500, "us"), google("b.json", .25, "ms"), google("c.json", 7, "cycles")});
  REQUIRE(control.values.at("BM_a").size() == 2);
  CHECK(control.values.at("BM_a")[0] == 500);
  CHECK(control.values.at("BM_a")[1] == Approx(250));
  REQUIRE(not_judged(control, {}).size() == 1);
  CHECK_THAT(not_judged(control, {})[0].reason,
             Catch::StartsWith("it is in 'cycles' in ") &&
                 Catch::EndsWith("c.json, and elsewhere in 'us'"));
  CHECK(control.refused.empty());
  const MetricsSide treatment = read_side({google("d.json", .0005, "s")}, control.units);
  CHECK(treatment.values.at("BM_a").at(0) == Approx(500));
  CHECK(treatment.refused.empty());
  CHECK(not_judged({}, treatment).empty());

  const MetricsSide other = read_side({google("e.json", 7, "cycles")}, control.units);
  CHECK(other.values.empty());
  CHECK(only_in(control, other).empty());
  CHECK(only_in(other, control).empty());
  CHECK(not_judged({}, other).size() == 1);
}

TEST_CASE("A benchmark that failed is lost, whatever its unit is called now") {
  const Folder folder;
  const auto jmh = [&](const char* name, const char* unit, const char* data) {
    return folder.file(name, std::string(R"([{"jmhVersion": "1.37", "benchmark": "org.A.run", )"
                                         R"("mode": "avgt", "forks": 2, "primaryMetric": )"
                                         R"({"scoreUnit": ")") +
                                 unit + R"(", "rawData": )" + data + "}}]");
  };
  const MetricsSide control = read_side({jmh("a.json", "us/op", "[[5], [6]]")});
  const MetricsSide failed = read_side({jmh("b.json", "cycles/op", "[]")}, control.units);
  REQUIRE(only_in(control, failed).size() == 1);
  CHECK(only_in(control, failed)[0].failed);
  const MetricsSide partly = read_side(
      {jmh("b.json", "cycles/op", "[]"), jmh("c.json", "cycles/op", "[[7]]")}, control.units);
  CHECK(only_in(control, partly).size() == 1);
}

TEST_CASE("Rates and costs are converted above and below their stroke") {
  CHECK(factor_of_units("us/op", "ms/op") == Approx(1e-3));
  CHECK(factor_of_units("ops/s", "ops/ms") == Approx(1e-3));
  CHECK(factor_of_units("MB/s", "B/us") == Approx(1));
  CHECK(factor_of_units("widgets", "widgets") == 1.);
  for (const auto& [from, to] : {std::pair{"us/op", "ops/us"}, {"us/op", "us"}, {"s", "GB"}})
    CHECK_FALSE(factor_of_units(from, to));
}

TEST_CASE("One cell that holds no number loses one model, and a line says which word it holds") {
  const Folder folder;
  const char* const text =
      "dev,name,batch_size,speedup,abs_latency\n"
      "cpu,alexnet,1,2.0,10\n"
      "cpu,dcgan,0,infra_error,0\n"
      "dev,name,speedup,extra\n"
      "cpu,vgg16,3.0,1\n"
      "cpu,dlrm,nan,x,too,many\n";
  const auto path = folder.file("inductor_torchbench_float32_inference_cpu_performance.csv", text);
  const ModelResults found = read_models({path});
  CHECK(found.models.size() == 3);
  CHECK(summaries(found.models)[0].passed == 2);
  REQUIRE(found.refused.size() == 2);
  CHECK(found.refused[0].ends_with("row 5 has more cells than the names of its columns"));
  CHECK(found.refused[1].ends_with(": 1 cell holds no number: 1 'infra_error'"));
  const MetricsSide side = read_side({path});
  CHECK(side.reasons.begin()->second == "its speed-up is 'infra_error'");
  std::string before = text;
  before.replace(before.find("0,infra_error,0"), 15, "8,1.5,9");
  fs::create_directories(path.parent_path() / "before");
  const MetricsSide control =
      read_side({folder.file("before/" + path.filename().string(), before)});
  const auto lost = only_in(control, side);
  REQUIRE(lost.size() == 1);
  CHECK(lost[0].name == "torchbench/dcgan/eval/cpu/fp32/b8/inductor");
  CHECK((lost[0].reason == side.reasons.begin()->second && lost[0].failed));
}

TEST_CASE(
    "Two dates of one suite are two rows, and files of one run that complete each other one") {
  const Folder folder;
  const std::string stem = "inductor_torchbench_amp_training_cuda_";
  std::vector<fs::path> files;
  for (const char* day : {"2026-08-20", "2026-08-21"}) {
    fs::create_directories(folder.file("x", "").parent_path() / day);
    folder.file(std::string(day) + "/" + stem + "accuracy.csv", accuracy_csv);
    files.push_back(
        folder.file(std::string(day) + "/" + stem + "performance.csv", performance_csv));
  }
  const auto groups = summaries(read_models(files).models);
  REQUIRE(groups.size() == 2);
  CHECK(groups[0].group.run == "2026-08-20");
  CHECK((groups[1].group.run == "2026-08-21" && groups[1].passed == 4));
  const auto alone = summaries(read_models({files[0]}).models);
  REQUIRE(alone.size() == 1);
  CHECK(alone[0].group.run.empty());
}
