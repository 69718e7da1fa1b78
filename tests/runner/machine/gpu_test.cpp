// The GPU's state, with a stand-in for NVIDIA's library.
#include <stdlib.h>

#include <catch2/catch.hpp>

#include "runner/machine/gpu_probe.hpp"
#include "runner/machine/nvml.hpp"
#include "tests/support/scratch.hpp"

using namespace nightjar;
using namespace nightjar::runner;
using enum ClockEvent;

namespace {

// The library plays `script`, and CUDA_VISIBLE_DEVICES is `visible`; both until the end of the
// test.
struct Machine {
  explicit Machine(const std::string& script, const char* visible = nullptr) {
    spit(scratch / "script", script);
    ::setenv("NVML_DOUBLE", (scratch / "script").c_str(), 1);
    if (visible) ::setenv("CUDA_VISIBLE_DEVICES", visible, 1);
  }
  ~Machine() {
    ::unsetenv("NVML_DOUBLE");
    ::unsetenv("CUDA_VISIBLE_DEVICES");
  }
  Scratch scratch;
};

const char* two_devices = R"(driver 580.65.06
gpu name=B200 uuid=GPU-22 bus=00000000:AF:00.0 sm=1965 virtual=2 events=0x8
gpu name=H100 uuid=GPU-11 bus=00000000:3B:00.0 sm=1980 memory=2619 total=85899345920 mig=1 virtual=1 power=310500 celsius=64 ecc=3 persistence=1 pcie=1200:800 nvlink=2048:1024 events=0x1,0x44,0x1 processes=1:1073741824,4000000:18446744073709551615
)";

}  // namespace

TEST_CASE("A GPU's state is what the driver's library tells, in the order of the buses") {
  const Machine machine(two_devices);
  const Nvml nvml(NVML_DOUBLE_LIBRARY);
  CHECK(nvml.missing() == "");
  auto gpus = nvml.read();
  REQUIRE(gpus.size() == 2);
  for (std::size_t i = 0; i < gpus.size(); ++i) nvml.read_traffic(i, gpus[i]);
  CHECK(gpus[0].name == "H100");
  CHECK(gpus[0].uuid == "GPU-11");
  CHECK(gpus[0].pci_bus == "00000000:3B:00.0");
  CHECK(gpus[0].driver == "580.65.06");
  CHECK((gpus[0].sm_mhz == 1980 && gpus[0].memory_mhz == 2619 && gpus[0].power_watts == 310.5));
  CHECK((gpus[0].temperature_celsius == 64 && gpus[0].ecc_errors == 3 &&
         gpus[0].persistence == true));
  CHECK((gpus[0].memory_bytes == 80ll << 30 && gpus[0].mig == true && gpus[0].sliced == false));
  CHECK((gpus[1].memory_bytes == std::nullopt && gpus[1].mig == std::nullopt));
  CHECK(gpus[1].sliced == true);
  CHECK(gpus[0].pcie_traffic == 2e6);
  CHECK(gpus[0].nvlink_traffic.value() == Approx(3072 * 1024).epsilon(.05));
  CHECK((gpus[1].pcie_traffic == std::nullopt && gpus[1].nvlink_traffic == std::nullopt));
  REQUIRE(gpus[0].others.size() == 2);
  CHECK(gpus[0].others[0].memory_bytes == 1 << 30);
  CHECK_FALSE(gpus[0].others[0].name.empty());
  CHECK(gpus[0].others[1].memory_bytes == std::nullopt);
  CHECK(gpus[1].name == "B200");
  CHECK((gpus[1].power_watts == std::nullopt && gpus[1].temperature_celsius == std::nullopt));
  CHECK((gpus[1].ecc_errors == std::nullopt && gpus[1].persistence == std::nullopt));
}

TEST_CASE("An older driver is asked by the names that it knows") {
  const Machine machine(two_devices);
  const auto gpus = Nvml(NVML_DOUBLE_OLD_LIBRARY).read();
  REQUIRE(gpus.size() == 2);
  CHECK(gpus[0].temperature_celsius == 64);
  CHECK(gpus[0].clock_events == std::vector{gpu_idle});
  CHECK(gpus[0].others.size() == 2);
}

TEST_CASE("Without library, driver or device there is no GPU and a reason") {
  CHECK(Nvml("libno-such-library.so.1").missing() == "no NVIDIA device");
  CHECK(Nvml("libno-such-library.so.1").read().empty());
  CHECK(Nvml("libm.so.6").missing() == "the NVIDIA driver's library libm.so.6 is too old");
  {
    const Machine machine("driver 1\n");
    CHECK(Nvml(NVML_DOUBLE_LIBRARY).missing() == "no NVIDIA device");
  }
  const Machine machine("init=9\n");
  const Nvml nvml(NVML_DOUBLE_LIBRARY);
  CHECK(nvml.missing() == "the NVIDIA driver's library says: Driver Not Loaded");
  CHECK(nvml.read().empty());
}

TEST_CASE("Devices are visible as CUDA reads CUDA_VISIBLE_DEVICES") {
  std::vector<GpuState> gpus(3);
  gpus[0].uuid = "GPU-aa";
  gpus[1].uuid = "GPU-ab";
  gpus[2].uuid = "GPU-c";
  using Indices = std::vector<std::size_t>;
  CHECK(visible_gpus(std::nullopt, gpus) == Indices{0, 1, 2});
  CHECK(visible_gpus("", gpus) == Indices{});
  CHECK(visible_gpus("2,0", gpus) == Indices{2, 0});
  CHECK(visible_gpus("1, 7, 0", gpus) == Indices{1});
  CHECK(visible_gpus("-1,0", gpus) == Indices{});
  CHECK(visible_gpus("GPU-ab,2", gpus) == Indices{1, 2});
  CHECK(visible_gpus("MIG-0f", gpus) == Indices{0, 1, 2});
}

TEST_CASE("What throttled the used device between two states is in the second one") {
  const Machine machine(two_devices);
  GpuProbe probe(std::make_unique<Nvml>(NVML_DOUBLE_LIBRARY));  // reads the events once
  const auto after = probe.read();
  REQUIRE(after.size() == 2);
  CHECK((after[0].used && after[0].name == "H100" && !after[1].used));
  CHECK(after[0].clock_events == std::vector{sw_power_cap, hw_thermal_slowdown});
  CHECK(throttling(after) == "sw_power_cap, hw_thermal_slowdown");
  CHECK(throttling(probe.read()) == "");
}

TEST_CASE("A watch sees what passes while a run goes on, and the next state tells it too") {
  const Machine machine(two_devices, "GPU-11");
  GpuProbe probe(std::make_unique<Nvml>(NVML_DOUBLE_LIBRARY));
  GpuWatch watch(probe);
  std::string seen = watch.end();
  CHECK(seen == "sw_power_cap, hw_thermal_slowdown");
  CHECK(GpuWatch(probe).end() == "");
  CHECK(throttling(probe.read()) == seen);
}

TEST_CASE("Clocks that an administrator set, and an idle device, make nothing void") {
  GpuState gpu;
  gpu.clock_events = {gpu_idle, applications_clocks_setting, display_clock_setting};
  CHECK(throttling(gpu).empty());
  gpu.clock_events = {gpu_idle, sync_boost, unknown};
  CHECK(throttling(gpu) == std::vector{sync_boost, unknown});
}
