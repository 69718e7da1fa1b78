// SHA-256 (FIPS 180-4) in plain C++, for the program that is one file and links no library. The
// others use OpenSSL's, which knows the processor's own instructions. Used by digest.cpp.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace nightjar {

class PlainSha256 {
 public:
  void add(std::string_view bytes);
  // May be called once, after all was added.
  std::array<unsigned char, 32> finish();

 private:
  void take_block();

  std::array<std::uint32_t, 8> state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<unsigned char, 64> block_{};
  std::uint64_t size_ = 0;  // bytes that were added
};

}  // namespace nightjar
