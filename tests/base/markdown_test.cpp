#include "storage/base/markdown.hpp"

#include <catch2/catch.hpp>

using namespace nightjar;

TEST_CASE("Plain text shows as written and reaches nobody") {
  const std::string zwsp = "\xE2\x80\x8B";
  struct Case {
    std::string name, text, expected;
  };
  const Case c = GENERATE_COPY(values<Case>({
      {"mention", "by @jane", "by @" + zwsp + "jane"},
      {"team", "@pytorch/core", "@" + zwsp + "pytorch/core"},
      {"reference", "see #12", "see #" + zwsp + "12"},
      {"foreign reference", "a/b#12", "a/b#" + zwsp + "12"},
      {"gh reference", "GH-12", "GH-" + zwsp + "12"},
      {"issue's url", "https://github.com/a/b/issues/1",
       "https:" + zwsp + "//github.com/a/b/issues/1"},
      {"bare link", "www.x.org", "www." + zwsp + "x.org"},
      {"table", "a|b", "a\\|b"},
      {"html", "<img src=x>", "\\<img src=x\\>"},
      {"comment", "<!-- nightjar:x -->", "\\<!-- nightjar:x --\\>"},
      {"image", "![a](b)", "!\\[a\\](b)"},
      {"code", "`x`", "\\`x\\`"},
      {"entity", "&commat;jane", "\\&commat;jane"},
      {"emphasis", "__init__ *a*", "\\_\\_init\\_\\_ \\*a\\*"},
      {"hidden mention", "@\u200B\U000E0041jane", "@" + zwsp + "jane"},
      {"hidden reference", "#\u20601", "#" + zwsp + "1"},
      {"backslash", "a\\|b", "a\\\\\\|b"},
  }));
  INFO(c.name);
  CHECK(plain(c.text) == c.expected);
}

TEST_CASE("A code span holds back-ticks and borders") {
  CHECK(code("a_b") == "`a_b`");
  CHECK(code("a`b") == "``a`b``");
  CHECK(code("``") == "``` `` ```");
  CHECK(code("a|b") == "`a\\|b`");
  CHECK(code("") == "`  `");
}

TEST_CASE("A word of a command stays one word") {
  CHECK(shell_word("python/dlrm/eval/cpu/fp32/b1/eager") == "python/dlrm/eval/cpu/fp32/b1/eager");
  CHECK(shell_word("a b; rm -rf $HOME") == "'a b; rm -rf $HOME'");
  CHECK(shell_word("it's") == "'it'\\''s'");
  CHECK(shell_word("a\n```\nb") == "'a ``` b'");
  CHECK(shell_word("") == "''");
}

TEST_CASE("A table has a head, a rule and its rows") {
  CHECK(table({"a", ">b"}, {{"1", "2"}}) == "| a | b |\n|---|---:|\n| 1 | 2 |\n");
}
