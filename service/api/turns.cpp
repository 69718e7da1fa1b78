#include "service/api/turns.hpp"

#include <boost/asio/post.hpp>

namespace nightjar::service::api {

void Turns::post(const web::Request& request, std::function<void()> work) {
  {
    const std::lock_guard lock(mutex_);
    waiting_[request.principal.role].push_back(std::move(work));
  }
  boost::asio::post(pool_, [this] { run_next(); });
}

void Turns::run_next() {
  std::function<void()> work;
  {
    const std::lock_guard lock(mutex_);
    const auto first = waiting_.begin();
    work = std::move(first->second.front());
    first->second.pop_front();
    if (first->second.empty()) waiting_.erase(first);
  }
  work();
}

}  // namespace nightjar::service::api
