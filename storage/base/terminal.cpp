#include "storage/base/terminal.hpp"

#include <algorithm>
#include <cstdarg>

#include "storage/base/foreign_text.hpp"

namespace nightjar {

void say(std::FILE* to, const char* format, ...) {
  va_list values, again;
  va_start(values, format);
  va_copy(again, values);
  const int size = std::vsnprintf(nullptr, 0, format, values);
  va_end(values);
  std::string text(static_cast<std::size_t>(std::max(size, 0)), '\0');
  std::vsnprintf(text.data(), text.size() + 1, format, again);
  va_end(again);
  const std::string_view shape = format;
  const std::size_t before = std::min(shape.find_first_not_of('\n'), shape.size());
  const std::size_t after =
      shape.size() - 1 - std::min(shape.find_last_not_of('\n'), shape.size() - 1);
  text = std::string(before, '\n') + one_line(text.substr(before, text.size() - before - after)) +
         std::string(after, '\n');
  std::fputs(text.c_str(), to);
}

void say_trouble(const char* program, std::string_view text) {
  put_text(stderr, std::string(program) + ": " + shown_lines(text) + "\n");
}

std::string shown_lines(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    out += one_line(text.substr(0, end));
    if (end < text.size()) out += '\n';
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

void put_text(std::FILE* to, std::string_view text) {
  const std::string out = without_controls(text);
  std::fwrite(out.data(), 1, out.size(), to);
}

std::string visible(std::string_view text, std::size_t characters) {
  constexpr const char* digits_of_hex = "0123456789abcdef";
  const auto is_plain = [](unsigned char c) { return c >= 0x20 && c != 0x7f; };
  const bool readable = valid_utf8(text) == text;
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (is_plain(byte) && (readable || byte < 0x80))
      out += c;
    else
      out += {'\\', 'x', digits_of_hex[byte >> 4], digits_of_hex[byte & 15]};
  }
  return "'" + shortened(out, characters) + "'";
}

}  // namespace nightjar
