// What is inside a wheel: whether it is whole as a package, and what tells a build's identity.
// Reads the zip only; nothing is unpacked or executed.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "service/builds/requirement.hpp"
#include "service/builds/wheel_members.hpp"

namespace nightjar::service {

// torch/version.py, which PyTorch's build writes: names with literal values, None is nullopt.
struct VersionFile {
  std::string version;  // __version__
  std::optional<std::string> git_version;
  std::optional<std::string> cuda, hip, xpu;  // hip: also as it is called lately, rocm
};
// Reads assignments of literals; other lines are skipped. nullopt without __version__.
std::optional<VersionFile> parse_version_file(std::string_view text);

struct WheelFacts {
  std::string metadata_name;  // METADATA's Name and Version
  std::string metadata_version;
  // METADATA's Requires-Dist by package: "sympy" -> ">=1.13.3", with marker and extras.
  std::map<std::string, std::string> requirements;
  std::vector<Requirement> requires_dist;  // the same fields, in METADATA's order
  std::string unreadable;                  // why the first that is not a Requirement is not one
  std::vector<std::string> tags;           // of its WHEEL file, "cp311-cp311-linux_x86_64"
  VersionFile version_file;
};
// Reads the fields of METADATA that `facts` has, up to the description.
void read_metadata(std::string_view text, WheelFacts& facts);
// Reads every member and holds it against RECORD (record_misfit). `version_file` is the member that
// says which version it is; empty: none, and the facts have an empty one. `laid_over`: it is of
// PyTorch's CI, which leaves RECORD as it was. Throws BadWheel for what pip, uv or our runners
// cannot install and for what RECORD contradicts; std::runtime_error with the path if the file
// cannot be opened, or once `stop` is requested.
WheelFacts read_wheel(const std::filesystem::path& file,
                      const std::string& version_file = "torch/version.py", bool laid_over = false,
                      const std::stop_token& stop = {});

// The fields of METADATA alone, without a look at other members: for a wheel that was proved.
// Throws as read_wheel() does.
WheelFacts read_metadata_of(const std::filesystem::path& file);

}  // namespace nightjar::service
