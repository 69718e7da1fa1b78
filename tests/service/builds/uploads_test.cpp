#include "service/builds/uploads.hpp"

#include <chrono>

#include <catch2/catch.hpp>

#include "tests/service/builds/support.hpp"
#include "web/secret.hpp"

using namespace nightjar;
using namespace nightjar::service;

namespace {

constexpr UploadLimits limits{1000, 1500};

}  // namespace

TEST_CASE("parts are appended in order, and another part changes nothing") {
  const nightjar::test::ScratchFolder folder;
  const Sha256 hash = web::sha256("abcdef");
  Uploads uploads(folder / "uploads", limits);
  CHECK(uploads.append({{1}, {9}, hash}, 0, "") == 0);
  CHECK(uploads.append({{1}, {9}, hash}, 0, "abc") == 3);
  CHECK(uploads.append({{1}, {9}, hash}, 0, "abc") == 3);
  CHECK(uploads.append({{1}, {9}, hash}, 5, "x") == 3);
  CHECK(uploads.append({{2}, {9}, hash}, 0, "z") == 1);
  // A service that restarts goes on where the old one was.
  Uploads restarted(folder / "uploads", limits);
  CHECK(restarted.append({{1}, {9}, hash}, 3, "def") == 6);
  CHECK_FALSE(restarted.take({{1}, {9}, hash}, folder / "wheel"));
  CHECK(restarted.finish({{1}, {9}, hash}));
  CHECK(restarted.append({{1}, {9}, hash}, 6, "more") == 6);
  CHECK(restarted.finish({{1}, {9}, hash}));
  CHECK(restarted.take({{1}, {9}, hash}, folder / "wheel"));
  CHECK(nightjar::test::read_file(folder / "wheel") == "abcdef");
  CHECK(restarted.size_bytes() == 1);
}

TEST_CASE("what has another hash is removed, and so is all of a job when it has ended") {
  const nightjar::test::ScratchFolder folder;
  const Sha256 hash = web::sha256("abc");
  Uploads uploads(folder / "uploads", limits);
  uploads.append({{1}, {9}, hash}, 0, "abX");
  CHECK_FALSE(uploads.finish({{1}, {9}, hash}));
  CHECK(uploads.size_bytes() == 0);
  uploads.append({{1}, {9}, hash}, 0, "abc");
  CHECK(uploads.finish({{1}, {9}, hash}));
  uploads.append({{11}, {9}, hash}, 0, "a");
  uploads.remove({1});
  CHECK(uploads.size_bytes() == 1);
}

TEST_CASE("What nobody added to for days is gone with the next part of another wheel") {
  const nightjar::test::ScratchFolder folder;
  const Sha256 hash = web::sha256("abc");
  Uploads uploads(folder / "uploads", limits);
  uploads.append({{1}, {9}, hash}, 0, "a");
  for (const auto& entry : std::filesystem::directory_iterator(folder / "uploads"))
    std::filesystem::last_write_time(
        entry, std::filesystem::file_time_type::clock::now() - std::chrono::hours(72));
  uploads.append({{2}, {9}, hash}, 0, "bc");
  CHECK(uploads.size_bytes() == 2);
}

TEST_CASE("A job has one wheel on its way, whatever hashes its builder names") {
  const nightjar::test::ScratchFolder folder;
  Uploads uploads(folder / "uploads", limits);
  for (const char* wheel : {"a", "b", "c", "d"})
    CHECK(uploads.append({{1}, {9}, web::sha256(wheel)}, 0, std::string(900, 'x')) == 900);
  CHECK(uploads.size_bytes() == 900);
  for (const char letter : {'a', 'b'}) {  // also if one is whole
    const std::string bytes(900, letter);
    CHECK(uploads.append({{1}, {9}, web::sha256(bytes)}, 0, bytes) == 900);
    CHECK(uploads.finish({{1}, {9}, web::sha256(bytes)}));
  }
  CHECK(uploads.size_bytes() == 900);
}

TEST_CASE("A builder, and all of them together, may have so much on its way") {
  const nightjar::test::ScratchFolder folder;
  const Sha256 hash = web::sha256("abc");
  Uploads uploads(folder / "uploads", limits);
  const std::string part(600, 'x');
  CHECK(uploads.append({{1}, {9}, hash}, 0, part) == 600);
  CHECK_THROWS_AS(uploads.append({{2}, {9}, hash}, 0, part), UploadsFull);
  CHECK_THROWS_AS(uploads.append({{1}, {9}, hash}, 600, part), UploadsFull);
  CHECK(uploads.append({{3}, {8}, hash}, 0, part) == 600);
  CHECK_THROWS_AS(uploads.append({{4}, {7}, hash}, 0, part), UploadsFull);
  CHECK(uploads.size_bytes() == 1200);
  uploads.remove({1});
  CHECK(uploads.append({{4}, {7}, hash}, 0, part) == 600);
}

TEST_CASE("Of logs the oldest go where all together have too many bytes") {
  const nightjar::test::ScratchFolder folder;
  const auto is_there = [&](std::int64_t job) {
    return std::filesystem::exists(log_file(folder.path(), JobId{job}));
  };
  const auto now = std::filesystem::file_time_type::clock::now();
  for (std::int64_t job = 1; job <= 3; ++job) {
    store_log(folder.path(), JobId{job}, "1234", 12);
    std::filesystem::last_write_time(log_file(folder.path(), JobId{job}),
                                     now - std::chrono::hours(job == 2 ? 9 : 1));
  }
  store_log(folder.path(), JobId{3}, "5678", 12);
  CHECK((is_there(1) && is_there(2) && is_there(3)));
  store_log(folder.path(), JobId{4}, "1", 12);
  CHECK((is_there(1) && !is_there(2) && is_there(3) && is_there(4)));
}
