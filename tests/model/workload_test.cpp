#include "storage/model/workload.hpp"

#include <catch2/catch.hpp>

using namespace nightjar;

TEST_CASE("a workload's name has seven parts") {
  const auto name = WorkloadName::parse("torchbench/lennard_jones/train/cuda/amp/b1000/inductor");
  REQUIRE(name);
  CHECK(name->suite() == "torchbench");
  CHECK(name->model() == "lennard_jones");
  CHECK(name->task() == "train");
  CHECK(name->device() == "cuda");
  CHECK(name->precision() == "amp");
  CHECK(name->batch() == "b1000");
  CHECK(name->backend() == "inductor");
  CHECK(name->str() == "torchbench/lennard_jones/train/cuda/amp/b1000/inductor");
}

TEST_CASE("a variant keeps model, task and device") {
  const auto name = *WorkloadName::parse("python/resnet18/eval/cpu/fp32/b4/eager");
  CHECK(name.variant("bf16", "bmax", "inductor")->str() ==
        "python/resnet18/eval/cpu/bf16/bmax/inductor");
  CHECK(*name.variant("fp32", "b4", "eager") == name);
  CHECK(name.on("cuda")->str() == "python/resnet18/eval/cuda/fp32/b4/eager");
  CHECK_FALSE(name.on("a/b"));
  CHECK_FALSE(name.variant("fp32", "4", "eager"));
  CHECK_FALSE(name.variant("", "b4", "eager"));
}

TEST_CASE("a malformed workload name is refused") {
  for (const char* text :
       {"", "python/resnet18", "python/resnet18/eval/cpu/fp32/b4", "a/b/c/d/e/b4/g/h",
        "python//eval/cpu/fp32/b4/eager", "python/res net/eval/cpu/fp32/b4/eager",
        "python/resnet18/eval/cpu/fp32/4/eager", "python/resnet18/eval/cpu/fp32/b/eager",
        "python/resnet18/eval/cpu/fp32/b0/eager", "python/resnet18/eval/cpu/fp32/b04/eager",
        "python/resnet18/eval/cpu/fp32/b1234567890/eager", "python/*/eval/cpu/fp32/b4/eager"}) {
    INFO(text);
    CHECK_FALSE(WorkloadName::parse(text));
  }
  CHECK(WorkloadName::parse("python/resnet18/eval/cpu/fp32/bmax/eager"));
}

TEST_CASE("a glob matches as it says") {
  struct Case {
    const char* glob;
    const char* text;
    bool matches;
  };
  const Case cases[] = {
      {"", "", true},
      {"", "a", false},
      {"abc", "abc", true},
      {"abc", "abcd", false},
      {"python/*/eval/cpu/**", "python/resnet18/eval/cpu/fp32/b4/eager", true},
      {"python/*/eval/cpu/**", "python/resnet18/train/cpu/fp32/b4/eager", false},
      {"python/*", "python/resnet18/eval", false},
      {"python/**", "python/resnet18/eval", true},
      {"**", "", true},
      {"**/eager", "a/b/eager", true},
      {"**/eager", "a/b/inductor", false},
      {"*", "a/b", false},
      {"***", "a/b", true},
      {"a*c", "abbc", true},
      {"a*c", "ac", true},
      {"a*b*c", "a/b/c", false},
      {"a?c", "abc", true},
      {"a?c", "a/c", false},
      {"a?c", "ac", false},
      {"*?", "", false},
  };
  for (const Case& one : cases) {
    INFO(one.glob << " on " << one.text);
    CHECK(glob_match(one.glob, one.text) == one.matches);
  }
}

TEST_CASE("a hostile glob is answered at once") {
  std::string glob;
  for (int i = 0; i < 200; ++i) glob += "*a**";
  CHECK_FALSE(glob_match(glob + "b", std::string(300, 'a')));
}
