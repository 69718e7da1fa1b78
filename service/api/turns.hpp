// Decides in which order requests run on an executor. Tokens take turns, however much each of them
// asks; all requests without a token share one turn. From any thread. Internal to the API.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <string>

#include "web/server/message.hpp"

namespace nightjar::service::api {

class Turns {
 public:
  // by_role: those of a higher role go before all others, and those without a token last, of which
  // there may be as many as the server has places for. equal: a role does not count, so nobody
  // waits for ever.
  enum class Order { by_role, equal };
  Turns(boost::asio::any_io_executor executor, Order order)
      : executor_(std::move(executor)), order_(order) {}
  // Runs `work`, which answers the request and throws nothing, on the executor.
  void post(const web::Request& request, std::function<void()> work);
  // The handler, called in the turn that the request's token gives it.
  web::Handler in_turn(web::Handler handler);

 private:
  // What one token waits for; never empty.
  struct Line {
    std::string token;
    std::deque<std::function<void()>> works;
  };
  void run_next();
  boost::asio::any_io_executor executor_;
  Order order_;
  std::mutex mutex_;
  // Those of a role, where it counts. The line whose turn it is comes first. None is empty.
  std::map<web::Role, std::list<Line>, std::greater<>> waiting_;
};

}  // namespace nightjar::service::api
