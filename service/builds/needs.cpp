#include "service/builds/needs.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <vector>

#include "service/builds/elf_sections.hpp"
#include "service/builds/fat_binaries.hpp"
#include "service/builds/wheel_members.hpp"

namespace nightjar::service {

namespace {

// The libraries that say what all of them need: each of the others is compiled with them.
constexpr const char* cpu_library = "torch/lib/libtorch_cpu.so";
constexpr const char* cuda_library = "torch/lib/libtorch_cuda.so";

using Version = std::pair<int, int>;

// "2.28" or "2_28".
std::optional<Version> version_of(std::string_view text) {
  Version version;
  const char* end = text.data() + text.size();
  const auto major = std::from_chars(text.data(), end, version.first);
  if (major.ec != std::errc() || major.ptr == end) return std::nullopt;
  const auto minor = std::from_chars(major.ptr + 1, end, version.second);
  if (minor.ec != std::errc()) return std::nullopt;
  return version;
}

// By PEP 600 and the names before it.
std::optional<Version> glibc_of_tag(const std::string& tag) {
  constexpr std::string_view mark = "manylinux_";
  if (tag.starts_with("manylinux2014_")) return Version{2, 17};
  if (tag.starts_with("manylinux2010_")) return Version{2, 12};
  if (tag.starts_with("manylinux1_")) return Version{2, 5};
  if (tag.starts_with(mark)) return version_of(std::string_view(tag).substr(mark.size()));
  return std::nullopt;
}

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ".") + part;
  return text;
}

std::optional<std::string> glibc_of(const std::filesystem::path& wheel, const WheelName& name) {
  std::optional<Version> oldest;  // a wheel with several tags keeps to all of them
  for (const std::string& tag : name.platform_tags)
    if (const auto version = glibc_of_tag(tag); version && (!oldest || *version < *oldest))
      oldest = version;
  if (oldest) return std::to_string(oldest->first) + "." + std::to_string(oldest->second);
  const ReadFromStart library = member_of(wheel, cpu_library);
  const auto sections = read_elf_sections(library);
  return sections ? needed_glibc(library, *sections) : std::nullopt;
}

std::optional<std::string> gpu_architectures_of(const std::filesystem::path& wheel) {
  const ReadFromStart library = member_of(wheel, cuda_library);
  const auto sections = read_elf_sections(library);
  if (!sections) return std::nullopt;
  for (const ElfSection& section : *sections) {
    if (section.name != ".nv_fatbin" && section.name != "__nv_fatbin") continue;
    FatBinaries binaries;
    read_part(library, section.offset, section.size_bytes,
              [&](std::string_view block) { return binaries.add(block); });
    return binaries.architectures();
  }
  return std::nullopt;
}

// Compute capabilities of data centre GPUs, by what NVIDIA publishes for the words of their names.
std::optional<int> capability_of(const std::string& model) {
  static constexpr std::pair<const char*, int> known[] = {
      {"V100", 70},  {"T4", 75},    {"A100", 80},   {"A30", 80},  {"A10G", 86}, {"A10", 86},
      {"A40", 86},   {"L40S", 89},  {"L40", 89},    {"L4", 89},   {"H100", 90}, {"H200", 90},
      {"GH200", 90}, {"B200", 100}, {"GB200", 100}, {"B300", 103}};
  std::string word;
  for (const char c : model + " ") {
    if (c != ' ' && c != '-') {
      word += c;
      continue;
    }
    for (const auto& [name, capability] : known)
      if (word == name) return capability;
    word.clear();
  }
  return std::nullopt;
}

bool serves(const std::string& architecture, int capability) {
  const auto bar = architecture.find('_');
  int version = 0;
  if (bar == std::string::npos) return false;
  std::from_chars(architecture.data() + bar + 1, architecture.data() + architecture.size(),
                  version);
  if (architecture.starts_with("compute_")) return capability >= version;
  return capability / 10 == version / 10 && capability >= version;
}

std::optional<std::string> gpu_objection(const std::string& architectures,
                                         const std::string& model) {
  const auto capability = capability_of(model);
  if (!capability || architectures.empty()) return std::nullopt;
  std::string_view rest = architectures;
  while (!rest.empty()) {
    const std::string one(rest.substr(0, rest.find(' ')));
    if (serves(one, *capability)) return std::nullopt;
    rest.remove_prefix(std::min(rest.size(), one.size() + 1));
  }
  return "its GPU code is for " + architectures + ", and the " + model + " there is sm_" +
         std::to_string(*capability);
}

std::string fact(const std::map<std::string, std::string>& facts, const char* name) {
  const auto found = facts.find(name);
  return found == facts.end() ? "" : found->second;
}

}  // namespace

BuildNeeds needs_of(const std::filesystem::path& wheel, const WheelName& name,
                    const WheelFacts& facts) {
  BuildNeeds needs;
  needs.python_tag = joined(name.python_tags);
  needs.platform_tag = joined(name.platform_tags);
  needs.glibc = glibc_of(wheel, name);
  const VersionFile& version = facts.version_file;
  if (version.version.empty()) return needs;  // nothing says for which devices it was built
  if (version.cuda)
    needs.gpu_architectures = gpu_architectures_of(wheel);
  else if (!version.hip && !version.xpu)
    needs.gpu_architectures = "";
  return needs;
}

std::optional<std::string> cannot_run(const BuildNeeds& needs,
                                      const std::map<std::string, std::string>& facts) {
  constexpr std::string_view glibc = "glibc ";
  const std::string libc = fact(facts, "libc");
  if (needs.glibc && libc.starts_with(glibc)) {
    const auto there = version_of(std::string_view(libc).substr(glibc.size()));
    const auto needed = version_of(*needs.glibc);
    if (there && needed && *there < *needed)
      return "it needs glibc " + *needs.glibc + ", and the machine has " +
             libc.substr(glibc.size());
  }
  const std::string models = fact(facts, "gpu");
  if (!needs.gpu_architectures || models.empty() || models == "none") return std::nullopt;
  return gpu_objection(*needs.gpu_architectures, models.substr(0, models.find(',')));
}

}  // namespace nightjar::service
