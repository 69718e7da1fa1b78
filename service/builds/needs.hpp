// Which machines can run a build, and whether a machine class is one of them. Read from the wheel
// itself: its tags, the GLIBC versions that its library asks for, and the architectures of its fat
// binaries. What the wheel does not say stays unknown and excludes no machine.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "service/builds/wheel.hpp"
#include "service/builds/wheel_name.hpp"
#include "storage/model/build.hpp"

namespace nightjar::service {

// Unpacks the libraries block by block where the tags do not say enough; a CUDA wheel takes some
// seconds. `facts` are of the same wheel.
BuildNeeds needs_of(const std::filesystem::path& wheel, const WheelName& name,
                    const WheelFacts& facts);

// Why a machine class with these facts (MachineClass::facts) cannot run the build: one sentence.
// nullopt if it can, as far as both say. GPU code serves a GPU of the same major and at least the
// same minor compute capability; PTX serves every newer one.
std::optional<std::string> cannot_run(const BuildNeeds& needs,
                                      const std::map<std::string, std::string>& facts);

}  // namespace nightjar::service
