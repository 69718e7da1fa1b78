// The members of a wheel: which there are, and the bytes of one. Used by what reads more of a wheel
// than its identity; nothing is unpacked or executed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "service/builds/elf_sections.hpp"

namespace nightjar::service {

struct WheelMember {
  std::string name;
  std::int64_t size_bytes = 0;
};
// Files alone, in the order of the archive. Throws std::runtime_error for what is no whole zip.
std::vector<WheelMember> members_of(const std::filesystem::path& wheel);
// Reads a member of the wheel from its beginning; nothing comes if there is none.
ReadFromStart member_of(const std::filesystem::path& wheel, std::string member);

}  // namespace nightjar::service
