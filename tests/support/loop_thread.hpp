// An event loop on a thread of its own, for servers that a test talks to.
#pragma once

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <thread>

namespace nightjar::test {

class LoopThread {
 public:
  ~LoopThread() { end(); }
  // Returns once the thread is gone. To be called before what `io` serves is destroyed.
  void end() {
    guard_.reset();
    io.stop();
    if (thread_.joinable()) thread_.join();
  }

  boost::asio::io_context io{1};

 private:
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> guard_{
      io.get_executor()};
  std::thread thread_{[this] { io.run(); }};
};

}  // namespace nightjar::test
