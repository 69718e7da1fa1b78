#include "runner/process/driver_environment.hpp"

#include <catch2/catch.hpp>

#include "tests/support/scratch.hpp"
#include "tests/support/variable.hpp"

namespace fs = std::filesystem;
using namespace nightjar;
using namespace nightjar::runner;

TEST_CASE("Folders that have a driver are taken from LD_LIBRARY_PATH, and no toolkit's") {
  const Scratch scratch;
  spit(scratch / "toolkit/libcudart.so.12", "");
  spit(scratch / "driver/libcuda.so.1", "");
  spit(scratch / "compat/libnvidia-ml.so.1", "");
  for (const char* library : {"libcuda.so.1", "libc.so.6"}) spit(scratch / "system" / library, "");
  std::string path = ":driver:/nowhere";  // a relative folder is anybody's
  for (const char* folder : {"toolkit", "driver/", "system", "compat", "driver"})
    path += ":" + (scratch / folder).string();
  CHECK(driver_folders(path) == std::vector{scratch / "driver", scratch / "compat"});
  CHECK(driver_folders("").empty());
}

TEST_CASE("Variables of drivers are passed on by name, and neither secrets nor code") {
  const Variable visible("NVIDIA_VISIBLE_DEVICES", "all"), key("NVIDIA_API_KEY", "secret"),
      third("HSA_OVERRIDE_GFX_VERSION_3", "11.0.0"), xnack("HSA_XNACK", "1"),
      tools("HSA_TOOLS_LIB", "/tmp/evil.so");
  const auto passed = driver_variables();
  CHECK(passed.at("NVIDIA_VISIBLE_DEVICES") == "all");
  CHECK(passed.at("HSA_OVERRIDE_GFX_VERSION_3") == "11.0.0");
  CHECK(passed.at("HSA_XNACK") == "1");
  CHECK_FALSE(passed.contains("NVIDIA_API_KEY"));
  CHECK_FALSE(passed.contains("HSA_TOOLS_LIB"));
}
