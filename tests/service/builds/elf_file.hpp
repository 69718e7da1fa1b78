// ELF files small enough to be made in a test.
#pragma once

#include <cstring>
#include <elf.h>
#include <string>

namespace nightjar::test {

// A small shared library: the sections' table, their names, and one section of `content`.
inline std::string library(const std::string& section, const std::string& content) {
  const std::string names = std::string("\0.shstrtab\0", 11) + section + '\0';
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = 3;
  header.e_shstrndx = 1;
  header.e_shoff = sizeof header + content.size() + names.size();
  Elf64_Shdr table[3]{};
  table[1].sh_name = 1;
  table[1].sh_offset = sizeof header + content.size();
  table[1].sh_size = names.size();
  table[2].sh_name = 11;
  table[2].sh_offset = sizeof header;
  table[2].sh_size = content.size();
  return std::string(reinterpret_cast<const char*>(&header), sizeof header) + content + names +
         std::string(reinterpret_cast<const char*>(table), sizeof table);
}

}  // namespace nightjar::test
