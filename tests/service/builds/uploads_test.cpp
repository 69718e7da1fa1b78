#include "service/builds/uploads.hpp"

#include <chrono>

#include <catch2/catch.hpp>

#include "tests/service/builds/support.hpp"
#include "web/secret.hpp"

using namespace nightjar;
using namespace nightjar::service;

TEST_CASE("parts are appended in order, and another part changes nothing") {
  const nightjar::test::ScratchFolder folder;
  const Sha256 hash = web::sha256("abcdef");
  Uploads uploads(folder / "uploads");
  CHECK(uploads.append({1}, hash, 0, "") == 0);
  CHECK(uploads.append({1}, hash, 0, "abc") == 3);
  CHECK(uploads.append({1}, hash, 0, "abc") == 3);
  CHECK(uploads.append({1}, hash, 5, "x") == 3);
  CHECK(uploads.append({2}, hash, 0, "z") == 1);
  // A service that starts anew goes on where the old one was.
  Uploads restarted(folder / "uploads");
  CHECK(restarted.append({1}, hash, 3, "def") == 6);
  CHECK(restarted.verify({1}, hash));
  CHECK(nightjar::test::read_file(restarted.file({1}, hash)) == "abcdef");
}

TEST_CASE("what has another hash is removed, and so is all of a job when it has ended") {
  const nightjar::test::ScratchFolder folder;
  const Sha256 hash = web::sha256("abc");
  Uploads uploads(folder / "uploads");
  uploads.append({1}, hash, 0, "abX");
  CHECK_FALSE(uploads.verify({1}, hash));
  CHECK_FALSE(std::filesystem::exists(uploads.file({1}, hash)));
  uploads.append({1}, hash, 0, "a");
  uploads.append({11}, hash, 0, "a");
  uploads.remove({1});
  CHECK_FALSE(std::filesystem::exists(uploads.file({1}, hash)));
  CHECK(std::filesystem::exists(uploads.file({11}, hash)));
}

TEST_CASE("what nobody added to for days is gone after a start") {
  const nightjar::test::ScratchFolder folder;
  const Sha256 hash = web::sha256("abc");
  Uploads uploads(folder / "uploads");
  uploads.append({1}, hash, 0, "a");
  std::filesystem::last_write_time(
      uploads.file({1}, hash),
      std::filesystem::file_time_type::clock::now() - std::chrono::hours(72));
  uploads.append({2}, hash, 0, "a");
  const Uploads restarted(folder / "uploads");
  CHECK_FALSE(std::filesystem::exists(restarted.file({1}, hash)));
  CHECK(std::filesystem::exists(restarted.file({2}, hash)));
}
