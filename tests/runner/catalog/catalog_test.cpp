#include "runner/catalog/catalog.hpp"

#include <catch2/catch.hpp>

#include "runner/process/failure.hpp"
#include "tests/support/scratch.hpp"

using namespace nightjar;
using namespace nightjar::runner;

namespace {

const std::string catalog_item =
    R"({"name": "python/mine/eval/cpu/fp32/b1/eager", "version": 2, "kind": "python"})";
const std::string item_sizes = R"("sizes": {"mine/eval": {"width": 4}})";

std::vector<CatalogEntry> read(const std::string& text) {
  const Scratch scratch;
  spit(scratch / "workloads.json", text);
  return read_catalog(scratch.path());
}

}  // namespace

TEST_CASE("A workload of the table has its name, version and kind") {
  const auto catalog = read("{\"items\": [" + catalog_item + "], " + item_sizes + "}");
  REQUIRE(catalog.size() == 1);
  CHECK(catalog[0].name.str() == "python/mine/eval/cpu/fp32/b1/eager");
  CHECK(catalog[0].version == 2);
  CHECK(catalog[0].kind == WorkloadKind::python);
}

TEST_CASE("A broken table of workloads is refused with file, workload and key") {
  const std::string name = "\"name\": \"python/mine/eval/cpu/fp32/b1/eager\"";
  const auto items = [](const std::string& list) {
    return "{\"items\": [" + list + "], " + item_sizes + "}";
  };
  const std::string of_mine = "workloads.json: python/mine/eval/cpu/fp32/b1/eager";
  for (const auto& [text, words] : std::vector<std::pair<std::string, std::string>>{
           {"", "no JSON: parse error at line 1"},
           {"{\n\"items\": [,]}", "line 2"},
           {"[]", "key \"items\" is missing or no list"},
           {"{\"items\": {}}", "key \"items\" is missing or no list"},
           {items("7"), "item 1 is no object"},
           {items("{}"), "item 1: key \"name\" is missing"},
           {items("{\"name\": 7}"), "item 1: \"name\" is 7; it needs suite/model/task"},
           {items("{\"name\": \"python/mine\"}"),
            "workloads.json: python/mine: task is missing in its name; it needs"},
           {items("{" + name + "}"),
            of_mine + ": key \"version\" is missing; it needs a whole number from 1"},
           {items("{" + name + ", \"version\": 0}"), "\"version\" is 0"},
           {items("{" + name + ", \"version\": 1}"),
            of_mine + ": key \"kind\" is missing; it needs \"python\" or"},
           {items("{" + name + ", \"version\": 1, \"kind\": \"external\"}"),
            "\"kind\" is \"external\"; it needs"},
           {items(catalog_item + ", " + catalog_item), "is there twice"},
           {"{\"items\": [" + catalog_item + "]}",
            of_mine + ": key \"mine/eval\" is missing in \"sizes\"; it needs"},
           {"{\"items\": [" + catalog_item + "], \"sizes\": {\"mine/eval\": {\"width\": \"4\"}}}",
            "sizes, key \"mine/eval\": sizes are whole numbers"},
           {"{\"items\": [" + catalog_item + "], \"tiny\": {\"mine\": 4}, " + item_sizes + "}",
            "tiny, key \"mine\": sizes are whole numbers"}}) {
    INFO(text);
    CHECK_THROWS_AS(read(text), WrongUse);
    CHECK_THROWS_WITH(read(text), Catch::Contains(words) && Catch::Contains("workloads.json: "));
  }
}

TEST_CASE("A folder without a table of workloads is refused") {
  CHECK_THROWS_AS(read_catalog("/no/such/folder"), WrongUse);
}
