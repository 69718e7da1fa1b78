// AMD's devices, with a stand-in for its library.
#include "runner/machine/rocm_smi.hpp"

#include <stdlib.h>

#include <catch2/catch.hpp>

#include "runner/machine/gpu_probe.hpp"
#include "tests/support/scratch.hpp"

using namespace nightjar;
using namespace nightjar::runner;
using enum ClockEvent;

namespace {

// The library plays `script` until the end of the test.
struct AmdMachine {
  explicit AmdMachine(const std::string& script) {
    spit(scratch / "script", script);
    ::setenv("ROCM_SMI_DOUBLE", (scratch / "script").c_str(), 1);
  }
  ~AmdMachine() { ::unsetenv("ROCM_SMI_DOUBLE"); }
  Scratch scratch;
};

const char* two_of_amd = R"(driver 6.10.5
gpu name=MI250X pci=0x000000000000f100 system=500,800 memory=900
gpu name=MI300X id=a1b2 pci=0x000000000000c100 vram=206141652992 system=500,2100* memory=900,1300* watts=310.5 junction=64.5 edge=50 umc=3 gfx=1 level=8 partition=CPX
process 1:1073741824
)";

void check_first(const GpuState& gpu) {
  CHECK(gpu.name == "MI300X");
  CHECK(gpu.uuid == "GPU-000000000000a1b2");
  CHECK(gpu.pci_bus == "00000000:c1:00.0");
  CHECK(gpu.driver == "6.10.5");
  CHECK(gpu.sm_mhz.value() == Approx(2100));
  CHECK(gpu.memory_mhz.value() == Approx(1300));
  CHECK(gpu.power_watts.value() == Approx(310.5));
  CHECK(gpu.temperature_celsius.value() == Approx(64.5));
  CHECK(gpu.memory_bytes == 206141652992);
  CHECK(gpu.ecc_errors == 4);
  CHECK(gpu.clock_events == std::vector{applications_clocks_setting});
  REQUIRE(gpu.others.size() == 1);
  CHECK((gpu.others[0].pid == 1 && gpu.others[0].memory_bytes == 1 << 30));
}

}  // namespace

TEST_CASE("An AMD device's state is what ROCm SMI tells, in the order of the buses") {
  const AmdMachine machine(two_of_amd);
  const RocmSmi library(ROCM_SMI_DOUBLE_LIBRARY);
  CHECK(library.missing() == "");
  const auto gpus = library.read();
  REQUIRE(gpus.size() == 2);
  check_first(gpus[0]);
  CHECK(gpus[0].mig == true);
  CHECK(gpus[1].name == "MI250X");
  // No clock is marked as the current one, and the rest is not supported.
  CHECK((gpus[1].sm_mhz == std::nullopt && gpus[1].memory_mhz == std::nullopt));
  CHECK((gpus[1].power_watts == std::nullopt && gpus[1].temperature_celsius == std::nullopt));
  CHECK((gpus[1].memory_bytes == std::nullopt && gpus[1].ecc_errors == std::nullopt));
  CHECK((gpus[1].mig == std::nullopt && gpus[1].clock_events.empty()));
}

TEST_CASE("The library of ROCm 5 has other frequencies, and no partitions") {
  const AmdMachine machine(two_of_amd);
  const auto gpus = RocmSmi(ROCM_SMI_DOUBLE_OLD_LIBRARY).read();
  REQUIRE(gpus.size() == 2);
  check_first(gpus[0]);
  CHECK(gpus[0].mig == std::nullopt);
}

TEST_CASE("Without AMD's library, its driver or a device there is no GPU and a reason") {
  CHECK(RocmSmi("libno-such-library.so.1").missing() == "no AMD device");
  CHECK(RocmSmi("libm.so.6").missing() == "AMD's library libm.so.6 is too old");
  {
    const AmdMachine machine("driver 1\n");
    CHECK(RocmSmi(ROCM_SMI_DOUBLE_LIBRARY).missing() == "no AMD device");
  }
  const AmdMachine machine("init=8\n");
  const RocmSmi library(ROCM_SMI_DOUBLE_LIBRARY);
  CHECK(library.missing() == "AMD's library says: An error occurred during initialization");
  CHECK(library.read().empty());
}

TEST_CASE("A probe of AMD's devices shows the visible ones, the used one first") {
  const AmdMachine machine(two_of_amd);
  ::setenv("HIP_VISIBLE_DEVICES", "1", 1);
  GpuProbe probe(std::make_unique<RocmSmi>(ROCM_SMI_DOUBLE_LIBRARY));
  ::unsetenv("HIP_VISIBLE_DEVICES");
  const auto gpus = probe.read();
  REQUIRE(gpus.size() == 1);
  CHECK((gpus[0].name == "MI250X" && gpus[0].used));
}
