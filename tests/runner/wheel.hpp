// Tiny wheels and overlays of a torch that is a few lines long, with a RECORD that is right unless
// a test breaks it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "storage/base/digest.hpp"
#include "storage/model/job.hpp"
#include "tests/runner/file_server.hpp"
#include "tests/support/scratch.hpp"

namespace nightjar::runner {

inline std::string base64url(const std::string& hex) {
  constexpr char digits_of_hex[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  std::string out;
  unsigned value = 0, bits = 0;
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    value = value << 8 | static_cast<unsigned>(std::stoi(hex.substr(i, 2), nullptr, 16));
    for (bits += 8; bits >= 6;) out.push_back(digits_of_hex[value >> (bits -= 6) & 63]);
  }
  if (bits > 0) out.push_back(digits_of_hex[value << (6 - bits) & 63]);
  return out;
}

inline std::vector<Member> torch_members(const std::string& version, const std::string& commit) {
  return {
      {"torch/__init__.py", "from .version import __version__\nimport torch.slow\n", ""},
      {"torch/version.py", "__version__ = '" + version + "'\ngit_version = '" + commit + "'\n", ""},
      {"torch/slow.py", "FACTOR = 1\n", ""},
      {"torch/old.py", "", ""},
      {"torch-" + version + ".dist-info/METADATA", "Name: torch\n", ""}};
}

inline Member record_of(const std::vector<Member>& members, const std::string& version) {
  const std::string path = "torch-" + version + ".dist-info/RECORD";
  std::string text;
  for (const Member& member : members)
    text += member.name + ",sha256=" + base64url(digest_of(member.text).str()) + "," +
            std::to_string(member.text.size()) + "\n";
  return {path, text + path + ",,\n", ""};
}

// Writes the wheel and gives the environment that asks for it at the file server's address.
inline EnvironmentSpec wheel_environment(const std::filesystem::path& path,
                                         const std::vector<Member>& members,
                                         const std::string& version, const std::string& commit) {
  write_archive(path, true, members);
  return {BuildId{1},
          FileServer::shared().url_of(path),
          path.filename().string(),
          digest_of_file(path),
          {},
          version,
          commit};
}

inline EnvironmentSpec good_wheel(const Scratch& scratch, const std::string& version = "2.15.0",
                                  const std::string& commit = "abc") {
  auto members = torch_members(version, commit);
  members.push_back(record_of(members, version));
  return wheel_environment(scratch / ("torch-" + version + "-py3-none-any.whl"), members, version,
                           commit);
}

inline EnvironmentSpec with_overlay(EnvironmentSpec spec, const std::filesystem::path& path,
                                    const std::vector<Member>& members,
                                    std::vector<std::string> removed = {}) {
  write_archive(path, false, members);
  spec.overlay =
      OverlaySpec{FileServer::shared().url_of(path), digest_of_file(path), std::move(removed)};
  return spec;
}

}  // namespace nightjar::runner
