#include "service/builds/ci/remote_zip.hpp"

#include <catch2/catch.hpp>

#include "service/builds/ci/bucket.hpp"
#include "service/builds/ci/choice.hpp"
#include "service/builds/ci/trouble.hpp"
#include "service/builds/wheel.hpp"
#include "storage/base/digest.hpp"
#include "tests/service/builds/support.hpp"
#include "tests/support/ci/double.hpp"
#include "tests/web/bad_peer.hpp"

using namespace nightjar;
using namespace nightjar::service::ci;
using Catch::Contains;
using nlohmann::json;

namespace {

const CommitSha head = *CommitSha::parse("0123456789012345678901234567890123456789");

struct ZipSite {
  tests::CiDouble& ci = tests::CiDouble::fresh();
  nightjar::test::ScratchFolder folder;
  web::Client client;
  Bucket bucket{client, ci.bucket()};
  std::string key = tests::CiDouble::key(1);

  ~ZipSite() { CHECK(ci.violations() == json::array()); }

  void put(const std::vector<json>& members, const char* flaw = nullptr) {
    ci.archive(key, members, flaw);
  }
  RemoteZip open(ZipLimits limits = {}) { return RemoteZip(client, bucket.head(key), limits); }
  // The only wheel inside, unpacked.
  std::filesystem::path bring(RemoteZip zip) {
    const auto members = zip.members(is_wheel);
    REQUIRE(members.size() == 1);
    const auto to = folder / "wheel";
    const Sha256 hash = zip.fetch(members[0], to);
    CHECK(hash == digest_of_file(to));
    return to;
  }
  void fault(const std::string& kind, int times = 1, const char* on = "GET /bucket/pytorch") {
    ci.fault(on, kind, times);
  }
};

json payload(int bytes) {
  return tests::CiDouble::wheel(head, {{"payload_bytes", bytes}});
}

}  // namespace

TEST_CASE("a wheel of 1 MB in an archive of 200 MB costs little more than the wheel") {
  ZipSite site;
  site.put({{{"name", "build/bin/all_tests"}, {"zeros", 200 << 20}}, payload(1 << 20)});
  const RemoteObject object = site.bucket.head(site.key);
  CHECK(object.size_bytes > (200u << 20));
  RemoteZip zip(site.client, object);
  const auto members = zip.members(is_wheel);
  REQUIRE(members.size() == 1);
  zip.fetch(members[0], site.folder / "wheel");
  CHECK(members[0].bytes > (1u << 20));
  CHECK(zip.bytes_read() < members[0].packed_bytes + (70u << 10));
  CHECK(site.ci.sent() == zip.bytes_read());
  CHECK(service::read_wheel(site.folder / "wheel").version_file.git_version == head.str());
}

TEST_CASE("a member is read stored or deflated, and from a zip64 archive") {
  ZipSite site;
  const bool stored = GENERATE(false, true);
  const char* form = GENERATE(static_cast<const char*>(nullptr), "zip64");
  json member = payload(1000);
  member["stored"] = stored;
  site.put({{{"name", "first"}, {"text", "x"}}, member}, form);
  CHECK(service::read_wheel(site.bring(site.open())).metadata_version == "2.15.0a0+git0123456");
}

TEST_CASE("a directory that does not lie in the archive's last bytes is read by itself") {
  ZipSite site;
  std::vector<json> members{payload(1000)};
  for (int i = 0; i < 900; ++i)
    members.push_back({{"name", std::string(100, 'n') + std::to_string(i)}, {"text", ""}});
  site.put(members);
  CHECK(service::read_wheel(site.bring(site.open())).metadata_name == "torch");
  ZipLimits limits;
  limits.directory_bytes = 50'000;
  CHECK_THROWS_WITH(site.open(limits).members(is_wheel), Contains("its directory has"));
}

TEST_CASE("a transfer that breaks off goes on where it stood") {
  ZipSite site;
  site.put({payload(3 << 20)});
  auto zip = site.open();
  const auto members = zip.members(is_wheel);
  site.fault("cut_within", 4);
  zip.fetch(members[0], site.folder / "wheel");
  CHECK(service::read_wheel(site.folder / "wheel").metadata_name == "torch");
  CHECK(zip.bytes_read() < members[0].packed_bytes + (70u << 10));
}

