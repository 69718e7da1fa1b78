// Whom a token of an OpenID Connect issuer lets in: a CI job's or a pod's by the configuration's
// [[oidc]], a person's by [auth.oidc]. The issuers' keys are fetched by a thread of this class, so
// no request waits for an issuer. Used by the REST interface.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "service/config.hpp"
#include "storage/model/time.hpp"
#include "web/jwt.hpp"

namespace nightjar::service {

// Why the claims do not let anybody in by this entry; empty: they do. The signature is not looked
// at. A job of a pull request is never let in, since a stranger may have written what it runs.
// Pure.
std::string objection(const web::JwtClaims& claims, const OidcConfig& oidc, Time now);

class Issuers {
 public:
  // Returns what stands at an address; throws std::runtime_error.
  using Fetch = std::function<std::string(const std::string& url, std::stop_token stop)>;
  // Starts no thread if nothing is configured.
  explicit Issuers(std::vector<OidcConfig> configured, Fetch fetch = {});
  ~Issuers();

  struct Admitted {
    const OidcConfig& by;
  };
  struct Refused {
    std::string reason;  // a sentence for the sender
  };
  struct NotYet {  // the issuer's keys are being fetched
    std::string reason;
  };
  using Verdict = std::variant<Admitted, Refused, NotYet>;
  // From any thread, without waiting.
  Verdict judge(const web::Jwt& jwt, Time now);

  // Where an issuer has people sign in, by its own document; empty if that names none.
  struct Endpoints {
    std::string authorization, token;
  };
  // Those of the first entry; nullopt until its document was fetched.
  std::optional<Endpoints> endpoints();

 private:
  using Instant = std::chrono::steady_clock::time_point;
  struct Issuer {
    OidcConfig oidc;
    std::optional<web::JwtKeys> keys = {};
    Endpoints endpoints = {};
    std::string failure = {};  // of the last attempt
    std::optional<Instant> fetched = {};
    Instant due = {};
  };

  void keep_fresh(const std::stop_token& stop);
  struct Fetched {
    web::JwtKeys keys;
    Endpoints endpoints = {};
  };
  Fetched fetch_keys(const OidcConfig& oidc, const std::stop_token& stop) const;

  const Fetch fetch_;
  std::mutex mutex_;  // of the issuers
  std::condition_variable_any changed_;
  std::vector<Issuer> issuers_;
  std::jthread thread_;
};

}  // namespace nightjar::service
