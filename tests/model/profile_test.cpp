#include "storage/model/profile.hpp"

#include <catch2/catch.hpp>

#include "storage/model/json.hpp"

using namespace nightjar;

namespace {

Profile divided() {
  Profile profile;
  profile.memory = MemorySplit{.peak = 30, .inputs = 10, .other_alive = 15, .workspace = 5};
  profile.memory->holders = {{"torch.optim.optimizer._largest_grads", 15}};
  return profile;
}

}  // namespace

TEST_CASE("A profile says who holds what earlier iterations made") {
  const auto again = nlohmann::json(divided()).get<Profile>();
  REQUIRE(again.memory);
  CHECK(again.memory->other_alive == 15);
  CHECK(again.memory->holders.at("torch.optim.optimizer._largest_grads") == 15);
  CHECK(parts_of(*again.memory)[6] ==
        std::pair<std::string, std::int64_t>("other, alive across iterations", 15));
}

TEST_CASE("A profile of an earlier version, which knew no such part, is read all the same") {
  nlohmann::json old = divided();
  old["memory"].erase("other_alive");
  old["memory"].erase("holders");
  const auto memory = old.get<Profile>().memory;
  REQUIRE(memory);
  CHECK(memory->inputs == 10);
  CHECK(memory->other_alive == 0);
  CHECK(parts_of(*memory).size() == 8);
}
