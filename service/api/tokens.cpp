#include "service/api/tokens.hpp"

#include "web/secret.hpp"

namespace nightjar::service::api {
namespace {

constexpr std::string_view enrolled_prefix = "runner:";

}  // namespace

std::string principal_of_runner(std::string_view runner) {
  return std::string(enrolled_prefix) + std::string(runner);
}

std::optional<std::string_view> bound_runner(std::string_view principal) {
  if (!principal.starts_with(enrolled_prefix)) return std::nullopt;
  return principal.substr(enrolled_prefix.size());
}

std::optional<web::Principal> configured_principal(const std::vector<TokenConfig>& configured,
                                                   const Sha256& hash) {
  std::optional<web::Principal> found;
  for (const TokenConfig& known : configured)  // all of them, so that time tells nothing
    if (web::equal_in_constant_time(hash.str(), known.sha256))
      found = {known.name, known.role, known.imports};
  return found;
}

Tokens::Tokens(const Config& config, const Clock& clock)
    : configured_(config.tokens), clock_(clock), issuers_(config.oidc), sign_in_(config, clock) {}

std::optional<web::Principal> Tokens::principal_of(std::string_view token) const {
  const Sha256 hash = web::sha256(token);
  if (auto configured = configured_principal(configured_, hash)) return configured;
  std::shared_ptr<const Enrolled> enrolled;
  std::function<void(const Sha256&)> first_use;
  {
    const std::lock_guard lock(mutex_);
    enrolled = enrolled_;
    first_use = first_use_;
  }
  const auto own = enrolled->find(hash);  // time tells of a hash, not of the token
  if (own == enrolled->end()) return std::nullopt;
  using enum storage::RunnerTokenState;
  const auto state = state_of(own->second, clock_.now());
  if (state == ended || state == revoked) return std::nullopt;
  if (!own->second.used_at && first_use) first_use(hash);
  return web::Principal{principal_of_runner(own->second.runner),
                        own->second.builder ? web::Role::builder : web::Role::runner};
}

void Tokens::load(const storage::Database& db) {
  auto loaded = std::make_shared<Enrolled>();
  for (auto& token : storage::accepted_runner_tokens(db, clock_.now()))
    loaded->emplace(token.sha256, token);
  const std::lock_guard lock(mutex_);
  enrolled_ = std::move(loaded);
}

void Tokens::on_first_use(std::function<void(const Sha256&)> callback) {
  const std::lock_guard lock(mutex_);
  first_use_ = std::move(callback);
}

}  // namespace nightjar::service::api
