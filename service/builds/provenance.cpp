#include "service/builds/provenance.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <stdexcept>

#include "service/builds/overlay.hpp"
#include "service/builds/packages.hpp"
#include "service/builds/wheel_reading.hpp"
#include "storage/base/split.hpp"

namespace nightjar::service {
namespace {

constexpr std::size_t most_named_files = 1000;
constexpr std::size_t most_compilers = 16;
constexpr std::size_t longest_line = 200;
constexpr std::size_t longest_flags = 8192;
constexpr std::size_t longest_provenance = 16u << 20;
constexpr int libraries_read = 3;
constexpr std::int64_t largest_library = 600'000'000;
// PyTorch compiles the flags of its C++ compiler into itself, and this is one of them.
constexpr std::string_view flags_mark = "-fvisibility-inlines-hidden ";

using Installed = std::set<std::string, std::less<>>;

bool is_library(std::string_view file) {
  const auto so = file.find(".so");
  const bool shared =
      so != std::string_view::npos && (so + 3 == file.size() || file[so + 3] == '.');
  return shared || file.ends_with(".a") || file.ends_with(".pyd") || file.ends_with(".dll") ||
         file.ends_with(".dylib");
}

// By the habits of those who pack them: a folder of libraries, a version or a hash in the name. The
// others are known by name.
bool is_bundled(std::string_view path, std::string_view file) {
  static constexpr std::string_view known[] = {
      "libgomp",     "libomp",         "libiomp5",    "libopenblas", "libmkl",
      "libcudart",   "libcublas",      "libcudnn",    "libnccl",     "libnvrtc",
      "libgfortran", "libarm_compute", "libquadmath", "libstdc++"};
  if (path.find(".libs/") != std::string_view::npos) return true;
  if (file.find(".so.") != std::string_view::npos) return true;
  return std::any_of(std::begin(known), std::end(known),
                     [&](std::string_view name) { return file.starts_with(name); });
}

bool has_folder(std::string_view path, std::string_view folder) {
  const std::string wanted = "/" + std::string(folder) + "/";
  return path.starts_with(wanted.substr(1)) || path.find(wanted) != std::string_view::npos;
}

bool is_python(std::string_view file) {
  return file.ends_with(".py") || file.ends_with(".pyi");
}

// False for a project whose tree has its packages elsewhere, below `src/`: then no Python file is
// found in the tree, and that says nothing.
bool explains_folder_of(const Installed& installed, std::string_view name) {
  const std::string_view top = name.substr(0, name.find('/') + 1);
  const auto first = installed.lower_bound(top);
  return first != installed.end() && first->starts_with(top);
}

std::string text_of(const ReadFromStart& read) {
  std::string text;
  read([&](std::string_view block) {
    text += block;
    return text.size() < longest_provenance;
  });
  return text;
}

std::vector<std::string> filled_parts(std::string_view text, char end) {
  std::vector<std::string> parts = split_at(text, end);
  std::erase(parts, "");
  return parts;
}

bool is_printable(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c < 127; });
}

// Name to digest, from lines `name,sha256=digest,size`.
std::map<std::string, std::string> digests_of(const std::string& record) {
  std::map<std::string, std::string> digests;
  for (const std::string& line : filled_parts(record, '\n')) {
    const auto size = line.rfind(',');
    const auto digest = size == std::string::npos ? size : line.rfind(',', size - 1);
    if (size == 0 || digest == std::string::npos) continue;
    std::string name = line.substr(0, digest);
    if (name.size() > 1 && name.front() == '"') name = name.substr(1, name.size() - 2);
    const std::string hash = line.substr(digest + 1, size - digest - 1);
    if (hash.starts_with("sha256=")) digests[name] = hash.substr(7);
  }
  return digests;
}

void read_wheel_file(const std::string& text, Provenance& provenance) {
  for (std::string line : filled_parts(text, '\n')) {
    if (line.ends_with('\r')) line.pop_back();
    if (line.starts_with("Generator: ")) provenance.generator = line.substr(11);
    if (line.starts_with("Tag: ")) provenance.tags.push_back(line.substr(5));
  }
  std::sort(provenance.tags.begin(), provenance.tags.end());
  const auto last = std::unique(provenance.tags.begin(), provenance.tags.end());
  provenance.tags.erase(last, provenance.tags.end());
}

// A compiler notes its name in each object, and the linker keeps each name once.
void read_compilers(const ReadFromStart& library, std::set<std::string>& compilers) {
  const auto sections = read_elf_sections(library);
  if (!sections) return;
  for (const ElfSection& section : *sections) {
    if (section.name != ".comment" || section.size_bytes > longest_flags) continue;
    std::string names;
    read_part(library, section.offset, section.size_bytes, [&](std::string_view block) {
      names += block;
      return true;
    });
    for (std::string& name : filled_parts(names, '\0'))
      if (name.size() <= longest_line && is_printable(name) && compilers.size() < most_compilers)
        compilers.insert(std::move(name));
  }
}

