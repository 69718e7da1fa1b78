#include "service/builds/ci/bucket.hpp"

#include <catch2/catch.hpp>

#include "service/builds/ci/trouble.hpp"
#include "tests/support/ci/double.hpp"

using namespace nightjar;
using namespace nightjar::service::ci;
using nlohmann::json;

namespace {

const std::string prefix = "pytorch/pytorch/7/";

struct BucketSite {
  tests::CiDouble& ci = tests::CiDouble::fresh();
  web::Client client;
  Bucket bucket{client, ci.bucket()};
  BucketSite() {
    for (const char* name : {"a", "b+c", "d", "e", "f"})
      ci.archive(tests::CiDouble::key(7, name), {{{"name", "x"}, {"text", "y"}}});
    ci.archive(tests::CiDouble::key(77, "a"), {{{"name", "x"}, {"text", "y"}}});
  }
  ~BucketSite() { CHECK(ci.violations() == json::array()); }
};

std::string page(const std::string& inside) {
  return "<ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">" + inside +
         "</ListBucketResult>";
}

}  // namespace

TEST_CASE("a listing has every page, and only what is below the prefix") {
  BucketSite site;
  const auto objects = site.bucket.list(prefix);
  REQUIRE(objects.size() == 5);
  CHECK(objects[1].key == prefix + "b+c/artifacts.zip");
  CHECK(objects[1].size_bytes > 0);
  CHECK(site.bucket.list("pytorch/pytorch/8/").empty());
  CHECK(site.bucket.head(objects[1].key).size_bytes == objects[1].size_bytes);
}

TEST_CASE("a listing of which any page does not come is no answer, never a shorter one") {
  BucketSite site;
  const char* kind =
      GENERATE("404", "403", "503", "cut_before", "cut_within", "not_xml", "half_xml");
  const char* where =
      GENERATE("prefix", "continuation-token");  // the first page, one in the middle
  INFO(kind << " " << where);
  site.ci.fault(where, kind, 3);
  CHECK_THROWS_AS(site.bucket.list(prefix), Unanswered);
}

TEST_CASE("HEAD tells an object that is not there from one that may not be seen") {
  BucketSite site;
  CHECK_THROWS_AS(site.bucket.head(prefix + "z/artifacts.zip"), Gone);
  site.ci.fault("HEAD", "403_retry_after", 1, 30);
  CHECK_THROWS_AS(site.bucket.head(prefix + "a/artifacts.zip"), Unanswered);
}

TEST_CASE("a page that contradicts itself is refused") {
  const std::string object = "<Contents><Key>p/k</Key><Size>3</Size></Contents>";
  const std::string whole = "<IsTruncated>false</IsTruncated>";
  const std::string sane = "<Prefix>p/</Prefix><KeyCount>1</KeyCount>";
  CHECK(read_listing(page(sane + whole + object), "p/").objects.size() == 1);
  std::string many = "<Prefix>p/</Prefix><KeyCount>1001</KeyCount>" + whole;
  for (int i = 0; i < 1001; ++i) many += object;
  std::string laughs = "<!DOCTYPE x [<!ENTITY a0 \"<Contents/>\">";
  for (int i = 1; i < 30; ++i) {
    const std::string before = "&a" + std::to_string(i - 1) + ";";
    laughs += "<!ENTITY a" + std::to_string(i) + " \"" + before + before + "\">";
  }
  const std::string bad[] = {
      page(many),
      laughs + "]>" + page("<Prefix>&a29;</Prefix><KeyCount>0</KeyCount>" + whole),
      page(sane + "<IsTruncated>true</IsTruncated>" + object),
      page("<Prefix>p/</Prefix><KeyCount>2</KeyCount>" + whole + object),
      page("<Prefix>q/</Prefix><KeyCount>1</KeyCount>" + whole + object),
      page(sane + object),
      page(sane + whole + "<Contents><Key>q/k</Key><Size>3</Size></Contents>"),
      page(sane + whole + "<Contents><Key>p/k</Key><Size>-3</Size></Contents>"),
      "<ListBucketResult>" + sane + whole + object + "</ListBucketResult>",  // of no namespace
      "<Error><Code>NoSuchBucket</Code></Error>",
      ""};
  for (const std::string& one : bad) {
    INFO(one);
    CHECK_THROWS_AS(read_listing(one, "p/"), Unanswered);
  }
}
