#include "storage/base/log.hpp"

#include <spdlog/spdlog.h>

#include <catch2/catch.hpp>

#include "tests/support/heard_log.hpp"

using namespace nightjar;

TEST_CASE("A line of the log has its values, and what is below the least level is left out") {
  const HeardLog heard;
  spdlog::default_logger()->set_pattern("%l %v");
  log::only(log::Level::warn);
  log::info("left out n={}", 1);
  log::warn("kept n={} text=\"{}\"", 2, std::string("a {} b"));
  log::error("{}", "not a format {}");
  log::only(log::Level::off);
  log::error("left out, too");
  CHECK(heard.lines() == "warning kept n=2 text=\"a {} b\"\nerror not a format {}\n");
}

TEST_CASE("What others wrote forges no line of the log, and a long one is cut") {
  const HeardLog heard;
  spdlog::default_logger()->set_pattern("%l %v");
  log::warn("said=\"{}\"", "a\r\nerror all is lost\x1b[2J\xe9");
  log::warn("{}", std::string(50'000, 'x'));
  CHECK(heard.lines() == "warning said=\"a  error all is lost [2J\xEF\xBF\xBD\"\nwarning " +
                             std::string(7999, 'x') + "…\n");
}
