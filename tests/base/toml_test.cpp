#include "storage/base/toml.hpp"

#include <filesystem>
#include <stdexcept>
#include <string>

#include <catch2/catch.hpp>

using namespace nightjar;

TEST_CASE("a TOML file is read by type, and what it leaves out keeps its default") {
  TomlFile toml(R"(
list = ["one", "", {three = 3}]
share = "7%"
[outer.inner]
number = 2
[texts]
a = "b"
[[each]]
flag = true
[[each]]
)",
                "a.toml");
  const auto list = toml.list("list", "", [](TomlItem& item) {
    auto* table = std::get_if<TomlTable>(&item);
    return std::optional(table ? std::to_string(table->integer("three", 0, 0, 9)) : *text_of(item));
  });
  CHECK(list == std::vector<std::string>{"one", "", "3"});
  CHECK(toml.share("share", 0, 0, 1) == Approx(.07));
  CHECK(toml.table("outer").table("inner").number("number", 0, 0, 9) == 2);
  std::map<std::string, std::string> texts;
  toml.table("texts").read(texts);
  CHECK(texts == std::map<std::string, std::string>{{"a", "b"}});
  auto each = toml.tables("each");
  REQUIRE(each.size() == 2);
  bool first = false, second = false;
  each[0].read("flag", first);
  each[1].read("flag", second);
  CHECK((first && !second));
  CHECK_FALSE(toml.table("absent").has("key"));
  CHECK_NOTHROW(toml.finish());
}

TEST_CASE("all that is wrong in a TOML file is told at once, each in a line with its place") {
  TomlFile toml(
      "list = [\n1.5]\nthere = 1\nmixed = ['a', 2]\nnone = []\n"
      "[[table]]\nname = 3\n[[table]]\nnme = 'a'\n",
      "a.toml");
  for (const char* key : {"list", "mixed", "none", "absent"})
    toml.list(key, "must be texts", text_of);
  for (TomlTable& table : toml.tables("table")) {
    std::string name;
    table.read("name", name);
    table.done();
  }
  toml.fail("absent", "is required");
  CHECK_THROWS_WITH(toml.finish(),
                    "a.toml: absent: is required\n"
                    "a.toml:1: list: must be texts\n"
                    "a.toml:3: there: unknown key; there are absent, list, mixed, none, table\n"
                    "a.toml:4: mixed: must be texts\n"
                    "a.toml:5: none: must be texts\n"
                    "a.toml:7: table.name: must be text in quotes\n"
                    "a.toml:9: table.nme: unknown key; there are name");
}

TEST_CASE("Of a file with thousands of errors the first hundred are told") {
  std::string text;
  for (int i = 0; i < 5000; ++i) text += "key" + std::to_string(i) + " = 1\n";
  const TomlFile toml(text, "n.toml");
  CHECK_THROWS_WITH(toml.finish(), Catch::EndsWith("n.toml: and 4900 more"));
}

TEST_CASE("what is no TOML is refused with its line") {
  CHECK_THROWS_WITH(TomlFile("a = 1\nb = \n", "a.toml"), Catch::StartsWith("a.toml:2: "));
  CHECK_THROWS_AS(TomlFile(std::filesystem::path("/no/such/file")), std::invalid_argument);
}

TEST_CASE("What is nested without end is refused in one line, and strings are no nesting") {
  const auto repeated = [](std::string_view part, int times) {
    std::string text;
    for (int i = 0; i < times; ++i) text += part;
    return text;
  };
  const std::string dots = repeated(".a", 50'000);
  for (const std::string& text :
       {"x = 1\ny = " + repeated("[", 50'000) + repeated("]", 50'000),
        "x = 1\ny = " + repeated("{a=", 50'000), "x = 1\na" + dots + " = 1",
        "x = 1\n[a" + dots + "]", "x = 1\ny = {a" + dots + " = 1}",
        "x=\"\"\"a\\\"\"\"\"\"\"\na" + dots + " = 1", "x = ''''''''\na" + dots + " = 1",
        "x = '\"'\na" + dots + " = 1"}) {
    CHECK_THROWS_WITH(TomlFile(text, "f.toml"), "f.toml:2: it is nested deeper than 64 levels");
  }
  for (const std::string& text :
       {"x = '" + dots + "'", "x = \"\\\"" + dots + "\"", "x = 1 # " + dots,
        "x = '''\n" + dots + "'''", "x = [" + repeated("1.5, ", 1'000) + "]"})
    CHECK_NOTHROW(TomlFile(text, "f.toml"));
}

TEST_CASE("A folder in place of a file is told so") {
  CHECK_THROWS_WITH(TomlFile(std::filesystem::path("/tmp")), "/tmp: it is a folder; name a file");
}
