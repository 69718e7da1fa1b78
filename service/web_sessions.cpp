#include "service/web_sessions.hpp"

#include "web/secret.hpp"

namespace nightjar::service {
namespace {

constexpr std::size_t most_of_a_person = 20;

}  // namespace

std::string WebSessions::open(const web::Principal& person, std::chrono::seconds lifetime) {
  std::string secret = web::random_token();
  const std::lock_guard lock(mutex_);
  make_room(person.name);
  open_.emplace(web::sha256(secret), Session{person, clock_.now() + lifetime});
  return secret;
}

void WebSessions::make_room(const std::string& person) {
  std::erase_if(open_, [now = clock_.now()](const auto& one) { return one.second.ends <= now; });
  std::size_t count = 0;
  auto first = open_.end();
  for (auto one = open_.begin(); one != open_.end(); ++one) {
    if (one->second.person.name != person) continue;
    ++count;
    if (first == open_.end() || one->second.ends < first->second.ends) first = one;
  }
  if (count >= most_of_a_person) open_.erase(first);
}

std::optional<web::Principal> WebSessions::find(std::string_view secret) const {
  const Sha256 hash = web::sha256(secret);
  const std::lock_guard lock(mutex_);
  const auto found = open_.find(hash);
  if (found == open_.end() || found->second.ends <= clock_.now()) return std::nullopt;
  return found->second.person;
}

void WebSessions::close(std::string_view secret) {
  const Sha256 hash = web::sha256(secret);
  const std::lock_guard lock(mutex_);
  open_.erase(hash);
}

}  // namespace nightjar::service
