#include "storage/model/workload_variant.hpp"

#include <string>

#include <catch2/catch.hpp>

using namespace nightjar;

namespace {
WorkloadName name(const std::string& text) {
  return WorkloadName::parse(text).value();
}
}  // namespace

TEST_CASE("A model's name may end in one of two sizes, and in nothing else that looks like one") {
  const auto small = name("hf/vit_b16-small/eval/cpu/fp32/b4/eager");
  CHECK(size_of(small) == "small");
  CHECK(model_without_size(small) == "vit_b16");
  CHECK(in_size(small, "paper")->str() == "hf/vit_b16-paper/eval/cpu/fp32/b4/eager");
  CHECK_FALSE(in_size(small, "no word"));
  for (const char* plain :
       {"hf/gemma-2-2b/eval/cpu/fp32/b4/eager", "hf/-small/eval/cpu/fp32/b4/eager",
        "hf/small/eval/cpu/fp32/b4/eager", "hf/bert/eval/cpu/fp32/b4/eager"}) {
    CHECK_FALSE(size_of(name(plain)));
    CHECK_FALSE(in_size(name(plain), "paper"));
    CHECK(model_without_size(name(plain)) == name(plain).model());
  }
}

TEST_CASE("A backend may end in a thread count of 1 to 1024") {
  const auto two = name("python/dlrm/eval/cpu/fp32/b4/inductor-dynamic-t2");
  CHECK(threads_of(two) == 2);
  CHECK(compiler_of(two) == "inductor-dynamic");
  CHECK(with_threads(two, 16)->str() == "python/dlrm/eval/cpu/fp32/b4/inductor-dynamic-t16");
  CHECK(threads_of(name("a/b/eval/cpu/fp32/b4/eager-t1024")) == 1024);
  for (const char* backend : {"eager", "eager-t", "eager-t0", "eager-t1025", "eager-t2x",
                              "eager-t99999999999", "inductor-tuned"})
    CHECK_FALSE(threads_of(name("a/b/eval/cpu/fp32/b4/" + std::string(backend))));
  CHECK(compiler_of(name("a/b/eval/cpu/fp32/b4/inductor-tuned")) == "inductor-tuned");
}
