#include "service/sign_in.hpp"

#include <algorithm>
#include <boost/asio/thread_pool.hpp>
#include <charconv>
#include <thread>

#include "storage/base/digest.hpp"
#include "storage/base/foreign_text.hpp"
#include "storage/base/log.hpp"
#include "storage/model/foreign_json.hpp"
#include "storage/model/json.hpp"
#include "storage/model/workload.hpp"
#include "web/secret.hpp"
#include "web/text.hpp"

namespace nightjar::service {
namespace {

constexpr std::chrono::seconds provider_patience{10};  // with the provider, for each of two answers
constexpr std::size_t most_answer_bytes = 1 << 20;
constexpr std::size_t longest_name = 200;

// 64 hexadecimal digits, which differ for each purpose.
std::string derived(std::string_view key, std::string_view purpose, std::string_view begun) {
  const std::string text = std::string(purpose) + ":" + std::string(begun);
  const std::string signature = web::signature_of(key, text);
  return signature.substr(signature.find('=') + 1);
}

// "<seconds since 1970>.<random>", as a cookie holds it.
bool is_young(std::string_view begun, Time now) {
  std::int64_t seconds = 0;
  const auto [end, error] = std::from_chars(begun.data(), begun.data() + begun.size(), seconds);
  if (error != std::errc() || end == begun.data() + begun.size() || *end != '.') return false;
  const auto age = std::chrono::duration_cast<std::chrono::seconds>(now.time_since_epoch()).count();
  const std::int64_t most = std::chrono::seconds(longest_sign_in).count();
  return seconds <= age && seconds > age - most;
}

std::string form_of(const std::vector<std::pair<std::string, std::string>>& fields) {
  std::string form;
  for (const auto& [name, value] : fields)
    form += (form.empty() ? "" : "&") + name + "=" + web::percent_encode(value);
  return form;
}

// RFC 6749, 2.3.1.
std::string login(const std::string& client, const std::string& secret) {
  std::string text = standard_base64(
      base64url_of(web::percent_encode(client) + ":" + web::percent_encode(secret)));
  text.append((4 - text.size() % 4) % 4, '=');
  return "Basic " + text;
}

std::string text_of_claim(const web::JwtClaims& claims, const std::string& name) {
  const auto found = claims.texts.find(name);
  return found == claims.texts.end() ? "" : found->second;
}

std::vector<std::string> claim_values(const web::JwtClaims& claims, const std::string& name) {
  if (const auto list = claims.lists.find(name); list != claims.lists.end()) return list->second;
  if (const auto text = claims.texts.find(name); text != claims.texts.end()) return {text->second};
  return {};
}

bool match_any(const std::vector<std::string>& globs, const std::vector<std::string>& values) {
  return std::ranges::any_of(globs, [&](const std::string& glob) {
    return std::ranges::any_of(values,
                               [&](const std::string& value) { return glob_match(glob, value); });
  });
}

web::ClientResponse send_over_http(web::ClientRequest request, std::stop_token stop) {
  web::Client client;
  client.stop_with(std::move(stop));
  auto result = client.send(request);
  if (!result) throw std::runtime_error(result.failure.what);
  return *std::move(result.response);
}

std::vector<OidcConfig> issuer_of(const Config::SignIn& config) {
  if (!config.is_on()) return {};
  OidcConfig issuer;
  issuer.issuer = config.issuer;
  issuer.audience = config.client_id;
  return {issuer};
}

}  // namespace

std::string browser_origin(const Address& address) {
  const auto origin = origin_of(address.text());
  if (!origin) return "";
  const bool has_colon = origin->host.find(':') != std::string::npos;
  const std::string host = has_colon ? "[" + origin->host + "]" : origin->host;
  const bool is_usual = origin->port == (origin->is_secure ? 443 : 80);
  return (origin->is_secure ? "https://" : "http://") + host +
         (is_usual ? "" : ":" + std::to_string(origin->port));
}

SignInSecrets secrets_of(std::string_view key, std::string_view begun) {
  return {derived(key, "state", begun), derived(key, "nonce", begun),
          derived(key, "verifier", begun)};
}

std::variant<web::Principal, std::string> person_of(const web::JwtClaims& claims,
                                                    const Config::SignIn& config,
                                                    std::string_view nonce) {
  if (!web::equal_in_constant_time(text_of_claim(claims, "nonce"), nonce))
    return "its token belongs to another sign-in";
  const std::string party = text_of_claim(claims, "azp");
  if ((claims.audiences.size() > 1 || !party.empty()) && party != config.client_id)
    return "its token was made for " + in_quotes(party) + ", not for this service";
  std::string name = text_of_claim(claims, config.account_claim);
  if (config.account_claim == "email" && text_of_claim(claims, "email_verified") == "false")
    return "it has not verified the address " + in_quotes(name);
  if (name.empty()) name = claims.subject;
  if (name.empty()) return "its token names nobody";
  name = std::string(person_prefix) + shortened(name, longest_name);
  const auto values = claim_values(claims, config.role_claim);
  if (match_any(config.admin, values)) return web::Principal{name, web::Role::admin};
  if (match_any(config.read, values)) return web::Principal{name, web::Role::read};
  return "no value of the claim " + in_quotes(config.role_claim) +
         " gives you a role here; ask the operator of this service";
}

SignIn::SignIn(const Config& config, const Clock& clock, Issuers::Fetch fetch, Send send)
    : config_(config.sign_in),
      home_(config.service.public_url.text() + "/"),
      callback_(home_ + "sign-in/callback"),
      key_(web::random_token()),
      secret_(read_secret(nullptr, config_.client_secret_file)),
      clock_(clock),
      send_(send ? std::move(send) : send_over_http),
      sessions_(clock),
      issuers_(issuer_of(config_), std::move(fetch)) {
  if (is_on()) threads_ = std::make_unique<boost::asio::thread_pool>(2);
}

SignIn::~SignIn() {
  stop_.request_stop();
  if (threads_) threads_->join();
}

boost::asio::any_io_executor SignIn::executor() {
  return threads_->get_executor();
}

// Empty: not known yet. Throws std::runtime_error if there is none that may be used.
std::string SignIn::endpoint(std::string Issuers::Endpoints::*which) {
  const auto known = issuers_.endpoints();
  if (!known) return "";
  const std::string& url = (*known).*which;
  const auto issuer = origin_of(config_.issuer), origin = origin_of(url);
  if (!origin || (issuer && issuer->is_secure && !origin->is_secure))
    throw std::runtime_error("the provider's document names no address that could be used for it");
  return url;
}

std::optional<SignIn::Begun> SignIn::begin() {
  const std::string url = endpoint(&Issuers::Endpoints::authorization);
  if (url.empty()) return std::nullopt;
  const auto now =
      std::chrono::duration_cast<std::chrono::seconds>(clock_.now().time_since_epoch());
  const std::string begun = std::to_string(now.count()) + "." + web::random_token();
  const SignInSecrets secrets = secrets_of(key_, begun);
  std::string scopes;
  for (const std::string& scope : config_.scopes) scopes += (scopes.empty() ? "" : " ") + scope;
  const std::string form =
      form_of({{"response_type", "code"},
               {"client_id", config_.client_id},
               {"redirect_uri", callback_},
               {"scope", scopes},
               {"state", secrets.state},
               {"nonce", secrets.nonce},
               {"code_challenge", base64url_of_hex(web::sha256(secrets.verifier).str())},
               {"code_challenge_method", "S256"}});
  return Begun{url + (url.find('?') == std::string::npos ? "?" : "&") + form, begun};
}

// The ID token that the provider gives for a code. Throws BadJwt if it refuses.
std::string SignIn::redeem(const std::string& code, const std::string& verifier) {
  web::ClientRequest request;
  request.method = "POST";
  request.url = endpoint(&Issuers::Endpoints::token);
  if (request.url.empty()) throw std::runtime_error("its addresses are not here yet");
  request.headers = {{"Content-Type", "application/x-www-form-urlencoded"},
                     {"Accept", "application/json"}};
  request.timeout = provider_patience;
  request.response_limit = most_answer_bytes;
  std::vector<std::pair<std::string, std::string>> fields{{"grant_type", "authorization_code"},
                                                          {"code", code},
                                                          {"redirect_uri", callback_},
                                                          {"code_verifier", verifier}};
  if (secret_.empty())
    fields.emplace_back("client_id", config_.client_id);
  else
    request.headers.emplace_back("Authorization", login(config_.client_id, secret_));
  request.body = form_of(fields);
  const web::ClientResponse response = send_(std::move(request), stop_.get_token());
  const auto answer = parse_foreign(response.body);
  const auto text = [&](const char* name) {
    const bool is_there =
        answer.is_object() && answer.contains(name) && answer.at(name).is_string();
    return is_there ? answer.at(name).get<std::string>() : std::string();
  };
  if (response.status == 200 && !text("id_token").empty()) return text("id_token");
  const std::string told = std::to_string(response.status) + " " + in_quotes(text("error"));
  if (response.status < 400 || web::may_pass(response.status))
    throw std::runtime_error("it answered with " + told + " and no ID token");
  throw web::BadJwt("it gives no token for this code (" + told + ")");
}

// Waits for the provider's keys. Throws BadJwt if the token is not to be believed.
void SignIn::check_signature(const web::Jwt& jwt) {
  if (jwt.claims().issuer != config_.issuer) throw web::BadJwt("its token is of another issuer");
  const auto end = std::chrono::steady_clock::now() + provider_patience;
  for (;;) {
    const auto verdict = issuers_.judge(jwt, clock_.now());
    if (std::holds_alternative<Issuers::Admitted>(verdict)) return;
    if (const auto* refused = std::get_if<Issuers::Refused>(&verdict))
      throw web::BadJwt("its token is not accepted: " + refused->reason);
    if (std::chrono::steady_clock::now() >= end || stop_.stop_requested())
      throw std::runtime_error(std::get<Issuers::NotYet>(verdict).reason);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

std::variant<std::string, SignIn::Refused> SignIn::finish(const ProviderAnswer& answer,
                                                          std::string_view cookie) {
  if (!is_young(cookie, clock_.now()))
    return Refused{400, "it was not begun in this browser, or too long ago"};
  const SignInSecrets secrets = secrets_of(key_, cookie);
  if (!web::equal_in_constant_time(answer.state, secrets.state))
    return Refused{400, "the provider's answer belongs to another sign-in"};
  if (!answer.issuer.empty() && answer.issuer != config_.issuer)
    return Refused{400, "the answer is of another provider"};
  if (!answer.error.empty()) return Refused{403, "the provider says " + in_quotes(answer.error)};
  if (answer.code.empty()) return Refused{400, "the provider's answer has no code"};
  try {
    const web::Jwt jwt = web::Jwt::parse(redeem(answer.code, secrets.verifier));
    check_signature(jwt);
    const auto person = person_of(jwt.claims(), config_, secrets.nonce);
    if (const auto* why = std::get_if<std::string>(&person)) {
      log::warn("nobody signed in subject=\"{}\" cause=\"{}\"",
                shortened(jwt.claims().subject, 100), *why);
      return Refused{403, *why};
    }
    const auto& principal = std::get<web::Principal>(person);
    log::info("signed in account={} role={} subject=\"{}\"", principal.name,
              name_of(principal.role), shortened(jwt.claims().subject, 100));
    return sessions_.open(principal, config_.lifetime);
  } catch (const web::BadJwt& bad) {
    log::warn("nobody signed in cause=\"{}\"", shortened(bad.what(), 300));
    return Refused{403, bad.what()};
  } catch (const std::exception& error) {
    log::warn("provider does not answer issuer={} cause=\"{}\"", config_.issuer,
              shortened(error.what(), 300));
    return Refused{502, "the provider does not answer as it should; try again"};
  }
}

}  // namespace nightjar::service
