#include "storage/base/foreign_text.hpp"

#include <vector>

#include <catch2/catch.hpp>

using namespace nightjar;

TEST_CASE("Text is one line of valid UTF-8 whatever bytes a commit holds") {
  CHECK(one_line("a\nb\tc\x01"
                 "d\x7f") == "a b c d ");
  CHECK(one_line("caf\xC3\xA9 \xE2\x86\x92 \xF0\x9F\x90\xA6") == "café → 🐦");
  CHECK(one_line("caf\xE9!") == "caf\xEF\xBF\xBD!");
  CHECK(one_line("\xC0\xAF|\xED\xA0\x80|\xF5") == "\xEF\xBF\xBD|\xEF\xBF\xBD|\xEF\xBF\xBD");
  CHECK(one_line("cut \xE2\x86") == "cut \xEF\xBF\xBD");
  CHECK(one_line("x\xE2\x80\xAEy\xC2\x85z") == "x y z");
  CHECK(one_line("x\xE2\x80\x8Fy\xE2\x80\x8Ez\xD8\x9C") == "xyz");  // marks of direction
}

TEST_CASE("What nobody can see is left out, what writing needs is not") {
  for (const std::string hidden :
       {"\u00AD",     "\u034F",     "\u115F",     "\u1160",     "\u200B",     "\u200C",
        "\u2060",     "\u2800",     "\u3164",     "\uE000",     "\uFDD0",     "\uFE0F",
        "\uFEFF",     "\uFFA0",     "\uFFFF",     "\U0001BCA0", "\U0001FFFE", "\U000E0041",
        "\U000E007F", "\U000E0100", "\U000F0000", "\U0010FFFD"})
    CHECK(one_line("a" + hidden + "b") == "ab");
  CHECK(one_line("\u06CC\u200C\u200D\u200Cx\u200C") == "\u06CC\u200Cx");
  for (const std::string kept : {"\u0645\u06CC\u200C\u062E\u0648\u0627\u0647\u0645",
                                 "\U0001F469\u200D\U0001F4BB", "\u2764", "\uFFFD"})
    CHECK(one_line(kept) == kept);
}

TEST_CASE("Text is shortened by characters, never within one") {
  CHECK(shortened("äöü", 3) == "äöü");
  CHECK(shortened("äöüß", 3) == "äö…");
  CHECK(shortened("", 3).empty());
}

TEST_CASE("Bytes that are no UTF-8 are replaced one by one, line ends stay") {
  CHECK(valid_utf8("caf\xE9\n\xC3\xA9 \xE2\x86") == "caf\xEF\xBF\xBD\né \xEF\xBF\xBD\xEF\xBF\xBD");
}

TEST_CASE("Lines come out whole however the text is cut, and a long one is cut") {
  std::vector<std::string> lines;
  const auto hear = [&](std::string_view line) { lines.emplace_back(line); };
  LineSplitter splitter;
  splitter.take("Counting: 1\rCount", hear);
  splitter.take("ing: 2\r\n\n\x1b[31mred\nlast", hear);
  CHECK(lines == std::vector<std::string>{"Counting: 1", "Counting: 2", " [31mred"});
  splitter.finish(hear);
  CHECK(lines.back() == "last");
  lines.clear();
  const std::string much(5'000, 'x');
  for (int part = 0; part < 1'000; ++part) splitter.take(much, hear);
  CHECK(lines.empty());
  splitter.take("\nnext\n", hear);
  CHECK(lines == std::vector<std::string>{std::string(LineSplitter::longest_line, 'x'), "next"});
}
