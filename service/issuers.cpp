#include "service/issuers.hpp"

#include <algorithm>

#include "storage/base/files.hpp"
#include "storage/base/foreign_text.hpp"
#include "storage/base/log.hpp"
#include "storage/model/foreign_json.hpp"
#include "storage/model/json.hpp"
#include "storage/model/workload.hpp"
#include "web/client.hpp"

namespace nightjar::service {
namespace {

constexpr std::chrono::seconds most_skew{60};        // between the issuer's clock and this one
constexpr std::chrono::minutes between_fetches{60};  // keys are replaced every few weeks
constexpr std::chrono::seconds after_failure{60};
// An unknown key is believed to be unknown if the issuer's keys are as fresh as this.
constexpr std::chrono::seconds fresh_enough{60};
constexpr std::size_t most_key_bytes = 1 << 20;

std::string fetch_over_http(const std::string& url, std::stop_token stop) {
  web::Client client;
  client.stop_with(std::move(stop));
  web::ClientRequest request;
  request.url = url;
  request.timeout = std::chrono::seconds(10);
  request.response_limit = most_key_bytes;
  const auto result = client.send(request);
  if (!result) throw std::runtime_error(result.failure.what);
  if (result.response->status != 200)
    throw std::runtime_error(url + " answered with " + std::to_string(result.response->status));
  return result.response->body;
}

bool is_of_pull_request(const web::JwtClaims& claims) {
  const auto starts = [&](const char* claim, std::string_view with) {
    const auto found = claims.texts.find(claim);
    return found != claims.texts.end() && found->second.starts_with(with);
  };
  return starts("event_name", "pull_request") || starts("ref", "refs/pull/");
}

}  // namespace

std::string objection(const web::JwtClaims& claims, const OidcConfig& oidc, Time now) {
  if (claims.issuer != oidc.issuer) return "it is of another issuer";
  if (std::ranges::find(claims.audiences, oidc.audience) == claims.audiences.end())
    return "it is for another audience than " + oidc.audience;
  if (claims.ends + most_skew <= now) return "it ended at " + to_rfc3339(claims.ends);
  if (claims.begins && *claims.begins - most_skew > now)
    return "it is not valid before " + to_rfc3339(*claims.begins);
  if (is_of_pull_request(claims)) return "it is of a pull request's job";
  for (const auto& [name, glob] : oidc.claims) {
    const auto found = claims.texts.find(name);
    if (found == claims.texts.end()) return "it has no claim " + in_quotes(name);
    if (!glob_match(glob, found->second))
      return "its claim " + in_quotes(name) + " is " + in_quotes(found->second) + ", not " +
             in_quotes(glob);
  }
  return "";
}

Issuers::Issuers(std::vector<OidcConfig> configured, Fetch fetch)
    : fetch_(fetch ? std::move(fetch) : fetch_over_http) {
  for (OidcConfig& one : configured) issuers_.push_back({std::move(one)});
  if (!issuers_.empty())
    thread_ = std::jthread([this](const std::stop_token& stop) { keep_fresh(stop); });
}

Issuers::~Issuers() = default;

Issuers::Verdict Issuers::judge(const web::Jwt& jwt, Time now) {
  std::string why = "no [[oidc]] of this service has its issuer";
  const std::lock_guard lock(mutex_);
  for (Issuer& issuer : issuers_) {
    if (issuer.oidc.issuer != jwt.claims().issuer) continue;
    why = objection(jwt.claims(), issuer.oidc, now);
    if (!why.empty()) continue;
    const Instant instant = std::chrono::steady_clock::now();
    const bool is_fresh = issuer.fetched && instant - *issuer.fetched < fresh_enough;
    if (!issuer.keys || (!issuer.keys->has(jwt.key_id()) && !is_fresh)) {
      if (issuer.failure.empty()) issuer.due = std::min(issuer.due, instant);
      changed_.notify_all();
      return NotYet{"The keys of " + issuer.oidc.issuer + " are being fetched" +
                    (issuer.failure.empty() ? "" : ", which failed: " + issuer.failure) + "."};
    }
    try {
      issuer.keys->verify(jwt);
      return Admitted{issuer.oidc};
    } catch (const web::BadJwt& bad) {
      return Refused{bad.what()};  // another entry of the issuer has the same keys
    }
  }
  return Refused{why};
}

std::optional<Issuers::Endpoints> Issuers::endpoints() {
  const std::lock_guard lock(mutex_);
  if (issuers_.empty() || !issuers_.front().keys) return std::nullopt;
  return issuers_.front().endpoints;
}

Issuers::Fetched Issuers::fetch_keys(const OidcConfig& oidc, const std::stop_token& stop) const {
  if (!oidc.keys_file.empty()) {
    const auto text = read_file(oidc.keys_file, most_key_bytes);
    if (!text) throw std::runtime_error("cannot read " + oidc.keys_file.string());
    return {web::JwtKeys::parse(*text)};
  }
  std::string issuer = oidc.issuer;
  while (issuer.ends_with('/')) issuer.pop_back();
  const std::string at = issuer + "/.well-known/openid-configuration";
  const auto document = parse_foreign(fetch_(at, stop));
  const auto text = [&](const char* name) {
    const auto found = document.is_object() ? document.find(name) : document.end();
    const bool is_there = document.is_object() && found != document.end() && found->is_string();
    return is_there ? found->get<std::string>() : std::string();
  };
  if (text("issuer") != oidc.issuer)
    throw std::runtime_error(at + " is of the issuer " + in_quotes(text("issuer")));
  if (text("jwks_uri").empty()) throw std::runtime_error(at + " has no \"jwks_uri\"");
  return {web::JwtKeys::parse(fetch_(text("jwks_uri"), stop)),
          {text("authorization_endpoint"), text("token_endpoint")}};
}

void Issuers::keep_fresh(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    const auto next = std::ranges::min_element(issuers_, {}, &Issuer::due);
    if (next->due > std::chrono::steady_clock::now()) {
      const Instant due = next->due;
      changed_.wait_until(lock, stop, due, [&] {
        return std::ranges::any_of(issuers_, [&](const Issuer& one) { return one.due < due; });
      });
      continue;
    }
    lock.unlock();
    std::optional<Fetched> fetched;
    std::string failure;
    try {
      fetched = fetch_keys(next->oidc, stop);
    } catch (const std::exception& error) {
      failure = shortened(error.what(), 300);
      log::warn("keys of an issuer not fetched issuer={} cause=\"{}\"", next->oidc.issuer, failure);
    }
    lock.lock();
    const Instant now = std::chrono::steady_clock::now();
    next->failure = failure;
    next->due = now + (fetched ? Instant::duration(between_fetches) : after_failure);
    if (!fetched) continue;  // the keys of before stay
    next->fetched = now;
    next->keys = std::move(fetched->keys);
    next->endpoints = std::move(fetched->endpoints);
  }
}

}  // namespace nightjar::service
