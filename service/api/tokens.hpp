// Who the bearer of a token is: the tokens of the configuration, and those that runners got by
// enrolling. A change of the latter takes effect at once. Used by the daemon.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "service/config.hpp"
#include "service/issuers.hpp"
#include "service/sign_in.hpp"
#include "storage/tokens.hpp"
#include "web/server/server.hpp"

namespace nightjar::service::api {

struct Context;

// The name of an enrolled runner as a principal, "runner:<name>". It stays the same when its token
// is replaced, so that a claim made with the old token is held by the new one. No configured token
// can have such a name.
std::string principal_of_runner(std::string_view runner);
// The runner's name that a principal's token is bound to; nullopt: it stands in the configuration.
std::optional<std::string_view> bound_runner(std::string_view principal);

// How long a token is still accepted after its successor was used for the first time.
inline constexpr std::chrono::minutes token_grace{10};

// Who the bearer of the configured token with this hash is; nullopt: it is none.
std::optional<web::Principal> configured_principal(const std::vector<TokenConfig>& configured,
                                                   const Sha256& hash);

// May be asked from any thread.
class Tokens {
 public:
  Tokens(const Config& config, const Clock& clock);

  // nullopt: the token is not known, revoked or over.
  std::optional<web::Principal> principal_of(std::string_view token) const;
  // Takes the place of all that was loaded before.
  void load(const storage::Database& db);
  // Whom the token of a job or a pod lets in.
  Issuers& issuers() { return issuers_; }
  // Who signed in through a provider instead of showing a token.
  SignIn& sign_in() { return sign_in_; }
  const SignIn& sign_in() const { return sign_in_; }
  // Called for each request with a token that was loaded as not used yet.
  void on_first_use(std::function<void(const Sha256&)> callback);

 private:
  using Enrolled = std::map<Sha256, storage::RunnerToken>;
  const std::vector<TokenConfig> configured_;
  const Clock& clock_;
  Issuers issuers_;
  SignIn sign_in_;
  mutable std::mutex mutex_;
  std::shared_ptr<const Enrolled> enrolled_ = std::make_shared<Enrolled>();
  std::function<void(const Sha256&)> first_use_;
};

// The same as server_config() and add_routes() of api.hpp, but runners can enrol, too. `tokens`
// outlives the server.
web::ServerConfig server_config(const Config& config, const Tokens& tokens);
void add_routes(web::Server& server, Context& context, Tokens& tokens);

}  // namespace nightjar::service::api
