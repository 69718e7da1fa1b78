#include "runner/process/driver_environment.hpp"

#include <algorithm>
#include <cstdlib>
#include <unistd.h>

namespace nightjar::runner {
namespace fs = std::filesystem;
namespace {

constexpr const char* variables[] = {"CUDA_HOME",
                                     "CUDA_VISIBLE_DEVICES",
                                     "GPU_DEVICE_ORDINAL",
                                     "HIP_FORCE_DEV_KERNARG",
                                     "HIP_PATH",
                                     "HIP_VISIBLE_DEVICES",
                                     "HSA_ENABLE_SDMA",
                                     "HSA_NO_SCRATCH_RECLAIM",
                                     "HSA_OVERRIDE_GFX_VERSION",
                                     "HSA_XNACK",
                                     "NVIDIA_DRIVER_CAPABILITIES",
                                     "NVIDIA_VISIBLE_DEVICES",
                                     "ROCM_PATH",
                                     "ROCR_VISIBLE_DEVICES"};
// It ends in the number of a device: HSA_OVERRIDE_GFX_VERSION_3.
constexpr std::string_view of_device = "HSA_OVERRIDE_GFX_VERSION_";

constexpr const char* drivers[] = {"libcuda.so.1", "libnvidia-ml.so.1", "libdrm_amdgpu.so.1"};

bool has(const fs::path& folder, const char* library) {
  std::error_code unreadable;
  return fs::exists(folder / library, unreadable);
}

bool has_driver(const fs::path& folder) {
  const bool searched_anyway = has(folder, "libc.so.6");  // it is one of the system's
  return folder.is_absolute() && !searched_anyway &&
         std::ranges::any_of(drivers, [&](const char* library) { return has(folder, library); });
}

}  // namespace

std::map<std::string, std::string> driver_variables() {
  std::map<std::string, std::string> found;
  for (const char* name : variables)
    if (const char* value = std::getenv(name)) found[name] = value;
  for (char** pair = environ; pair && *pair; ++pair)
    if (const std::string_view text = *pair; text.starts_with(of_device))
      if (const auto equals = text.find('='); equals != std::string_view::npos)
        found[std::string(text.substr(0, equals))] = text.substr(equals + 1);
  return found;
}

std::vector<fs::path> driver_folders(std::string_view library_path) {
  std::vector<fs::path> folders;
  for (std::size_t at = 0; at < library_path.size();) {
    const auto end = std::min(library_path.find(':', at), library_path.size());
    fs::path folder = fs::path(library_path.substr(at, end - at)).lexically_normal();
    if (!folder.has_filename()) folder = folder.parent_path();  // "/a/" is "/a"
    if (has_driver(folder) && std::ranges::find(folders, folder) == folders.end())
      folders.push_back(folder);
    at = end + 1;
  }
  return folders;
}

std::vector<fs::path> driver_folders() {
  const char* own = std::getenv("LD_LIBRARY_PATH");
  return driver_folders(own ? own : "");
}

void add_library_folders(std::map<std::string, std::string>& environment,
                         const std::vector<fs::path>& more) {
  for (const fs::path& folder : more) {
    std::string& folders = environment["LD_LIBRARY_PATH"];
    folders += (folders.empty() ? "" : ":") + folder.string();
  }
}

}  // namespace nightjar::runner
