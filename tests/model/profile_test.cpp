#include "storage/model/profile.hpp"

#include <catch2/catch.hpp>

#include "storage/model/json.hpp"

using namespace nightjar;

namespace {

constexpr const char* holder = "torch.optim.optimizer._largest_grads";

Profile divided() {
  Profile profile;
  profile.memory = MemorySplit{.peak = 30,
                               .inputs = 10,
                               .kept_from_earlier_iterations = 15,
                               .workspace = 5,
                               .outside_tensors = 7};
  profile.memory->holders = {{holder, {15, 3, "5 int8", "torch/optim/optimizer.py, line 41"}}};
  return profile;
}

}  // namespace

TEST_CASE("A profile says who holds what earlier iterations made") {
  const auto again = nlohmann::json(divided()).get<Profile>();
  REQUIRE(again.memory);
  CHECK(again.memory->kept_from_earlier_iterations == 15);
  const HeldTensors& held = again.memory->holders.at(holder);
  CHECK((held.bytes == 15 && held.tensors == 3 && held.shape == "5 int8"));
  CHECK(held.place == "torch/optim/optimizer.py, line 41");
  const auto parts = parts_of(*again.memory);
  using Part = std::pair<std::string, std::int64_t>;
  CHECK(parts[6] == Part("kept from earlier iterations", 15));
  CHECK(parts.back() == Part("outside tensors", 7));
}

TEST_CASE("A hint says what tensor cores want, and is read from earlier profiles, too") {
  const ProductHint aligned{"aten::mm", "fp16", {7, 8, 8}, 8};
  CHECK(text_of(aligned) == "aten::mm in fp16 of 7 x 8 x 8: tensor cores want multiples of 8");
  ProductHint other{"aten::convolution", "bf16", {64, 8, 72}, 0, "layout"};
  CHECK(text_of(other).ends_with(": tensor cores want channels last (NHWC)"));
  other.kind = "precision";
  CHECK(text_of(other).ends_with(": tensor cores take it where TF32 is allowed"));
  other = {"aten::mm", "fp16", {136, 1024, 64}, 128, "tile"};
  CHECK(text_of(other).ends_with("its last tiles of 128 x 128 are mostly empty"));
  Profile profile;
  profile.hints = {aligned, other};
  nlohmann::json written = profile;
  CHECK(written.get<Profile>().hints[1].kind == "tile");
  written["hints"][1].erase("kind");
  CHECK(written.get<Profile>().hints[1].kind == "alignment");
}

TEST_CASE("A profile of an earlier version, which knew no such part, is read all the same") {
  nlohmann::json old = divided();
  for (const char* part : {"kept_from_earlier_iterations", "outside_tensors", "holders"})
    old["memory"].erase(part);
  const auto memory = old.get<Profile>().memory;
  REQUIRE(memory);
  CHECK(memory->inputs == 10);
  CHECK(memory->kept_from_earlier_iterations == 0);
  CHECK(parts_of(*memory).size() == 8);
  old["memory"]["other_alive"] = 15;
  old["memory"]["holders"] = {{holder, 15}};
  const auto next = old.get<Profile>().memory;
  REQUIRE(next);
  CHECK(next->kept_from_earlier_iterations == 15);
  CHECK(next->holders.at(holder).bytes == 15);
}