TEST_CASE("a transfer that never gets anywhere is no answer") {
  ZipSite site;
  site.put({payload(1000)});
  auto zip = site.open();
  site.fault("cut_before", 100);
  CHECK_THROWS_AS(zip.members(is_wheel), Unanswered);
}

TEST_CASE("a bucket that stalls, drips, closes by half or resets is no answer") {
  using web::Manner;
  const auto manner = GENERATE(Manner::stalls, Manner::drips, Manner::half_closes, Manner::resets);
  CAPTURE(static_cast<int>(manner));
  web::Client client;
  client.give_up_after(std::chrono::seconds(1));
  {
    const web::BadPeer peer(manner,
                            "HTTP/1.1 206 Partial Content\r\nContent-Length: 1000\r\n"
                            "Content-Range: bytes 0-999/1000\r\n\r\n");
    ZipLimits limits;
    limits.resumes = 0;
    RemoteZip zip(client, {peer.url() + "/archive", 1000, ""}, limits);
    CHECK_THROWS_AS(zip.members(is_wheel), Unanswered);
  }
  if (manner == Manner::half_closes || manner == Manner::resets) {  // others take 30 s
    const web::BadPeer peer(manner, "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n");
    CHECK_THROWS_AS(Bucket(client, peer.url()).list("p/"), Unanswered);
  }
}

TEST_CASE("a server that ignores ranges is refused before it sends a gigabyte") {
  ZipSite site;
  site.put({{{"name", "build/bin/all_tests"}, {"zeros", 200 << 20}}, payload(1000)});
  auto zip = site.open();
  site.fault("ignore_range");
  CHECK_THROWS_WITH(zip.members(is_wheel), Contains("ignores ranges"));
  CHECK(zip.bytes_read() == 0);
  CHECK(site.ci.sent() < (20u << 20));  // what fits into the buffers between
  site.fault("other_range");
  CHECK_THROWS_AS(zip.members(is_wheel), Unusable);
}

TEST_CASE("an object that expires or changes after HEAD is gone") {
  ZipSite site;
  site.put({payload(1000)});
  const char* kind = GENERATE("expire", "replace");
  site.fault(kind, 1, "HEAD /bucket/pytorch");
  auto zip = site.open();
  CHECK_THROWS_AS(zip.members(is_wheel), Gone);
}

TEST_CASE("a refusal and a busy bucket are no answer, with the time that it names") {
  ZipSite site;
  site.put({payload(1000)});
  auto zip = site.open();
  site.ci.fault("GET /bucket/pytorch", "403_retry_after", 1, 90);
  try {
    zip.members(is_wheel);
    FAIL("it must throw");
  } catch (const Unanswered& none) {
    CHECK(none.wait == std::chrono::seconds(90));
  }
  site.fault("503");
  CHECK_THROWS_AS(zip.members(is_wheel), Unanswered);
}

TEST_CASE("an archive that is wrong is refused with what is wrong") {
  ZipSite site;
  struct Row {
    const char* flaw;
    const char* reason;
  };
  const auto row = GENERATE(values<Row>({{"crc", "another CRC-32"},
                                         {"bomb", "unpacks to more than the 1000 bytes"},
                                         {"truncated", "no whole zip archive"},
                                         {"no_zip", "no whole zip archive"},
                                         {"encrypted", "encrypted"}}));
  site.put({payload(100'000)}, row.flaw);
  const auto bring = [&] {
    auto zip = site.open();
    zip.fetch(zip.members(is_wheel).at(0), site.folder / "wheel");
  };
  CHECK_THROWS_AS(bring(), Unusable);
  std::filesystem::remove(site.folder / "wheel");
  CHECK_THROWS_WITH(bring(), Contains(row.reason));
}

TEST_CASE("a member that declares too much is refused before it is fetched") {
  ZipSite site;
  site.put({{{"name", "dist/zeros.whl"}, {"zeros", 64 << 20}, {"deflated", true}}});
  ZipLimits limits;
  limits.member_bytes = 1 << 20;
  auto zip = site.open(limits);
  const auto members = zip.members(is_wheel);
  const auto before = zip.bytes_read();
  CHECK_THROWS_WITH(zip.fetch(members.at(0), site.folder / "wheel"),
                    Contains("more than the 1048576 that are allowed"));
  CHECK(zip.bytes_read() == before);
  CHECK_FALSE(std::filesystem::exists(site.folder / "wheel"));
}
