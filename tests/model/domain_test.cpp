#include "storage/model/domain.hpp"

#include <algorithm>

#include <catch2/catch.hpp>

using namespace nightjar;

TEST_CASE("a model's name tells its domain, and a library its usual one") {
  const auto domain = [](const char* text) { return domain_of(*WorkloadName::parse(text)); };
  CHECK(domain("python/resnet18/train/cpu/fp32/b4/eager") == "vision");
  CHECK(domain("hf/vit_b16-small/eval/cuda/fp16/b1/inductor") == "vision");
  CHECK(domain("timm/ghostnet_100/eval/cpu/fp32/b4/eager") == "vision");
  CHECK(domain("hf/whisper-tiny/eval/cpu/fp32/b1/eager") == "speech");
  CHECK(domain("hf/LayoutLMForMaskedLM/eval/cpu/fp32/b1/eager") == "language");
  CHECK(domain("python/dlrm/eval/cpu/fp32/b64/eager") == "recommendation");
  CHECK(domain("python/soft_actor_critic/act/cpu/fp32/b1/eager") == "reinforcement learning");
  CHECK(domain("python/lennard_jones/eval/cpu/fp32/b256/eager") == "other");
}

TEST_CASE("a workload matches what has all that the filter names") {
  const auto name = *WorkloadName::parse("hf/vit_b16-small/eval/cpu/fp32/b1/eager");
  CHECK(matches({}, name));
  CHECK(matches({"hf/**", "vision", "hf", "vit_b16-small", "small", "cpu", "eager"}, name));
  CHECK_FALSE(matches({.glob = "python/**"}, name));
  CHECK_FALSE(matches({.domain = "language"}, name));
  CHECK_FALSE(matches({.suite = "python"}, name));
  CHECK_FALSE(matches({.model = "vit_b16"}, name));
  CHECK_FALSE(matches({.size = "paper"}, name));
  CHECK_FALSE(matches({.device = "cuda"}, name));
  CHECK_FALSE(matches({.backend = "inductor"}, name));
}

TEST_CASE("every domain that a name tells is one of the names of domains") {
  const auto names = domain_names();
  CHECK(names.size() == 6);
  for (const char* text :
       {"python/resnet18/train/cpu/fp32/b4/eager", "python/lennard_jones/eval/cpu/fp32/b256/eager"})
    CHECK(std::count(names.begin(), names.end(), domain_of(*WorkloadName::parse(text))) == 1);
}
