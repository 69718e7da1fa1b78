// Puts a benchmark's table into a document, between `<!-- figures: NAME -->` and `<!-- end of
// figures -->`.
#pragma once

#include <cstdio>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>

namespace nightjar::test {

// Throws std::runtime_error if the document cannot be read or has no such place.
inline void write_figures(const std::string& file, const std::string& name,
                          const std::string& markdown) {
  std::ifstream in(file);
  std::ostringstream all;
  all << in.rdbuf();
  std::string text = all.str();
  const std::string begin = "<!-- figures: " + name + " -->\n", end = "<!-- end of figures -->";
  const auto from = text.find(begin), to = text.find(end, from);
  if (!in || from == std::string::npos || to == std::string::npos)
    throw std::runtime_error(file + " has no place for the figures '" + name + "'");
  text.replace(from + begin.size(), to - from - begin.size(), markdown);
  std::ofstream(file) << text;
}

// snprintf as a string.
template <class... Values>
std::string formatted(const char* format, Values... values) {
  char text[1000];
  std::snprintf(text, sizeof text, format, values...);
  return text;
}

}  // namespace nightjar::test
