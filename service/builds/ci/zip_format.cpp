#include "service/builds/ci/zip_format.hpp"

#include <optional>

#include "service/builds/ci/trouble.hpp"

namespace nightjar::service::ci {

namespace {

constexpr std::uint32_t end_mark = 0x06054b50, end64_mark = 0x06064b50, locator64_mark = 0x07064b50,
                        entry_mark = 0x02014b50, local_mark = 0x04034b50;
constexpr std::size_t end_size = 22, locator64_size = 20, end64_size = 56, entry_size = 46;
constexpr std::uint16_t zip64_field = 1;
constexpr std::uint32_t see_zip64 = 0xffffffff;

// Little-endian; the caller has checked that the bytes are there.
template <class T>
T number(std::string_view bytes, std::size_t at) {
  T value = 0;
  for (std::size_t i = sizeof(T); i-- > 0;)
    value = static_cast<T>(value << 8 | static_cast<unsigned char>(bytes[at + i]));
  return value;
}

[[noreturn]] void no_archive(const std::string& how) {
  throw Unusable("it is no whole zip archive: " + how);
}

// The end record with a comment that reaches exactly to the archive's end.
std::size_t find_end(std::string_view tail) {
  for (std::size_t at = tail.size() < end_size ? 0 : tail.size() - end_size + 1; at-- > 0;)
    if (number<std::uint32_t>(tail, at) == end_mark &&
        at + end_size + number<std::uint16_t>(tail, at + 20) == tail.size())
      return at;
  no_archive("it has no end record");
}

ZipDirectory directory64(std::string_view tail, std::size_t locator, std::uint64_t base,
                         std::uint64_t& directory_end) {
  const auto at = number<std::uint64_t>(tail, locator + 8);
  if (at < base || at - base > locator || locator - (at - base) < end64_size ||
      number<std::uint32_t>(tail, at - base) != end64_mark)
    no_archive("its zip64 end record is not where it should be");
  const auto record = static_cast<std::size_t>(at - base);
  if (number<std::uint32_t>(tail, record + 16) != 0 ||
      number<std::uint32_t>(tail, record + 20) != 0)
    no_archive("it has several parts");
  directory_end = at;
  return {number<std::uint64_t>(tail, record + 48), number<std::uint64_t>(tail, record + 40),
          number<std::uint64_t>(tail, record + 32)};
}

// The values that did not fit into 32 bits stand in the zip64 field, in a fixed order.
void take_zip64(std::string_view extra, ZipMember& member) {
  while (extra.size() >= 4) {
    const auto size = number<std::uint16_t>(extra, 2);
    if (size > extra.size() - 4) no_archive("an extra field of " + member.name + " is cut off");
    std::string_view field = extra.substr(4, size);
    if (number<std::uint16_t>(extra, 0) == zip64_field) {
      for (std::uint64_t* value : {&member.bytes, &member.packed_bytes, &member.header_at}) {
        if (*value != see_zip64) continue;
        if (field.size() < 8) no_archive("the zip64 field of " + member.name + " is cut off");
        *value = number<std::uint64_t>(field, 0);
        field.remove_prefix(8);
      }
      return;
    }
    extra.remove_prefix(4 + size);
  }
}

void check_readable(std::uint16_t flags, std::uint16_t method, ZipMember& member) {
  if (flags & 1) throw Unusable("its member " + member.name + " is encrypted");
  if (method != 0 && method != 8)
    throw Unusable("its member " + member.name + " is packed by method " + std::to_string(method) +
                   "; only stored and deflated ones can be read");
  member.method = method == 0 ? ZipMethod::stored : ZipMethod::deflated;
  if (method == 0 && member.bytes != member.packed_bytes)
    no_archive("its stored member " + member.name + " has two sizes");
}

}  // namespace

ZipDirectory find_directory(std::string_view tail, std::uint64_t size) {
  const std::size_t end = find_end(tail);
  const std::uint64_t base = size - tail.size();  // where the tail begins
  ZipDirectory found{number<std::uint32_t>(tail, end + 16), number<std::uint32_t>(tail, end + 12),
                     number<std::uint16_t>(tail, end + 10)};
  std::uint64_t directory_end = base + end;
  if (end >= locator64_size && number<std::uint32_t>(tail, end - locator64_size) == locator64_mark)
    found = directory64(tail, end - locator64_size, base, directory_end);
  else if (number<std::uint16_t>(tail, end + 4) != 0 || number<std::uint16_t>(tail, end + 6) != 0)
    no_archive("it has several parts");
  if (found.at > directory_end || found.bytes != directory_end - found.at)
    no_archive("its directory is not where its end record says");
  if (found.members > found.bytes / entry_size)
    no_archive("its directory is too small for its " + std::to_string(found.members) + " members");
  return found;
}

std::vector<ZipMember> read_directory(std::string_view bytes, const ZipDirectory& directory,
                                      bool (*wanted)(std::string_view name)) {
  std::vector<ZipMember> members;
  for (std::uint64_t i = 0; i < directory.members; ++i) {
    if (bytes.size() < entry_size || number<std::uint32_t>(bytes, 0) != entry_mark)
      no_archive("its directory has no entry " + std::to_string(i + 1));
    const std::size_t name = number<std::uint16_t>(bytes, 28),
                      extra = number<std::uint16_t>(bytes, 30),
                      comment = number<std::uint16_t>(bytes, 32);
    if (bytes.size() - entry_size < name + extra + comment)
      no_archive("its directory's entry " + std::to_string(i + 1) + " is cut off");
    ZipMember member;
    member.name = bytes.substr(entry_size, name);
    member.crc32 = number<std::uint32_t>(bytes, 16);
    member.packed_bytes = number<std::uint32_t>(bytes, 20);
    member.bytes = number<std::uint32_t>(bytes, 24);
    member.header_at = number<std::uint32_t>(bytes, 42);
    if (wanted(member.name)) {
      take_zip64(bytes.substr(entry_size + name, extra), member);
      check_readable(number<std::uint16_t>(bytes, 8), number<std::uint16_t>(bytes, 10), member);
      if (member.header_at > directory.at || member.packed_bytes > directory.at - member.header_at)
        no_archive("its member " + member.name + " lies outside of it");
      members.push_back(std::move(member));
    }
    bytes.remove_prefix(entry_size + name + extra + comment);
  }
  return members;
}

std::uint64_t data_offset(std::string_view header, const ZipMember& member) {
  if (header.size() < local_header_bytes + member.name.size() ||
      number<std::uint32_t>(header, 0) != local_mark ||
      number<std::uint16_t>(header, 26) != member.name.size() ||
      header.substr(local_header_bytes, member.name.size()) != member.name)
    no_archive("its member " + member.name + " is not where its directory says");
  return local_header_bytes + member.name.size() + number<std::uint16_t>(header, 28);
}

}  // namespace nightjar::service::ci
