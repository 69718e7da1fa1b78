#include "web/secret.hpp"

#include <filesystem>
#include <fstream>

#include <catch2/catch.hpp>

using namespace nightjar::web;

TEST_CASE("Hashes are those of FIPS 180-4") {
  CHECK(sha256("abc").str() == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(sha256("").str() == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST_CASE("GitHub's example signature matches, and nothing near it does") {
  const std::string secret = "It's a Secret to Everybody", body = "Hello, World!";
  const std::string signature =
      "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";
  CHECK(signature_matches(secret, body, signature));
  CHECK_FALSE(signature_matches(secret, body + "!", signature));
  CHECK_FALSE(signature_matches("other", body, signature));
  CHECK_FALSE(signature_matches(secret, body, signature.substr(0, 70)));
  CHECK_FALSE(signature_matches(secret, body, signature.substr(7)));
  CHECK_FALSE(signature_matches(secret, body, ""));
}

TEST_CASE("Tokens are 64 hex digits and differ") {
  const auto token = random_token();
  CHECK(nightjar::Sha256::parse(token));
  CHECK(token != random_token());
  CHECK(equal_in_constant_time(token, token));
  CHECK_FALSE(equal_in_constant_time(token, random_token()));
  CHECK_FALSE(equal_in_constant_time(token, "short"));
}

TEST_CASE("A secret's file that every user of the machine can read is named with what to do") {
  const auto file =
      std::filesystem::temp_directory_path() / ("nightjar-secret-" + random_token().substr(0, 12));
  std::ofstream(file) << "hush\n";
  for (const auto& [mode, exposed] : {std::pair{0600, false}, {0640, false}, {0644, true}}) {
    std::filesystem::permissions(file, std::filesystem::perms(mode));
    const auto warning = exposure(file);
    CHECK(warning.has_value() == exposed);
    if (warning) CHECK(warning->find("chmod o-rwx " + file.string()) != std::string::npos);
  }
  std::filesystem::remove(file);
  CHECK_FALSE(exposure(file));
}
