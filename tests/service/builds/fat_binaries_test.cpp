#include "service/builds/fat_binaries.hpp"

#include <vector>

#include <catch2/catch.hpp>

using namespace nightjar::service;

namespace {

template <class T>
std::string little(T value) {
  std::string bytes;
  for (std::size_t i = 0; i < sizeof(T); ++i) bytes += static_cast<char>(value >> (8 * i) & 0xff);
  return bytes;
}

struct Entry {
  std::uint16_t kind;
  std::uint32_t architecture;
};

// As nvcc writes one: header, then entries of 64 bytes with their payload.
std::string fat_binary(const std::vector<Entry>& entries, std::uint16_t entry_version = 0x101) {
  std::string body;
  for (const Entry& entry : entries)
    body += little(entry.kind) + little(entry_version) + little<std::uint32_t>(64) +
            little<std::uint64_t>(24) + little<std::uint32_t>(0) + little<std::uint32_t>(0) +
            little<std::uint32_t>(0x10007) + little(entry.architecture) + std::string(32, '\0') +
            std::string(24, 'x');
  return little<std::uint32_t>(0xBA55ED50) + little<std::uint16_t>(1) + little<std::uint16_t>(16) +
         little<std::uint64_t>(body.size()) + body;
}

std::optional<std::string> read(const std::string& section, std::size_t block) {
  FatBinaries binaries;
  for (std::size_t at = 0; at < section.size(); at += block)
    if (!binaries.add(std::string_view(section).substr(at, block))) break;
  return binaries.architectures();
}

}  // namespace

TEST_CASE("architectures of machine code and PTX are read, however the section is cut") {
  const std::string section = fat_binary({{2, 75}, {2, 100}, {2, 89}, {1, 100}}) +
                              std::string(16, '\0') + fat_binary({{2, 75}, {2, 89}, {1, 100}}) +
                              fat_binary({{2, 75}, {2, 100}, {2, 89}, {1, 100}});
  const std::size_t block = GENERATE(1, 7, 64, 100'000);
  CHECK(read(section, block) == "sm_75 sm_89 sm_100 compute_100");
}

TEST_CASE("an architecture of a few kernels only does not count") {
  CHECK(read(fat_binary({{2, 80}}) + fat_binary({{2, 80}}) + fat_binary({{2, 90}}), 4096) ==
        "sm_80");
}

TEST_CASE("what is laid out otherwise, or cut off, is unknown") {
  CHECK(read("", 10) == "");
  const std::string good = fat_binary({{2, 75}, {2, 89}});
  CHECK_FALSE(read(good.substr(0, good.size() - 1), 4096));
  CHECK_FALSE(read(fat_binary({{2, 75}}, 0x102), 4096));
  CHECK_FALSE(read(fat_binary({{2, 123456}}), 4096));
  CHECK_FALSE(read("something else entirely", 4096));
  std::string other = good;
  other[4] = 2;  // the fat binary's own version
  CHECK_FALSE(read(other, 4096));
}
