// Decides in which order queries run: those of a higher role go first, and those without a token
// last, of which there may be as many as the server has places for. From any thread. Internal to
// the API.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <deque>
#include <functional>
#include <map>
#include <mutex>

#include "web/server/message.hpp"

namespace nightjar::service::api {

class Turns {
 public:
  explicit Turns(boost::asio::any_io_executor pool) : pool_(std::move(pool)) {}
  // Runs `work`, which answers the request and throws nothing, on the pool.
  void post(const web::Request& request, std::function<void()> work);

 private:
  void run_next();
  boost::asio::any_io_executor pool_;
  std::mutex mutex_;
  std::map<web::Role, std::deque<std::function<void()>>, std::greater<>> waiting_;  // none empty
};

}  // namespace nightjar::service::api
