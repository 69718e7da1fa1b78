// Hears the log while it lives. Afterwards the log is as it is at a program's start.
#pragma once

#include <memory>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>
#include <sstream>
#include <string>

#include "storage/base/log.hpp"

namespace nightjar {

class HeardLog {
 public:
  HeardLog() {
    spdlog::set_default_logger(std::make_shared<spdlog::logger>(
        "test", std::make_shared<spdlog::sinks::ostream_sink_st>(lines_)));
  }
  ~HeardLog() {
    spdlog::set_default_logger(before_);
    log::only(log::Level::info);
  }
  HeardLog(const HeardLog&) = delete;
  HeardLog& operator=(const HeardLog&) = delete;

  // Each line begins with the time, the logger's name and the level.
  std::string lines() const { return lines_.str(); }

 private:
  std::ostringstream lines_;
  const std::shared_ptr<spdlog::logger> before_ = spdlog::default_logger();
};

}  // namespace nightjar
