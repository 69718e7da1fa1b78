#include "service/builds/elf_sections.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <elf.h>
#include <utility>

namespace nightjar::service {

namespace {

constexpr std::uint64_t table_limit_bytes = 16u << 20;

// nullopt if the file ends before, or if it would be more than a table has.
std::optional<std::string> collect(const ReadFromStart& read, std::uint64_t offset,
                                   std::uint64_t size) {
  if (size > table_limit_bytes) return std::nullopt;
  std::string bytes;
  const bool whole = read_part(read, offset, size, [&](std::string_view block) {
    bytes += block;
    return true;
  });
  return whole ? std::optional(std::move(bytes)) : std::nullopt;
}

// A structure at `at`; nullopt if it does not lie inside.
template <class T>
std::optional<T> structure(std::string_view bytes, std::uint64_t at) {
  if (at > bytes.size() || bytes.size() - at < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof(T));
  return value;
}

std::string text_at(std::string_view texts, std::uint64_t at) {
  if (at >= texts.size()) return {};
  texts.remove_prefix(at);
  return std::string(texts.substr(0, texts.find('\0')));
}

// "GLIBC_2.35" is {2, 35}.
std::optional<std::pair<int, int>> glibc_version(std::string_view text) {
  constexpr std::string_view mark = "GLIBC_";
  if (!text.starts_with(mark)) return std::nullopt;
  text.remove_prefix(mark.size());
  std::pair<int, int> version;
  const auto dot = text.find('.');
  if (dot == std::string_view::npos) return std::nullopt;
  const char* end = text.data() + text.size();
  const auto major = std::from_chars(text.data(), text.data() + dot, version.first);
  const auto minor = std::from_chars(text.data() + dot + 1, end, version.second);
  if (major.ec != std::errc() || minor.ec != std::errc()) return std::nullopt;
  return version;
}

}  // namespace

bool read_part(const ReadFromStart& read, std::uint64_t offset, std::uint64_t size,
               const std::function<bool(std::string_view)>& take) {
  std::uint64_t at = 0, left = size;
  read([&](std::string_view block) {
    const std::uint64_t skip = std::min<std::uint64_t>(block.size(), offset > at ? offset - at : 0);
    at += block.size();
    block.remove_prefix(skip);
    block = block.substr(0, left);
    left -= block.size();
    return (block.empty() || take(block)) && left > 0;
  });
  return left == 0;
}

std::optional<std::vector<ElfSection>> read_elf_sections(const ReadFromStart& read) {
  const auto head = collect(read, 0, sizeof(Elf64_Ehdr));
  const auto header = structure<Elf64_Ehdr>(head.value_or(""), 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
      header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB ||
      header->e_shentsize != sizeof(Elf64_Shdr) || header->e_shstrndx >= header->e_shnum)
    return std::nullopt;
  const auto table = collect(read, header->e_shoff, header->e_shnum * sizeof(Elf64_Shdr));
  if (!table) return std::nullopt;
  const auto entry = [&](std::size_t i) {
    return *structure<Elf64_Shdr>(*table, i * sizeof(Elf64_Shdr));
  };
  const Elf64_Shdr names_at = entry(header->e_shstrndx);
  const auto names = collect(read, names_at.sh_offset, names_at.sh_size);
  if (!names) return std::nullopt;
  std::vector<ElfSection> sections;
  for (std::size_t i = 0; i < header->e_shnum; ++i) {
    const Elf64_Shdr section = entry(i);
    sections.push_back(
        {text_at(*names, section.sh_name), section.sh_offset, section.sh_size, section.sh_link});
  }
  return sections;
}

std::optional<std::string> needed_glibc(const ReadFromStart& read,
                                        const std::vector<ElfSection>& sections) {
  const auto needs = std::find_if(sections.begin(), sections.end(), [](const ElfSection& section) {
    return section.name == ".gnu.version_r";
  });
  if (needs == sections.end() || needs->link >= sections.size()) return std::nullopt;
  const auto bytes = collect(read, needs->offset, needs->size_bytes);
  const auto texts = collect(read, sections[needs->link].offset, sections[needs->link].size_bytes);
  if (!bytes || !texts) return std::nullopt;
  std::pair<int, int> newest{0, 0};
  std::uint64_t at = 0;
  for (auto file = structure<Elf64_Verneed>(*bytes, at); file;
       file = structure<Elf64_Verneed>(*bytes, at)) {
    std::uint64_t version_at = at + file->vn_aux;
    for (unsigned i = 0; i < file->vn_cnt; ++i) {
      const auto version = structure<Elf64_Vernaux>(*bytes, version_at);
      if (!version) return std::nullopt;
      if (const auto glibc = glibc_version(text_at(*texts, version->vna_name)))
        newest = std::max(newest, *glibc);
      version_at += version->vna_next;
    }
    if (file->vn_next == 0) break;
    at += file->vn_next;
  }
  if (newest == std::pair{0, 0}) return std::nullopt;
  return std::to_string(newest.first) + "." + std::to_string(newest.second);
}

}  // namespace nightjar::service
