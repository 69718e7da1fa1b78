#include "service/builds/index_page.hpp"

#include <catch2/catch.hpp>

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

TEST_CASE("anchors are read however they are written") {
  struct Row {
    const char* name;
    std::string html;
    std::vector<std::string> hrefs;
  };
  const auto row = GENERATE(values<Row>({
      {"upper case", "<A HREF=\"a\">", {"a"}},
      {"single quotes", "<a href='a b'>x</a>", {"a b"}},
      {"no quotes", "<a href=a/b.whl>x</a>", {"a/b.whl"}},
      {"spaces and lines", "<a\n  data-x\n  href =\n \" a \"\n>", {"a"}},
      {"entities", "<a href=\"?a=1&amp;b=&#43;&#x2B;&unknown;&\">", {"?a=1&b=++&unknown;&"}},
      {"greater-than in a value", "<a data-requires-python=\">=3.8\" href=\"a\">", {"a"}},
      {"less-than in a value", "<a data-requires-python=\"<4\" href=\"a\">", {"a"}},
      {"first href counts", "<a href=\"a\" href=\"b\">", {"a"}},
      {"comment", "<!-- <a href=\"a\"> --><a href=\"b\">", {"b"}},
      {"script", "<script>'<a href=\"a\">'</script><a href=\"b\">", {"b"}},
      {"other tags that begin with a", "<abbr href=\"a\"><a href=\"b\">", {"b"}},
      {"no href", "<a name=\"top\">", {}},
      {"quote never closed", "<a href=\"a>x</a><a href=\"b\">x</a>", {"b"}},
      {"cut off in a tag", "<a href=\"a\"></a><a href=\"b", {"a"}},
      {"cut off before the end of a tag", "<a href=\"a\"", {}},
      {"entity that only looks like a tag", "<a title=\"&lt;a x\" href=\"a\">", {"a"}},
      {"a quote after an entity never closed", "<a href=\"&amp;>x</a><a href=\"b\">", {"b"}},
      {"comment never closed", "<a href=\"a\"><!-- <a href=\"b\">", {"a"}},
      {"UTF-8", "<a href=\"\xC3\xA9&#233;\">", {"\xC3\xA9\xC3\xA9"}},
      {"a byte that is no UTF-8", "<a href=\"\xFF\"><a href=\"b\">", {"\xC3\xBF", "b"}},
      {"another charset", "<meta charset=\"latin1\"><a href=\"\xC3\xA9\">", {"\xC3\xA9"}},
      {"a zero byte", std::string("<a href=a>\0<a href=b>", 21), {"a", "b"}},
      {"junk", "<<a<a <a href=\"a\"/>&<", {"a"}},
      {"nothing", "", {}},
  }));
  INFO(row.name);
  std::vector<std::string> hrefs;
  for (const Anchor& anchor : read_anchors(row.html)) hrefs.push_back(anchor.href);
  CHECK(hrefs == row.hrefs);
}

TEST_CASE("a page of many megabytes is read to its end, broken quotes or not") {
  std::string html;
  for (int i = 0; i < 400'000; ++i) html += "<a href='torch.whl'>torch.whl</a><br/>\n";
  for (int i = 0; i < 10; ++i)
    html += "<a href=\"broken.whl>broken.whl</a><a href=\"whole.whl\">\n";
  html += std::string(11u << 20, ' ') + "<a href='last.whl'>";
  const std::vector<Anchor> anchors = read_anchors(html);
  REQUIRE(anchors.size() == 400'011);
  CHECK(anchors[400'000].href == "whole.whl");
  CHECK(anchors.back().href == "last.whl");
}

TEST_CASE("hrefs are resolved against the page") {
  struct Row {
    std::string href;
    std::optional<std::string> resolved;
  };
  const auto row = GENERATE(values<Row>({
      {"a.whl", "https://wheels.test/nightly/cpu/torch/a.whl"},
      {"./a.whl#sha256=1", "https://wheels.test/nightly/cpu/torch/a.whl#sha256=1"},
      {"../torch/a.whl?x=../y", "https://wheels.test/nightly/cpu/torch/a.whl?x=../y"},
      {"../../../../../a.whl", "https://wheels.test/a.whl"},
      {"/a.whl", "https://wheels.test/a.whl"},
      {"//cdn.test/a.whl", "https://cdn.test/a.whl"},
      {"http://cdn.test/a.whl", "http://cdn.test/a.whl"},
      {"file:///etc/passwd", std::nullopt},
      {"javascript:alert(1)", std::nullopt},
      {"", std::nullopt},
      {"#top", std::nullopt},
  }));
  INFO(row.href);
  CHECK(resolve_url(url, row.href) == row.resolved);
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

TEST_CASE("a page without links is no index") {
  const auto html =
      GENERATE("", "<html><body>Service Unavailable</body></html>", "{\"files\": []}");
  CHECK_THROWS_WITH(read(html), Contains(url) && Contains("no index"));
}
