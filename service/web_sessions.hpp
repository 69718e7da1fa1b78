// Who is signed in to the page: sessions of people, which only this process knows. They end with
// it. Used by the REST interface, from any thread.
#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "storage/model/hex.hpp"
#include "storage/model/time.hpp"
#include "web/server/message.hpp"

namespace nightjar::service {

class WebSessions {
 public:
  explicit WebSessions(const Clock& clock) : clock_(clock) {}

  // The secret of a new session, for the person's browser alone. Of more than 20 of one person the
  // one that would end first ends.
  std::string open(const web::Principal& person, std::chrono::seconds lifetime);
  // nullopt: the session is not known, or over.
  std::optional<web::Principal> find(std::string_view secret) const;
  void close(std::string_view secret);

 private:
  struct Session {
    web::Principal person;
    Time ends{};
  };
  void make_room(const std::string& person);

  const Clock& clock_;
  mutable std::mutex mutex_;
  std::map<Sha256, Session> open_;  // by the secret's hash, so that time tells nothing of a secret
};

}  // namespace nightjar::service
