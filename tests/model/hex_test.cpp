#include "storage/model/hex.hpp"

#include <catch2/catch.hpp>

using namespace nightjar;

TEST_CASE("a hash has exactly its number of digits") {
  CHECK(CommitSha::parse(std::string(40, 'a')));
  CHECK_FALSE(CommitSha::parse(std::string(39, 'a')));
  CHECK_FALSE(CommitSha::parse(std::string(41, 'a')));
  CHECK_FALSE(CommitSha::parse(""));
  CHECK(Sha256::parse(std::string(64, '0')));
  CHECK_FALSE(Sha256::parse(std::string(40, '0')));
}

TEST_CASE("a hash is folded to lower case") {
  const auto sha = CommitSha::parse("ABCDEF0123456789ABCDEF0123456789ABCDEF01");
  REQUIRE(sha);
  CHECK(sha->str() == "abcdef0123456789abcdef0123456789abcdef01");
  CHECK(sha->brief() == "abcdef012345");
}

TEST_CASE("what is not hexadecimal is no hash") {
  for (const char wrong : {'g', 'G', ' ', '-', '/', ':', '@', '`', '\0'}) {
    std::string text(40, 'a');
    text[7] = wrong;
    INFO(int{wrong});
    CHECK_FALSE(CommitSha::parse(text));
  }
}

TEST_CASE("hashes are ordered by their text") {
  CHECK(*CommitSha::parse(std::string(40, '1')) < *CommitSha::parse(std::string(40, '2')));
  CHECK(*CommitSha::parse(std::string(40, 'b')) == *CommitSha::parse(std::string(40, 'B')));
}
