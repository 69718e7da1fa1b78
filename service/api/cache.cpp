#include "service/api/cache.hpp"

#include <utility>

#include "service/api/representation.hpp"
#include "web/secret.hpp"

namespace nightjar::service::api {
namespace {

// Memory that an entry takes besides its answer's body: key, headers, nodes.
constexpr std::size_t entry_bytes = 512;

}  // namespace

Cache::Ticket Cache::ticket(const web::Request& request) {
  if (!database_) database_ = storage::Database::open_reader(file_);
  const auto version = database_->data_version();
  if (version != version_) {
    answers_.clear();
    etags_.clear();
    version_ = version;
  }
  std::string asked = request.path;
  if (wants_csv(request)) asked.append(1, '\0').append("csv");
  if (takes_gzip(request)) asked.append(1, '\0').append("gzip");
  for (const auto& [name, value] : request.query)
    asked.append(1, '\0').append(name).append(1, '\0').append(value);
  return {version, web::sha256(asked), request.principal.role};
}

Cache::Answer Cache::find(const Ticket& ticket) const {
  const auto found = answers_.find(ticket.key);
  return found == answers_.end() ? nullptr : found->second.answer;
}

std::string Cache::etag(const Ticket& ticket) const {
  const auto found = etags_.find(ticket.key);
  return found == etags_.end() ? std::string() : found->second.etag;
}

bool Cache::join(const Ticket& ticket, Waiting waiting) {
  auto& all = asked_[{ticket.version, ticket.key, ticket.role}];
  all.push_back(std::move(waiting));
  return all.size() == 1;
}

std::optional<web::Charge> Cache::charge(std::size_t bytes) {
  if (!ledger_ || bytes > ledger_->budget(web::Account::cache).each) return std::nullopt;
  const web::Payer cache{web::Account::cache, ""};
  auto charged = ledger_->try_charge(cache, bytes);
  if (charged) return charged;
  answers_.clear();
  if ((charged = ledger_->try_charge(cache, bytes))) return charged;
  etags_.clear();
  return ledger_->try_charge(cache, bytes);
}

void Cache::put(const Ticket& ticket, web::Response response) {
  const auto answer = std::make_shared<const web::Response>(std::move(response));
  const auto asked = asked_.extract({ticket.version, ticket.key, ticket.role});
  if (answer->status == 200 && ticket.version == version_) {
    if (auto charged = charge(answer->body.size() + entry_bytes))
      answers_.insert_or_assign(ticket.key, Kept{answer, *std::move(charged)});
    for (const auto& [name, value] : answer->headers)
      if (name == "ETag")
        if (auto charged = charge(entry_bytes))
          etags_.insert_or_assign(ticket.key, Tag{value, *std::move(charged)});
  }
  if (asked.empty()) return;
  for (const auto& waiting : asked.mapped()) waiting(answer);
}

}  // namespace nightjar::service::api
