#include "service/api/turns.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>

namespace nightjar::service::api {

void Turns::post(const web::Request& request, std::function<void()> work) {
  {
    const std::lock_guard lock(mutex_);
    auto& lines = waiting_[order_ == Order::by_role ? request.principal.role : web::Role::none];
    const auto own = std::find_if(lines.begin(), lines.end(), [&](const Line& line) {
      return line.token == request.principal.name;
    });
    Line& line = own == lines.end() ? lines.emplace_back(Line{request.principal.name, {}}) : *own;
    line.works.push_back(std::move(work));
  }
  boost::asio::post(executor_, [this] { run_next(); });
}

web::Handler Turns::in_turn(web::Handler handler) {
  return [this, handler = std::move(handler)](const web::Request& request, web::Respond respond) {
    // The request lives as long as its respond.
    post(request, [handler, &request, respond = std::move(respond)] {
      web::answer_by(handler, request, respond);
    });
  };
}

void Turns::run_next() {
  std::function<void()> work;
  {
    const std::lock_guard lock(mutex_);
    const auto first = waiting_.begin();
    auto& lines = first->second;
    Line& line = lines.front();
    work = std::move(line.works.front());
    line.works.pop_front();
    if (line.works.empty())
      lines.pop_front();
    else
      lines.splice(lines.end(), lines, lines.begin());
    if (lines.empty()) waiting_.erase(first);
  }
  work();
}

}  // namespace nightjar::service::api
