#include "service/builds/artifacts.hpp"

#include <catch2/catch.hpp>

#include "tests/service/builds/support.hpp"
#include "tests/support/manual_clock.hpp"
#include "web/secret.hpp"

using namespace nightjar;
using namespace nightjar::service;
using nightjar::test::ScratchFolder;
using nightjar::test::write_file;

namespace {

struct Fixture {
  ScratchFolder folder;
  ManualClock clock{*parse_rfc3339("2026-08-20T00:00:00Z")};

  Artifacts open(std::uint64_t limit_bytes) { return {folder / "artifacts", limit_bytes, clock}; }
  Sha256 add(Artifacts& artifacts, const std::string& content) {
    clock.advance(std::chrono::seconds(1));
    return artifacts.add(write_file(artifacts.temporary(), content));
  }
};

std::string kilobyte(char c) {
  return std::string(1000, c);
}

}  // namespace

TEST_CASE_METHOD(Fixture, "content is found under its hash and gone from where it was") {
  Artifacts artifacts = open(10'000);
  const auto from = write_file(folder / "a.whl", "abc");
  const Sha256 sha256 = artifacts.add(from);
  CHECK(sha256 == web::sha256("abc"));
  CHECK_FALSE(std::filesystem::exists(from));
  CHECK(artifacts.path(sha256) == folder / "artifacts" / sha256.str());
  CHECK(nightjar::test::read_file(*artifacts.path(sha256)) == "abc");
  CHECK(artifacts.add(write_file(folder / "again", "abc")) == sha256);
  CHECK(artifacts.size_bytes() == 3);
  CHECK_FALSE(artifacts.path(web::sha256("other")));
}

TEST_CASE_METHOD(Fixture, "damaged content is removed before it is used") {
  auto artifacts = std::make_unique<Artifacts>(folder / "artifacts", 10'000, clock);
  const Sha256 a = add(*artifacts, kilobyte('a')), b = add(*artifacts, kilobyte('b'));
  const auto damage = [&](const Sha256& sha256) {
    const auto file = folder / "artifacts" / sha256.str();
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
    write_file(file, kilobyte('c'));
    return file;
  };
  SECTION("that somebody wrote to while the process ran") {
    damage(a);
  }
  SECTION("that was damaged while no process ran") {
    const auto used = std::filesystem::last_write_time(folder / "artifacts" / a.str());
    artifacts.reset();
    std::filesystem::last_write_time(damage(a), used);
    artifacts = std::make_unique<Artifacts>(folder / "artifacts", 10'000, clock);
  }
  CHECK_FALSE(artifacts->path(a));
  CHECK_FALSE(artifacts->holds(a));
  CHECK_FALSE(std::filesystem::exists(folder / "artifacts" / a.str()));
  CHECK(artifacts->path(b));
  CHECK(artifacts->size_bytes() == 1000);
}

TEST_CASE_METHOD(Fixture,
                 "the least recently used content goes first, pinned content and the new stay") {
  Artifacts artifacts = open(3000);
  const Sha256 a = add(artifacts, kilobyte('a'));
  const Sha256 b = add(artifacts, kilobyte('b'));
  const Sha256 c = add(artifacts, kilobyte('c'));
  CHECK(artifacts.size_bytes() == 3000);
  clock.advance(std::chrono::seconds(1));
  CHECK(artifacts.path(a));  // used: now b is the oldest
  add(artifacts, kilobyte('d'));
  CHECK(artifacts.holds(a));
  CHECK_FALSE(artifacts.holds(b));

  artifacts.pin({c});
  add(artifacts, kilobyte('e'));
  CHECK(artifacts.holds(c));
  CHECK_FALSE(artifacts.holds(a));
  const Sha256 huge = add(artifacts, std::string(5000, 'f'));
  CHECK(artifacts.holds(huge));
  CHECK(artifacts.holds(c));
  CHECK(artifacts.size_bytes() == 6000);
}

TEST_CASE_METHOD(Fixture, "a new start knows what is there and when it was used, and tidies up") {
  std::optional<Sha256> a, b;
  {
    Artifacts artifacts = open(2000);
    a = add(artifacts, kilobyte('a'));
    b = add(artifacts, kilobyte('b'));
    clock.advance(std::chrono::seconds(1));
    artifacts.path(*a);
    write_file(artifacts.temporary(), "half a wheel");
    write_file(artifacts.temporary().string() + ".part", "what a download left");
  }
  write_file(folder / "artifacts/README", "not ours");
  Artifacts artifacts = open(2000);
  CHECK(artifacts.size_bytes() == 2000);
  std::size_t files = 0;
  for ([[maybe_unused]] const auto& each :
       std::filesystem::directory_iterator(folder / "artifacts"))
    ++files;
  CHECK(files == 3);
  add(artifacts, kilobyte('c'));
  CHECK(artifacts.holds(*a));
  CHECK_FALSE(artifacts.holds(*b));
}

TEST_CASE_METHOD(Fixture, "content that somebody removed by hand is not claimed to be there") {
  Artifacts artifacts = open(2000);
  const Sha256 a = add(artifacts, "a");
  std::filesystem::remove(*artifacts.path(a));
  CHECK_FALSE(artifacts.holds(a));
  CHECK_FALSE(artifacts.path(a));
  CHECK(artifacts.size_bytes() == 0);
}

TEST_CASE_METHOD(Fixture, "a file that cannot be read is an error that names it") {
  Artifacts artifacts = open(2000);
  CHECK_THROWS_WITH(artifacts.add(folder / "none"), Catch::Contains("none"));
  CHECK_THROWS_WITH(Artifacts(write_file(folder / "file", ""), 1, clock), Catch::Contains("file"));
}
