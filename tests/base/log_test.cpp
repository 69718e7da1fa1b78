#include "storage/base/log.hpp"

#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>
#include <sstream>

#include <catch2/catch.hpp>

using namespace nightjar;

TEST_CASE("A line of the log has its values, and what is below the least level is left out") {
  std::ostringstream lines;
  const auto before = spdlog::default_logger();
  spdlog::set_default_logger(std::make_shared<spdlog::logger>(
      "test", std::make_shared<spdlog::sinks::ostream_sink_st>(lines)));
  spdlog::set_pattern("%l %v");
  log::only(log::Level::warn);
  log::info("left out n={}", 1);
  log::warn("kept n={} text=\"{}\"", 2, std::string("a {} b"));
  log::error("{}", "not a format {}");
  log::only(log::Level::off);
  log::error("left out, too");
  spdlog::set_default_logger(before);
  CHECK(lines.str() == "warning kept n=2 text=\"a {} b\"\nerror not a format {}\n");
}
