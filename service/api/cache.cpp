#include "service/api/cache.hpp"

#include <utility>

#include "service/api/representation.hpp"

namespace nightjar::service::api {

Cache::Ticket Cache::ticket(const web::Request& request) {
  if (!database_) database_ = storage::Database::open_reader(file_);
  const auto version = database_->data_version();
  if (version != version_) {
    answers_.clear();
    etags_.clear();
    bytes_ = 0;
    version_ = version;
  }
  Ticket ticket{version, request.path};
  if (wants_csv(request)) ticket.key.append(1, '\0').append("csv");
  if (takes_gzip(request)) ticket.key.append(1, '\0').append("gzip");
  for (const auto& [name, value] : request.query)
    ticket.key.append(1, '\0').append(name).append(1, '\0').append(value);
  return ticket;
}

Cache::Answer Cache::find(const Ticket& ticket) const {
  const auto found = answers_.find(ticket.key);
  return found == answers_.end() ? nullptr : found->second;
}

std::string Cache::etag(const Ticket& ticket) const {
  const auto found = etags_.find(ticket.key);
  return found == etags_.end() ? std::string() : found->second;
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
    if (etags_.size() >= max_etags) etags_.clear();
    for (const auto& [name, value] : answer->headers)
      if (name == "ETag") etags_[ticket.key] = value;
  }
  if (asked.empty()) return;
  for (const auto& waiting : asked.mapped()) waiting(answer);
}

}  // namespace nightjar::service::api
