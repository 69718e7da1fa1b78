#include "storage/base/terminal.hpp"

#include <catch2/catch.hpp>

#include "storage/base/text_table.hpp"

using namespace nightjar;

namespace {

// What is in the file, which is closed.
std::string written(std::FILE* file) {
  std::rewind(file);
  std::string text(200, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), file));
  std::fclose(file);
  return text;
}

std::string said(const std::string& value) {
  std::FILE* file = std::tmpfile();
  say(file, "\nbegin %s end\n", value.c_str());
  return written(file);
}

const std::string steering = "a\x1b]8;;http://x\x1b\\b\r\nc\u202Ed|*e*";

}  // namespace

TEST_CASE("A line says what it was given and steers no terminal") {
  CHECK(said("x") == "\nbegin x end\n");
  CHECK(said("\n" + steering) == "\nbegin  a ]8;;http://x \\b  c d|*e* end\n");
  CHECK(shown_lines("one\n\ntw\x1bo\nrest\r") == "one\n\ntw o\nrest ");
}

TEST_CASE("What programs read, too, has no control characters but line ends and tabs") {
  std::FILE* file = std::tmpfile();
  put_text(file, "{\n\t\"\x1b[2J\xC2\x9B\x7F\u202E@\u200Bx\xFF\"\r\n}\n");
  CHECK(written(file) == "{\n\t\" [2J   @\u200Bx\uFFFD\" \n}\n");
}

TEST_CASE("A cell is shown as text, on a terminal and in Markdown") {
  const TextTable table{{"name"}, {{steering}}, 1};
  CHECK(table_text(table, false) == "name\na ]8;;http://x \\b  c d|*e*\n");
  CHECK(table_text(table, true) ==
        "| name                             |\n|---|\n"
        "| a \\]8;;http:\u200B//x \\\\b  c d\\|\\*e\\* |\n");
}

TEST_CASE("What is wrong with a text can be seen") {
  CHECK(visible("12.5 ä", 80) == "'12.5 ä'");
  CHECK(visible(std::string_view("\x1b[32m12\r.5\0x", 12), 80) == "'\\x1b[32m12\\x0d.5\\x00x'");
  CHECK(visible("\xff ä", 80) == "'\\xff \\xc3\\xa4'");
  CHECK(visible("12345", 3) == "'12…'");
}
