// The programs' log, on standard error. Every room above uses it.
//
//   log::warn("job put off job={} cause=\"{}\"", job.id.value, cause);
//
// A line is a few words, then key=value. The compiler checks the format against the values.
// Each value is written on one line, without control characters, and cut if it is very long.
// spdlog stays in log.cpp: with its header each unit takes 5 s more to compile, since it
// instantiates the formatting again.
#pragma once

#include <fmt/core.h>
#include <string>

namespace nightjar::log {

enum class Level { debug, info, warn, error, off };
enum class Style { plain, coloured };

// Names the program in each line, or, if the lines are coloured on a terminal, gives the time in
// UTC and the level. Without it spdlog's own style applies, on standard output.
void start(const std::string& program, Style style);
// Nothing below `least` is logged.
void only(Level least);
void write(Level level, fmt::string_view format, fmt::format_args values);

template <class... Values>
void debug(fmt::format_string<const Values&...> format, const Values&... values) {
  write(Level::debug, format, fmt::make_format_args(values...));
}
template <class... Values>
void info(fmt::format_string<const Values&...> format, const Values&... values) {
  write(Level::info, format, fmt::make_format_args(values...));
}
template <class... Values>
void warn(fmt::format_string<const Values&...> format, const Values&... values) {
  write(Level::warn, format, fmt::make_format_args(values...));
}
template <class... Values>
void error(fmt::format_string<const Values&...> format, const Values&... values) {
  write(Level::error, format, fmt::make_format_args(values...));
}

}  // namespace nightjar::log
