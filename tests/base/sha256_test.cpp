#include "storage/base/sha256.hpp"

#include <string>

#include <catch2/catch.hpp>

#include "storage/base/digest.hpp"

using namespace nightjar;

TEST_CASE("the hash in plain C++ is the library's, whatever the size and however it is fed") {
  std::string text;
  for (int size = 0; size < 200; ++size, text += static_cast<char>(size * 7)) {
    for (const std::size_t part : {1u, 63u, 64u, 200u}) {
      PlainSha256 plain;
      for (std::size_t at = 0; at < text.size(); at += part)
        plain.add(std::string_view(text).substr(at, part));
      INFO(size << " bytes, " << part << " at once");
      REQUIRE(hex_of(plain.finish()) == digest_of(text).str());
    }
  }
  PlainSha256 published;  // an example of the standard
  published.add("abc");
  CHECK(hex_of(published.finish()) ==
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}
