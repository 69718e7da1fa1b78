#include "runner/catalog/suite.hpp"

#include <fstream>

#include <catch2/catch.hpp>

#include "runner/process/failure.hpp"
#include "runner/run/measure.hpp"
#include "tests/support/scratch.hpp"
#include "tests/support/source_tree.hpp"

namespace nightjar::runner {
namespace {

std::vector<CatalogEntry> catalog_with(std::initializer_list<const char*> names) {
  std::vector<CatalogEntry> catalog;
  for (const char* name : names)
    catalog.push_back({*WorkloadName::parse(name), 1, WorkloadKind::python});
  return catalog;
}

std::vector<std::string> texts(const std::vector<PrioritizedName>& names) {
  std::vector<std::string> out;
  for (const auto& one : names) out.push_back(std::to_string(one.priority) + " " + one.name.str());
  return out;
}

Suite suite_from(const Scratch& scratch, const std::string& text) {
  std::filesystem::create_directories(scratch / "suites");
  std::ofstream(scratch / "suites/mine.toml") << text;
  return find_suite(scratch.path(), "mine").value();
}

const auto listed_models =
    catalog_with({"python/dlrm/eval/cpu/fp32/b128/eager", "python/unet/eval/cpu/fp32/b2/eager",
                  "python/unet/train/cpu/fp32/b2/eager", "native/unet/eval/cpu/fp32/b2/eager"});

}  // namespace

TEST_CASE("A suite's globs come in the order of their priorities and each workload once") {
  const Scratch scratch;
  const Suite suite = suite_from(scratch, R"(
      workloads = ["native/**", {glob = "python/*/train/**", priority = 2}, {glob = "python/**", priority = -1}]
      minutes = 2.5)");
  CHECK(suite.minutes == 2.5);
  CHECK(texts(expand(suite.workloads, listed_models)) ==
        std::vector<std::string>{
            "2 python/unet/train/cpu/fp32/b2/eager", "0 native/unet/eval/cpu/fp32/b2/eager",
            "-1 python/dlrm/eval/cpu/fp32/b128/eager", "-1 python/unet/eval/cpu/fp32/b2/eager"});
}

TEST_CASE("An entry's devices, or a glob that says so, mean listed workloads on CUDA") {
  const Scratch scratch;
  const Suite suite = suite_from(scratch, R"(
      [[workloads]]
      glob = "python/unet/*/cpu/**"
      devices = ["cuda"]
      [[workloads]]
      glob = "*/dlrm/eval/cuda/**"
      batches = [1])");
  auto listed = listed_models;
  listed.push_back(
      {*WorkloadName::parse("mine/dlrm/eval/cpu/fp32/b1/eager"), 1, WorkloadKind::external});
  CHECK(texts(expand(suite.workloads, listed)) ==
        std::vector<std::string>{"0 python/unet/eval/cuda/fp32/b2/eager",
                                 "0 python/unet/train/cuda/fp32/b2/eager",
                                 "0 python/dlrm/eval/cuda/fp32/b1/eager"});
  // A glob that matches what is listed means just that, and a command of one's own stays where it
  // is.
  CHECK(expand({SuiteEntry{"**"}}, listed).size() == listed.size());
  CHECK(texts(expand({SuiteEntry{"mine/**", 0, {"cuda"}}}, listed)) ==
        std::vector<std::string>{"0 mine/dlrm/eval/cpu/fp32/b1/eager"});
}

TEST_CASE("An entry's precisions, batches and backends make every combination, listed or not") {
  const Scratch scratch;
  const Suite suite = suite_from(scratch, R"(
      [[workloads]]
      glob = "python/unet/eval/**"
      batches = [1, "max"]
      backends = ["eager", "inductor"]
      [[workloads]]
      glob = "python/unet/**"
      precisions = ["bf16"])");
  CHECK(texts(expand(suite.workloads, listed_models)) ==
        std::vector<std::string>{
            "0 python/unet/eval/cpu/fp32/b1/eager", "0 python/unet/eval/cpu/fp32/b1/inductor",
            "0 python/unet/eval/cpu/fp32/bmax/eager", "0 python/unet/eval/cpu/fp32/bmax/inductor",
            "0 python/unet/eval/cpu/bf16/b2/eager", "0 python/unet/train/cpu/bf16/b2/eager"});
}

TEST_CASE("An entry's sizes and thread counts make every combination of what has sizes") {
  const Scratch scratch;
  const Suite suite = suite_from(scratch, R"(
      [[workloads]]
      glob = "*/*/eval/**"
      sizes = ["small", "paper"]
      threads = [1, 2])");
  const auto listed = catalog_with(
      {"hf/vit_b16-small/eval/cpu/fp32/b4/eager", "native/unet/eval/cpu/fp32/b2/eager"});
  CHECK(texts(expand(suite.workloads, listed)) ==
        std::vector<std::string>{"0 hf/vit_b16-small/eval/cpu/fp32/b4/eager-t1",
                                 "0 hf/vit_b16-small/eval/cpu/fp32/b4/eager-t2",
                                 "0 hf/vit_b16-paper/eval/cpu/fp32/b4/eager-t1",
                                 "0 hf/vit_b16-paper/eval/cpu/fp32/b4/eager-t2",
                                 "0 native/unet/eval/cpu/fp32/b2/eager-t1",
                                 "0 native/unet/eval/cpu/fp32/b2/eager-t2"});
}

TEST_CASE("A wrong suite file is refused with its line") {
  const Scratch scratch;
  for (const auto& [text, words] : std::vector<std::pair<std::string, std::string>>{
           {"\nworkload = []", ":2: workload: unknown key; there are description, minutes"},
           {"workloads = [7]", ":1: workloads: must be a list of globs"},
           {"workloads = [{glob = 'a', priority = 'high'}]",
            "workloads.priority: must be a whole number from -1000 to 1000"},
           {"workloads = [{glob = 'a', batches = [0]}]", "batches: must be a list of batch sizes"},
           {"workloads = [{glob = 'a', backends = 'eager'}]", "backends: must be a list of words"},
           {"workloads = [{glob = 'a', sizes = 4}]", "sizes: must be a list of words"},
           {"workloads = [{glob = 'a', threads = [1, 0]}]", "threads: must be a list of thread"},
           {"workloads = [{glob = 'a', threads = 2}]", "threads: must be a list of thread"},
           {"workloads = []", ":1: workloads: must be a list"},
           {"runs = 2", "mine.toml: workloads: is required"},
           {"runs = ", "mine.toml:1: "}}) {
    INFO(text);
    CHECK_THROWS_AS(suite_from(scratch, text), WrongUse);
    CHECK_THROWS_WITH(suite_from(scratch, text),
                      Catch::Contains(words) && Catch::Contains("mine.toml"));
  }
}

TEST_CASE("Every suite that is shipped can be read and holds something of what is listed") {
  const std::filesystem::path workloads = test::source_tree() / "runner/workloads";
  auto listed = read_catalog(workloads);
  const auto theirs = catalog_with({"torchbench/alexnet/eval/cpu/fp32/b2/eager"});
  listed.insert(listed.end(), theirs.begin(), theirs.end());
  const auto names = suite_names(workloads);
  CHECK(names.size() >= 5);
  for (const auto& name : names) {
    INFO(name);
    const Suite suite = find_suite(workloads, name).value();
    CHECK_FALSE(suite.description.empty());
    for (const auto& entry : suite.workloads) CHECK_FALSE(expand({entry}, listed).empty());
  }
}

TEST_CASE("Workloads of one priority take turns, and lower priorities wait") {
  CHECK(measuring_order({0, 0}, 2) == std::vector<std::size_t>{0, 1, 0, 1});
  CHECK(measuring_order({1, 5, 1}, 2) == std::vector<std::size_t>{1, 1, 0, 2, 0, 2});
  CHECK(measuring_order({}, 3).empty());
}

}  // namespace nightjar::runner
