#include <algorithm>
#include <utility>

#include "runner/machine/doctor_rules.hpp"

namespace nightjar::runner {
namespace {

// Bytes a second, far above what reading the driver's counters moves, and far below what a link
// can.
constexpr double idle_traffic = 100e6;

}  // namespace

void examine_gpu(const GpuState& gpu, Findings& out) {
  const std::string here = "GPU " + gpu.pci_bus + " (" + gpu.name + "): ";
  if (gpu.persistence)
    out.judge(!*gpu.persistence, here + "persistence mode is " + (*gpu.persistence ? "on" : "off"),
              "nvidia-smi -pm 1: else the driver is loaded again for each run and clock settings "
              "are lost");
  const auto& events = gpu.clock_events;
  const bool fixed = std::find(events.begin(), events.end(),
                               ClockEvent::applications_clocks_setting) != events.end();
  out.judge(!fixed, here + (fixed ? "clocks are fixed" : "clocks are not known to be fixed"),
            "nvidia-smi -lgc MHZ,MHZ with a frequency that it holds under load (nvidia-smi -q -d "
            "SUPPORTED_CLOCKS): free clocks follow heat and power");
  GpuState one = gpu;
  one.used = true;
  const std::string throttled = throttling(std::vector{one});
  out.judge(!throttled.empty(),
            here + "clocks held down: " + (throttled.empty() ? "no" : throttled),
            "sessions are void as long as this lasts: better cooling, a higher power limit "
            "(nvidia-smi -pl) or lower fixed clocks");
  if (gpu.mig)
    out.judge(*gpu.mig, here + (*gpu.mig ? "it is cut into parts" : "it is one whole"),
              "nvidia-smi -mig 0 (AMD: amd-smi set --compute-partition SPX): parts share memory "
              "bandwidth, cooling and power, and what the others do shows in every measurement");
  if (gpu.sliced)
    out.judge(*gpu.sliced,
              here + (*gpu.sliced ? "a hypervisor shares it in time slices" : "it is not shared"),
              "give this machine a whole device: another machine's work takes turns with each "
              "kernel",
              FindingClass::not_mendable);
  const bool elsewhere =
      std::any_of(gpu.others.begin(), gpu.others.end(),
                  [](const GpuProcess& process) { return process.name.empty(); });
  if (elsewhere)
    out.judge(true, here + "other containers compute on it, in time slices",
              "Kubernetes: ask for nvidia.com/gpu and not for a shared one "
              "(sharing.timeSlicing of the device plugin), else take whole nodes");
  std::vector<std::string> others;
  for (const GpuProcess& process : gpu.others)
    if (!process.name.empty()) others.push_back(process.name + " " + std::to_string(process.pid));
  out.judge(!others.empty(), here + "other processes: " + listed(others),
            "end them, or give this runner another device with CUDA_VISIBLE_DEVICES");
  for (const auto& [link, traffic] :
       {std::pair{"PCIe", gpu.pcie_traffic}, std::pair{"NVLink", gpu.nvlink_traffic}})
    if (traffic)
      out.judge(*traffic > idle_traffic,
                here + "traffic over " + link +
                    " while nothing of ours runs: " + decimals(*traffic / 1e6, 0, " MB/s"),
                "something else uses the device, maybe in a container whose processes cannot be "
                "seen from here: take whole devices");
  if (gpu.ecc_errors)
    out.judge(*gpu.ecc_errors > 0,
              here + "uncorrected memory errors: " + std::to_string(*gpu.ecc_errors),
              "restart the machine; if they come again, the device has to be replaced");
  if (gpu.temperature_celsius)
    out.judge(*gpu.temperature_celsius > 80,
              here + "temperature: " + decimals(*gpu.temperature_celsius, 0, " °C"),
              "better cooling: clocks go down a few degrees further on");
}

}  // namespace nightjar::runner
