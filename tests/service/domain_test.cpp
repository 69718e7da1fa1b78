#include "service/domain.hpp"

#include <catch2/catch.hpp>

using namespace nightjar;
using service::domain_of;

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
