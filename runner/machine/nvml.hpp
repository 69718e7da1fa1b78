// NVIDIA's management library, opened at run time: nothing is linked, and a machine without it, or
// without devices, simply has none. Used by gpu_probe.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "runner/machine/gpu_library.hpp"

namespace nightjar::runner {

class Nvml final : public GpuLibrary {
 public:
  // `library` is looked up as dlopen does. Never throws.
  explicit Nvml(const std::filesystem::path& library = "libnvidia-ml.so.1");
  ~Nvml() override;
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  const std::string& missing() const override { return missing_; }
  const char* selector() const override { return "CUDA_VISIBLE_DEVICES"; }
  std::vector<GpuState> read() const override;
  void read_traffic(std::size_t index, GpuState& gpu) const override;
  std::vector<ClockEvent> clock_events(std::size_t index) const override;

 private:
  struct Library;
  std::unique_ptr<Library> library_;
  std::string missing_ = "no NVIDIA device";
};

}  // namespace nightjar::runner
