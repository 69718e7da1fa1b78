// The texts in a wheel that say what it is: METADATA and the version file, read from one input.
#include "service/builds/wheel.hpp"
#include "tests/fuzz/targets.hpp"

namespace nightjar::fuzz {
namespace {

using service::VersionFile;
using service::WheelFacts;

std::string text_of(const WheelFacts& facts) {
  std::string text = "Name: " + facts.metadata_name + "\nVersion: " + facts.metadata_version + "\n";
  for (const auto& requirement : facts.requires_dist)
    text += "Requires-Dist: " + requirement.text() + "\n";
  return text + "\nA description\nName: of somebody\n";
}

std::string text_of(const VersionFile& file) {
  std::string text = "__version__ = '" + file.version + "'\n";
  const auto add = [&text](const char* name, const std::optional<std::string>& value) {
    text += std::string(name) + ": str | None = " + (value ? "'" + *value + "'" : "None") + "\n";
  };
  add("git_version", file.git_version);
  add("cuda", file.cuda);
  add("hip", file.hip);
  add("xpu", file.xpu);
  return text;
}

}  // namespace

void metadata(std::string_view input) {
  WheelFacts facts, again;
  service::read_metadata(input, facts);
  service::read_metadata(text_of(facts), again);
  require(facts.metadata_name == again.metadata_name &&
              facts.metadata_version == again.metadata_version &&
              facts.requires_dist == again.requires_dist,
          "METADATA changes when it is written");
  const auto file = service::parse_version_file(input);
  if (!file) return;
  const auto same = service::parse_version_file(text_of(*file));
  require(same && same->version == file->version && same->git_version == file->git_version &&
              same->cuda == file->cuda && same->hip == file->hip && same->xpu == file->xpu,
          "a version file changes when it is written");
}

}  // namespace nightjar::fuzz
