// What the driver of a GPU needs from this process's environment, as images of containers set it.
// Used for each process that a run starts, confined or not.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace nightjar::runner {

// The variables of this process by which CUDA's and ROCm's runtimes choose devices and find
// themselves. A name is taken only if it is known: NVIDIA_API_KEY is a secret, and HSA_TOOLS_LIB
// names code.
std::map<std::string, std::string> driver_variables();

// Those folders of a LD_LIBRARY_PATH that have a driver's libraries and that the loader does not
// search by itself. A toolkit's folder is none of them: its libraries would take the place of those
// that a build brings.
std::vector<std::filesystem::path> driver_folders(std::string_view library_path);

// Those of this process's own LD_LIBRARY_PATH.
std::vector<std::filesystem::path> driver_folders();

// Adds `more` to the LD_LIBRARY_PATH of an environment, behind what it has.
void add_library_folders(std::map<std::string, std::string>& environment,
                         const std::vector<std::filesystem::path>& more);

}  // namespace nightjar::runner
