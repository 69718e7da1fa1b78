// The control workload's part on an NVIDIA GPU: three fixed kernels of our own that no build of
// PyTorch can change, started through the driver's library. Used by control.cpp.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace nightjar::runner {

// Times in seconds, one a repetition.
struct GpuSamples {
  std::vector<double> compute;    // a chain of multiplications and additions on all cores
  std::vector<double> bandwidth;  // copies of 256 MiB within the GPU's memory
  std::vector<double> launch;     // of one kernel that does nothing, by the CPU's clock
  std::string missing;            // why there is none: "cuInit: no CUDA-capable device is detected"
};

// On the first device that CUDA_VISIBLE_DEVICES leaves. `library` is looked up as dlopen does.
// Takes about half a second. Never throws.
GpuSamples run_gpu_control(const std::filesystem::path& library = "libcuda.so.1");

}  // namespace nightjar::runner
