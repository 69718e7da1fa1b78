#include "tests/service/api/day.hpp"

using namespace nightjar;
using namespace nightjar::service::api;

TEST_CASE("The profiles at a culprit tell of kernels, as shares of the GPU's time") {
  World world;
  const Day day = fill(world);
  const std::string path =
      "/api/v1/regressions/" + std::to_string(day.regression.id.value) + "/profile";
  CHECK(world.get(path).json.at("difference").is_null());
  add_profiles(world, day);
  const auto difference = world.get(path).json.at("difference");
  CHECK((difference.at("runs") == 3 && difference.at("device_runs") == 3));
  CHECK(difference.at("device_before").at("seconds") == Approx(.004));
  CHECK(difference.at("device_after").at("seconds") == Approx(.005));
  const auto& kernels = difference.at("kernels");
  REQUIRE(kernels.size() == 1);
  CHECK(kernels[0].at("operator") == "aten::mm");
  CHECK(kernels[0].at("on") == "gpu");
  CHECK(kernels[0].at("kind") == "slower");
  CHECK(kernels[0].at("clear") == false);  // three runs a side are too few
  CHECK(kernels[0].at("before").at("seconds") == Approx(.004));
  CHECK(kernels[0].at("after").at("seconds") == Approx(.005));
  CHECK(kernels[0].at("share") == Approx(1));
}
