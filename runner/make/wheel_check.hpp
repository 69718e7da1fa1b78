// Whether a wheel that was just made can be installed and imported. Used by make_wheel().
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>

#include "runner/process/process.hpp"

namespace nightjar::runner {

struct WheelCheck {
  std::string broken;   // not empty: the commit's fault, and why
  std::string machine;  // not empty: it could not be tried here, and why
  bool fine() const { return broken.empty() && machine.empty(); }
};

// Unpacks `wheel` into a new folder below `temporary`, holds it against its RECORD, and imports
// `module` from it. `put` may change how the import runs. Throws Stopped, and std::system_error if
// the disk refuses.
WheelCheck check_wheel(const std::filesystem::path& wheel, const std::string& module,
                       const std::filesystem::path& python, const std::filesystem::path& temporary,
                       const std::function<void(ProcessSpec&)>& put, std::stop_token stop);

// What an import that ended as `process` says. Pure. A missing module is the machine's fault if the
// wheel `requires` it, since this Python lacks what the wheel asks for.
WheelCheck judge_import(const ProcessResult& process, const std::string& module,
                        const std::filesystem::path& site_packages,
                        const std::set<std::string>& required);

// The distributions that a wheel's METADATA requires, their names as PEP 503 has them.
std::set<std::string> required_by(std::string_view metadata);

}  // namespace nightjar::runner