// The text between two zeros around the mark; nullopt: more bytes may show it.
std::optional<std::string> flags_in(std::string_view bytes) {
  const void* found = memmem(bytes.data(), bytes.size(), flags_mark.data(), flags_mark.size());
  if (!found) return std::nullopt;
  const auto at = static_cast<std::size_t>(static_cast<const char*>(found) - bytes.data());
  const auto end = bytes.find('\0', at);
  if (end == std::string_view::npos) return std::nullopt;
  const auto before = bytes.rfind('\0', at);
  const auto begin = before == std::string_view::npos ? at : before + 1;
  const std::string_view flags = bytes.substr(begin, end - begin);
  return flags.size() <= longest_flags && is_printable(flags) ? std::string(flags) : "";
}

std::string read_flags(const ReadFromStart& library) {
  std::string bytes, flags;
  library([&](std::string_view block) {
    if (bytes.size() > 2 * longest_flags) bytes.erase(0, bytes.size() - 2 * longest_flags);
    bytes += block;
    const auto found = flags_in(bytes);
    flags = found.value_or("");
    return !found;
  });
  return flags;
}

void read_libraries(const std::filesystem::path& file, Provenance& provenance) {
  std::vector<WheelFile> libraries;
  for (const WheelFile& one : provenance.files)
    if (one.kind == WheelFileKind::own && is_library(one.name) && one.size_bytes <= largest_library)
      libraries.push_back(one);
  std::stable_sort(libraries.begin(), libraries.end(), [](const WheelFile& a, const WheelFile& b) {
    return a.size_bytes > b.size_bytes;
  });
  if (libraries.size() > libraries_read) libraries.resize(libraries_read);
  std::set<std::string> compilers;
  for (const WheelFile& library : libraries) {
    const ReadFromStart read = member_of(file, library.name);
    read_compilers(read, compilers);
    if (provenance.flags.empty()) provenance.flags = read_flags(read);
  }
  provenance.compilers.assign(compilers.begin(), compilers.end());
}

void read_files(const std::filesystem::path& file, const Installed& installed,
                Provenance& provenance) {
  std::map<std::string, std::string> digests;
  for (const WheelMember& member : members_of(file)) {
    const std::string_view name = member.name;
    if (name.ends_with(".dist-info/RECORD"))
      digests = digests_of(text_of(member_of(file, member.name)));
    if (name.ends_with(".dist-info/WHEEL"))
      read_wheel_file(text_of(member_of(file, member.name)), provenance);
    if (const auto kind = kind_of_member(name, installed))
      provenance.files.push_back({member.name, member.size_bytes, {}, *kind});
  }
  std::sort(provenance.files.begin(), provenance.files.end(),
            [](const WheelFile& a, const WheelFile& b) {
              return std::pair(a.kind, a.name) < std::pair(b.kind, b.name);
            });
  if (provenance.files.size() > most_named_files) {
    provenance.more_files = static_cast<int>(provenance.files.size() - most_named_files);
    provenance.files.resize(most_named_files);
  }
  for (WheelFile& one : provenance.files)
    if (const auto digest = digests.find(one.name); digest != digests.end())
      one.digest = digest->second;
  std::sort(provenance.files.begin(), provenance.files.end(),
            [](const WheelFile& a, const WheelFile& b) { return a.name < b.name; });
}

Installed installed_files(const git::CommitGraph& graph, const CommitSha& commit,
                          const Project& project) {
  if (!graph.find(commit))
    throw std::runtime_error("commit " + commit.brief() + " is not known here");
  Installed installed;
  for (const std::string& path : Packages(graph, commit).below(""))
    installed.insert(installed_path(path, project));
  return installed;
}

}  // namespace

std::optional<WheelFileKind> kind_of_member(std::string_view name, const Installed& installed) {
  const std::string_view file = name.substr(name.rfind('/') + 1);
  const bool describes = name.find(".dist-info/") != std::string_view::npos ||
                         name.find(".data/") != std::string_view::npos;
  if (describes || has_folder(name, "include") || installed.count(name)) return std::nullopt;
  if (is_library(file)) return is_bundled(name, file) ? WheelFileKind::bundled : WheelFileKind::own;
  if (has_folder(name, "bin")) return WheelFileKind::own;
  const bool unexplained = !is_python(file) || explains_folder_of(installed, name);
  return unexplained ? std::optional(WheelFileKind::foreign) : std::nullopt;
}

Provenance read_provenance(const Build& wheel, const std::filesystem::path& file,
                           const git::CommitGraph& graph, const Project& project) {
  Provenance provenance{wheel.sha256.value()};
  try {
    read_files(file, installed_files(graph, wheel.commit.value(), project), provenance);
    read_libraries(file, provenance);
  } catch (const std::exception& error) {
    provenance = Provenance{*wheel.sha256};
    provenance.trouble = error.what();
  }
  return provenance;
}

}  // namespace nightjar::service
