#include "storage/base/log.hpp"

#include <fmt/format.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include "storage/base/foreign_text.hpp"

namespace nightjar::log {
namespace {

constexpr std::size_t longest = 8000;  // characters of a line

spdlog::level::level_enum level_of(Level level) {
  switch (level) {
    case Level::debug:
      return spdlog::level::debug;
    case Level::info:
      return spdlog::level::info;
    case Level::warn:
      return spdlog::level::warn;
    case Level::error:
      return spdlog::level::err;
    case Level::off:
      break;
  }
  return spdlog::level::off;
}

}  // namespace

void start(const std::string& program, Style style) {
  if (style == Style::plain) {
    spdlog::set_default_logger(spdlog::stderr_logger_mt(program));
    return;
  }
  spdlog::set_default_logger(spdlog::stderr_color_mt(program));
  spdlog::set_pattern("%Y-%m-%dT%H:%M:%S.%eZ %^%l%$ %v", spdlog::pattern_time_type::utc);
}

void only(Level least) {
  spdlog::set_level(level_of(least));
}

void write(Level level, fmt::string_view format, fmt::format_args values) {
  if (!spdlog::should_log(level_of(level))) return;
  spdlog::default_logger_raw()->log(level_of(level),
                                    shortened(fmt::vformat(format, values), longest));
}

}  // namespace nightjar::log
