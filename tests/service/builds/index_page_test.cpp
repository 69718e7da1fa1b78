#include "service/builds/index_page.hpp"

#include <catch2/catch.hpp>

#include "storage/base/redaction.hpp"

using namespace nightjar;
using namespace nightjar::service;
using Catch::Contains;

namespace {

const std::string url = "https://wheels.test/nightly/cpu/torch/";
const std::string hash(64, 'a');

IndexPage read(const std::string& html) {
  return read_index_page(url, html, {"cpu", "cp311"});
}

std::string file(const std::string& version,
                 const std::string& tail = "cp311-cp311-linux_x86_64.whl") {
  return "torch-" + version + "%2Bcpu-" + tail;
}

}  // namespace

TEST_CASE("a page as PyTorch serves it is read") {
  const IndexPage page = read(R"(<!DOCTYPE html>
<html>
  <body>
    <h1>Links for torch</h1>
    <a href="https://cdn.test/whl/nightly/cpu/torch-2.15.0.dev20260820%2Bcpu-cp311-cp311-manylinux_2_28_x86_64.whl" data-dist-info-metadata="sha256=0b1c" data-core-metadata="sha256=0b1c" data-upload-time="2026-08-20T10:11:12Z">torch-2.15.0.dev20260820+cpu-cp311-cp311-manylinux_2_28_x86_64.whl</a><br/>
    <a href="https://cdn.test/whl/nightly/cpu/torch-2.15.0.dev20260820%2Bcpu-cp312-cp312-manylinux_2_28_x86_64.whl">torch-2.15.0.dev20260820+cpu-cp312</a><br/>
    <a href="https://cdn.test/whl/nightly/cpu/torch-2.15.0.dev20260820%2Bcpu-cp311-cp311-win_amd64.whl">torch</a><br/>
    <a href="/whl/nightly/cpu/torch-2.15.0.dev20260818%2Bcpu-cp311-cp311-linux_x86_64.whl">torch</a><br/>
  </body>
</html>
<!--TIMESTAMP 1787300000-->)");
  CHECK(page.problems.empty());
  REQUIRE(page.wheels.size() == 2);  // the 19th is missing, as days do
  CHECK(page.wheels[0].date == "2026-08-18");
  CHECK(page.wheels[0].url ==
        "https://wheels.test/whl/nightly/cpu/"
        "torch-2.15.0.dev20260818%2Bcpu-cp311-cp311-linux_x86_64.whl");
  const ListedWheel& newest = page.wheels[1];
  CHECK(newest.file_name == "torch-2.15.0.dev20260820+cpu-cp311-cp311-manylinux_2_28_x86_64.whl");
  CHECK(newest.version == "2.15.0.dev20260820+cpu");
  CHECK(newest.variant == "cpu");
  CHECK(newest.date == "2026-08-20");
  CHECK(newest.url ==
        "https://cdn.test/whl/nightly/cpu/"
        "torch-2.15.0.dev20260820%2Bcpu-cp311-cp311-manylinux_2_28_x86_64.whl");
  CHECK_FALSE(newest.sha256);  // data-core-metadata is not the wheel's hash
}

TEST_CASE("a hash in the fragment is taken, and a broken one leaves the wheel out") {
  const IndexPage page =
      read("<a href='" + file("2.15.0.dev20260819") + "#sha256=" + hash + "'><a href='" +
           file("2.15.0.dev20260820") + "#sha256=abc'><a href='" + file("2.15.0.dev20260821") +
           "#egg=torch'>");
  REQUIRE(page.wheels.size() == 2);
  CHECK(page.wheels[0].sha256->str() == hash);
  CHECK(page.wheels[0].url == url + file("2.15.0.dev20260819"));
  CHECK_FALSE(page.wheels[1].sha256);
  REQUIRE(page.problems.size() == 1);
  CHECK_THAT(page.problems[0], Contains(url) && Contains("20260820") && Contains("broken SHA-256"));
}

TEST_CASE("of several versions on one date the higher base wins, by numbers") {
  const IndexPage page =
      read("<a href='" + file("2.9.0.dev20260820") + "'><a href='" + file("2.10.0.dev20260820") +
           "'><a href='" + file("2.10.0.dev20260820", "cp311-cp311-manylinux_2_28_x86_64.whl") +
           "'><a href='" + file("2.9.0.dev20260821") + "'>");
  REQUIRE(page.wheels.size() == 2);
  CHECK(page.wheels[0].version == "2.10.0.dev20260820+cpu");
  CHECK(page.wheels[0].file_name.ends_with("linux_x86_64.whl"));
  CHECK(page.wheels[1].version == "2.9.0.dev20260821+cpu");
}

TEST_CASE("only wheels of the wanted variant and Python count, broken ones are named") {
  const IndexPage page = read(
      "<a href='../'>up</a>"
      "<a href='torchvision-0.30.0.dev20260820%2Bcpu-cp311-cp311-linux_x86_64.whl'>"
      "<a href='torch-2.15.0.dev20260820%2Bcu130-cp311-cp311-linux_x86_64.whl'>"
      "<a href='torch-2.15.0%2Bcpu-cp311-cp311-linux_x86_64.whl'>"
      "<a href='torch-2.15.0.dev20260820%2Bcpu-cp311-cp311-linux_x86_64.whl.metadata'>"
      "<a href='torch-2.15.0.dev20269999%2Bcpu-cp311-cp311-linux_x86_64.whl'>"
      "<a href='ftp://x/torch-2.15.0.dev20260819%2Bcpu-cp311-cp311-linux_x86_64.whl'>"
      "<a data-yanked='broken' "
      "href='torch-2.15.0.dev20260818%2Bcpu-cp311-cp311-linux_x86_64.whl'>");
  CHECK(page.wheels.empty());
  REQUIRE(page.problems.size() == 3);
  CHECK_THAT(page.problems[0], Contains("dev20269999") && Contains("no wheel name"));
  CHECK_THAT(page.problems[1], Contains("ftp://") && Contains("no URL"));
  CHECK_THAT(page.problems[2], Contains("lists no nightly of torch for cpu and cp311"));
}

TEST_CASE("no build has an address that tells a secret of ours") {
  keep_secret("correct-horse-battery");
  const std::string link = "<a href=\"" + file("2.15.0.dev20260820") + "\">torch</a>";
  const IndexPage page =
      read_index_page("https://wheels.test/correct%2Dhorse-battery/torch/", link, {"cpu", "cp311"});
  CHECK(page.wheels.empty());
  REQUIRE(page.problems.size() == 2);
  CHECK_THAT(page.problems[0], Catch::StartsWith("https://wheels.test/***/torch/: ") &&
                                   Contains("is no URL that can be fetched"));
}

TEST_CASE("a page without links is no index") {
  const auto html =
      GENERATE("", "<html><body>Service Unavailable</body></html>", "{\"files\": []}");
  CHECK_THROWS_WITH(read(html), Contains(url) && Contains("no index"));
}
