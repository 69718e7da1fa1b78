// The parts of the zip format (APPNOTE 6.3, with zip64) that lead to one member of an
// archive. Pure over bytes that were read before; used by RemoteZip, which reads a few of them
// only.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace nightjar::service::ci {

enum class ZipMethod { stored, deflated };

struct ZipMember {
  std::string name;  // as the directory has it, "dist/torch-2.15.0a0+git1234567-….whl"
  ZipMethod method = ZipMethod::stored;
  std::uint32_t crc32 = 0;
  std::uint64_t packed_bytes = 0;  // in the archive
  std::uint64_t bytes = 0;         // unpacked, as declared
  std::uint64_t header_at = 0;     // of its local header, from the archive's beginning
};

struct ZipDirectory {
  std::uint64_t at = 0;  // from the archive's beginning
  std::uint64_t bytes = 0;
  std::uint64_t members = 0;
};

// Length of the archive's end that has all that find_directory() needs.
inline constexpr std::uint64_t zip_end_bytes = 65'535 + 22 + 20 + 56;
inline constexpr std::uint64_t local_header_bytes = 30;  // without name and extra fields

// Where the directory is, by the archive's last bytes. `tail` ends where the archive of `size`
// bytes ends. Throws Unusable if this is no whole zip archive, or one in several parts.
ZipDirectory find_directory(std::string_view tail, std::uint64_t size);
// The members of a directory whose name `wanted` selects. Throws Unusable if the directory is
// broken, or if a selected member is encrypted, packed by another method, or outside of the
// archive.
std::vector<ZipMember> read_directory(std::string_view bytes, const ZipDirectory& directory,
                                      bool (*wanted)(std::string_view name));
// How far the packed bytes lie behind `member`'s local header. Throws Unusable if `header`, its
// first local_header_bytes and the name, is not of this member.
std::uint64_t data_offset(std::string_view header, const ZipMember& member);

}  // namespace nightjar::service::ci
