#include "web/anchors.hpp"

#include <catch2/catch.hpp>

using namespace nightjar::web;

namespace {

const std::string page_address = "https://wheels.test/nightly/cpu/torch/";

}  // namespace

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
      {"four bytes", "<a href=\"&#x10000;\">", {"\xF0\x90\x80\x80"}},
      {"a byte that is no UTF-8", "<a href=\"\xFF\"><a href=\"b\">", {"\xC3\xBF", "b"}},
      {"another charset", "<meta charset=\"latin1\"><a href=\"\xC3\xA9\">", {"\xC3\xA9"}},
      {"a zero byte", std::string("<a href=a>\0<a href=b>", 21), {"a", "b"}},
      {"junk", "<<a<a <a href=\"a\"/>&<", {"a"}},
      {"nothing", "", {}},
  }));
  INFO(row.name);
  std::vector<std::string> hrefs;
  for (const Anchor& anchor : read_links(page_address, row.html).anchors)
    hrefs.push_back(anchor.href);
  CHECK(hrefs == row.hrefs);
}

TEST_CASE("a page of many megabytes is read to its end, broken quotes or not") {
  std::string html;
  for (int i = 0; i < 400'000; ++i) html += "<a href='torch.whl'>torch.whl</a><br/>\n";
  for (int i = 0; i < 10; ++i)
    html += "<a href=\"broken.whl>broken.whl</a><a href=\"whole.whl\">\n";
  html += std::string(11u << 20, ' ') + "<a href='last.whl'>";
  const std::vector<Anchor> anchors = read_links(page_address, html).anchors;
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
  CHECK(resolve_url(page_address, row.href) == row.resolved);
}

TEST_CASE("hrefs are relative to the page's base, if it names one before its links") {
  struct Row {
    std::string html, base;
  };
  const auto row = GENERATE(values<Row>({
      {"<a href=a.whl>", page_address},
      {"<head><base href=\"https://cdn.test/whl/\"></head><a href=a.whl>", "https://cdn.test/whl/"},
      {"<BASE HREF=/files/ ><a href=a.whl>", "https://wheels.test/files/"},
      {"<base target=_blank><base href='../'><base href=/x/><a href=a>",
       "https://wheels.test/nightly/cpu/"},
      {"<a href=a.whl><base href=/files/>", page_address},
      {"<!-- <base href=/files/> --><a href=a.whl>", page_address},
      {"<base href='file:///etc/'><a href=a.whl>", page_address},
  }));
  INFO(row.html);
  CHECK(read_links(page_address, row.html).base == row.base);
}

TEST_CASE("a page is looked at about once, whatever its quotes are") {
  const auto piece = GENERATE(as<std::string>(), "<a href=\"x>", "<a href='x\">", "<a href=\"x ",
                              "<b c=\"<i d='", "<a =\"", "<!-- <a \"", "<script><a href=\"",
                              "<a href=\"&amp;<a ", "<a<a<", "\"'>", "<style></", "&#x", "<a\n\"");
  INFO(piece);
  std::string page;
  while (page.size() < (1u << 20)) page += piece;
  std::size_t work = 0;
  read_links(page_address, page, &work);
  CHECK(work <= page.size());
}

TEST_CASE("what an installer needs to know of a file is read") {
  const auto anchors =
      read_links(
          page_address,
          "<a href=a.whl data-requires-python=\"&gt;=3.9\" data-core-metadata=\"sha256=00\">a</a>"
          "<a href=b.whl data-dist-info-metadata=true data-yanked=\"broken\">b</a><a href=c.whl>")
          .anchors;
  REQUIRE(anchors.size() == 3);
  CHECK(anchors[0].requires_python == ">=3.9");
  CHECK(anchors[0].core_metadata == "sha256=00");
  CHECK(anchors[1].core_metadata == "true");
  CHECK(anchors[1].yanked);
  CHECK_FALSE(anchors[2].requires_python);
  CHECK_FALSE(anchors[2].core_metadata);
}
