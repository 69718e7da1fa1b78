// Sections of a 64-bit little-endian ELF file that can be read from its beginning only, as a member
// of a zip: each function reads it once. Used by needs_of() and read_provenance().
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nightjar::service {

// Hands over a file from its beginning, block by block, until `take` returns false.
using ReadFromStart = std::function<void(const std::function<bool(std::string_view)>& take)>;

struct ElfSection {
  std::string name;
  std::uint64_t offset = 0;
  std::uint64_t size_bytes = 0;
  std::uint32_t link = 0;  // index of the section with its texts
};

// All sections, by index. nullopt if this is no whole ELF file of that kind.
std::optional<std::vector<ElfSection>> read_elf_sections(const ReadFromStart& read);
// Hands over the bytes [offset, offset + size) until `take` returns false. False if the file ends
// before.
bool read_part(const ReadFromStart& read, std::uint64_t offset, std::uint64_t size,
               const std::function<bool(std::string_view)>& take);
// The newest GLIBC_x.y that the file's version needs (.gnu.version_r) name, "2.35". nullopt if it
// names none or is broken.
std::optional<std::string> needed_glibc(const ReadFromStart& read,
                                        const std::vector<ElfSection>& sections);

}  // namespace nightjar::service
