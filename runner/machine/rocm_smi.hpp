// AMD's management library, opened at run time: nothing is linked, and a machine without it, or
// without devices, simply has none. Used by gpu_probe.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "runner/machine/gpu_library.hpp"

namespace nightjar::runner {

class RocmSmi final : public GpuLibrary {
 public:
  // `library` is looked up as dlopen does; empty: by the names that ROCm 5 to 7 give it. Never
  // throws.
  explicit RocmSmi(const std::filesystem::path& library = {});
  ~RocmSmi() override;
  RocmSmi(const RocmSmi&) = delete;
  RocmSmi& operator=(const RocmSmi&) = delete;

  const std::string& missing() const override { return missing_; }
  const char* selector() const override { return "HIP_VISIBLE_DEVICES"; }
  // Clock events: applications_clocks_setting where a performance level fixes the clocks. Why they
  // are held down this library does not tell. Processes are all that compute on any device.
  std::vector<GpuState> read() const override;
  void read_traffic(std::size_t, GpuState&) const override {}
  std::vector<ClockEvent> clock_events(std::size_t index) const override;

 private:
  struct Library;
  std::unique_ptr<Library> library_;
  std::string missing_ = "no AMD device";
};

}  // namespace nightjar::runner
