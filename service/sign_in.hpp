// People sign in through an OpenID Connect provider, by [auth.oidc]: the authorization-code flow
// (OpenID Connect Core 1.0, 3.1) with PKCE (RFC 7636). All that belongs to a sign-in that has begun
// follows from its browser's cookie, so strangers who begin one leave nothing here. Used by the
// REST interface.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <variant>

#include "service/config.hpp"
#include "service/issuers.hpp"
#include "service/web_sessions.hpp"
#include "storage/model/time.hpp"
#include "web/client.hpp"
#include "web/jwt.hpp"

namespace boost::asio {

class thread_pool;

}  // namespace boost::asio

namespace nightjar::service {

// What the name of a person's principal begins with; no configured token has such a name.
inline constexpr std::string_view person_prefix = "user:";

// Browsers take cookies of such names only from this host itself, by a secure line.
inline constexpr std::string_view session_cookie = "__Host-nightjar-session";
inline constexpr std::string_view sign_in_cookie = "__Host-nightjar-sign-in";
inline constexpr std::chrono::minutes longest_sign_in{10};

// Scheme, host and port as a browser's header Origin has them; empty for what is no URL.
std::string browser_origin(const Address& address);

// What the provider is told of a sign-in, so that its answer fits this one alone.
struct SignInSecrets {
  std::string state, nonce, verifier;
};
// `key` is the service's own, `begun` what the cookie holds.
SignInSecrets secrets_of(std::string_view key, std::string_view begun);

// Whom the claims of an ID token make a reader or an admin, or why nobody: a sentence. Neither its
// signature nor its issuer is looked at. Pure.
std::variant<web::Principal, std::string> person_of(const web::JwtClaims& claims,
                                                    const Config::SignIn& config,
                                                    std::string_view nonce);

// Parameters with which the provider sends the browser back; what is missing is empty.
struct ProviderAnswer {
  std::string code, state, issuer, error;
};

class SignIn {
 public:
  // Throws std::runtime_error if no answer came.
  using Send = std::function<web::ClientResponse(web::ClientRequest request, std::stop_token stop)>;
  // Starts no thread if nothing is configured.
  SignIn(const Config& config, const Clock& clock, Issuers::Fetch fetch = {}, Send send = {});
  ~SignIn();

  bool is_on() const { return config_.is_on(); }
  // Where finish() may wait.
  boost::asio::any_io_executor executor();
  const std::string& home() const { return home_; }  // of the page, with a slash at its end
  std::chrono::seconds lifetime() const { return config_.lifetime; }
  WebSessions& sessions() { return sessions_; }
  const WebSessions& sessions() const { return sessions_; }

  struct Begun {
    std::string provider, cookie;  // where the browser goes, and what it keeps meanwhile
  };
  // nullopt: the provider's addresses are not here yet.
  std::optional<Begun> begin();

  struct Refused {
    unsigned status;
    std::string reason;  // for the person
  };
  // A session's secret, or why there is none. Asks the provider, which may take some seconds.
  std::variant<std::string, Refused> finish(const ProviderAnswer& answer, std::string_view cookie);

 private:
  std::string endpoint(std::string Issuers::Endpoints::*which);
  std::string redeem(const std::string& code, const std::string& verifier);
  void check_signature(const web::Jwt& jwt);

  const Config::SignIn config_;
  const std::string home_, callback_, key_, secret_;
  const Clock& clock_;
  const Send send_;
  WebSessions sessions_;
  Issuers issuers_;
  std::stop_source stop_;
  std::unique_ptr<boost::asio::thread_pool> threads_;
};

}  // namespace nightjar::service
