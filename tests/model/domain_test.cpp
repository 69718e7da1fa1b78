#include "storage/model/domain.hpp"

#include <algorithm>
#include <fstream>

#include <catch2/catch.hpp>

#include "storage/model/json.hpp"
#include "tests/support/source_tree.hpp"

using namespace nightjar;

namespace {

std::string domain(const std::string& text) {
  return domain_of(*WorkloadName::parse(text));
}

}  // namespace

TEST_CASE("a domain is what TorchBench or the workload's author says") {
  const std::string variant = "/eval/cuda/fp32/b4/eager";
  for (const auto& [model, expected] : std::vector<std::pair<std::string, std::string>>{
           {"torchbench/resnext50_32x4d", "vision"},  // its name holds "t5"
           {"torchbench/detectron2_fasterrcnn_r_50_fpn", "vision"},
           {"torchbench/hf_T5", "language"},
           {"torchbench/hf_Whisper", "speech"},
           {"torchbench/nvidia_deeprecommender", "recommendation"},
           {"torchbench/LearningToPaint", "reinforcement learning"},
           {"torchbench/basic_gnn_gcn", "graphs"},
           {"torchbench/demucs", "other"},
           {"python/resnet18", "vision"},
           {"native/soft_actor_critic", "reinforcement learning"},
           {"python/lennard_jones", "other"},
           {"hf/vit_b16-small", "vision"},
           {"hf/whisper-tiny-paper", "speech"},
           {"huggingface/LayoutLMForMaskedLM", "language"},
           {"timm/ghostnet_100", "vision"},
           {"timm_models/repvgg_a2", "vision"}}) {
    INFO(model);
    CHECK(domain(model + variant) == expected);
  }
}

TEST_CASE("what nobody says of is of an unknown domain, whatever its name sounds like") {
  for (const char* model :
       {"torchbench/hf_clip", "torchbench/resnet51", "mine/bert", "python/gpt3"})
    CHECK(domain(model + std::string("/eval/cpu/fp32/b4/eager")) == "unknown");
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

TEST_CASE("each listed workload has a domain, which is one of their names") {
  const auto names = domain_names();
  const auto root = nightjar::test::source_tree() / "runner/workloads";
  std::ifstream file(root / "workloads.json"), torchbench(root / "torchbench_domains.json");
  const auto listed = nlohmann::json::parse(file), theirs = nlohmann::json::parse(torchbench);
  for (const auto& item : listed.at("items")) {
    INFO(item.dump());
    CHECK(domain(item.at("name").get<std::string>()) != "unknown");
    CHECK(std::count(names.begin(), names.end(), domain(item.at("name").get<std::string>())) == 1);
  }
  std::size_t models = 0;
  for (const auto& [name, list] : theirs.at("domains").items()) {
    CHECK(std::count(names.begin(), names.end(), name) == 1);
    models += list.size();
  }
  CHECK(models > 97);
}
