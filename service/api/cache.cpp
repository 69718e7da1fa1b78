#include "service/api/cache.hpp"

#include <utility>

namespace nightjar::service::api {

Cache::Ticket Cache::ticket(const web::Request& request) {
  if (!database_) database_ = storage::Database::open_reader(file_);
  const auto version = database_->data_version();
  if (version != version_) {
    answers_.clear();
    bytes_ = 0;
    version_ = version;
  }
  Ticket ticket{version, request.path};
  for (const auto& [name, value] : request.query)
    ticket.key.append(1, '\0').append(name).append(1, '\0').append(value);
  return ticket;
}

Cache::Answer Cache::find(const Ticket& ticket) const {
  const auto found = answers_.find(ticket.key);
  return found == answers_.end() ? nullptr : found->second;
}

bool Cache::join(const Ticket& ticket, Waiting waiting) {
  auto& all = asked_[{ticket.version, ticket.key}];
  all.push_back(std::move(waiting));
  return all.size() == 1;
}

void Cache::put(const Ticket& ticket, web::Response response) {
  const auto answer = std::make_shared<const web::Response>(std::move(response));
  const auto asked = asked_.extract({ticket.version, ticket.key});
  if (answer->status == 200 && ticket.version == version_) {
    bytes_ += answer->body.size() + ticket.key.size();
    if (bytes_ > max_bytes) {
      answers_.clear();
      bytes_ = answer->body.size() + ticket.key.size();
    }
    answers_[ticket.key] = answer;
  }
  if (asked.empty()) return;
  for (const auto& waiting : asked.mapped()) waiting(answer);
}

}  // namespace nightjar::service::api
