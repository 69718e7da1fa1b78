#include "service/config.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <cstdlib>
#include <limits>
#include <set>
#include <stdexcept>

#include "service/report/chat.hpp"
#include "service/report/exporter.hpp"
#include "storage/base/files.hpp"
#include "storage/base/foreign_text.hpp"
#include "storage/base/pattern.hpp"
#include "storage/base/redaction.hpp"
#include "storage/base/toml.hpp"
#include "storage/model/hex.hpp"
#include "storage/model/metric.hpp"
#include "web/credentials.hpp"
#include "web/secret.hpp"
#include "web/text.hpp"

namespace nightjar::service {

namespace {

constexpr std::int64_t day_seconds = 86'400;
constexpr double usual_threshold = .07;

bool matches(const std::string& text, const char* pattern) {
  return Pattern(pattern).match(text).has_value();
}

bool is_time_of_day(const std::string& text) {
  return matches(text, "([01][0-9]|2[0-3]):[0-5][0-9]");
}

void check_glob(TomlTable& section, std::string_view key, const std::string& glob) {
  if (!matches(glob, "[A-Za-z0-9_.*?/-]+"))
    section.fail(key,
                 in_quotes(glob) + " is no glob of workload names, as \"python/*/eval/cpu/**\"");
}

void check_metric(TomlTable& section, std::string_view key, const std::string& metric) {
  if (find_metric(metric)) return;
  std::string known;
  for (const Metric& each : all_metrics())
    known += (known.empty() ? "" : ", ") + std::string(each.name);
  section.fail(key, "no metric is called " + in_quotes(metric) + "; there are " + known);
}

// Reads an address that anybody may see. An error does not repeat text that may be secret.
std::optional<Address> address_of(TomlTable& section, std::string_view key,
                                  const std::string& text) {
  if (text.find('@') != std::string::npos) {
    section.fail(key,
                 "has a user name, or another '@': addresses are shown to all readers. Write it "
                 "without, give user and password in [service] credentials_file, and replace that "
                 "password, since it may have been published");
    return std::nullopt;
  }
  auto address = Address::parse(text);
  if (!address)
    section.fail(key, "must be an http:// or https:// URL without a query, not " +
                          in_quotes(shown_url(text)));
  return address;
}

void read_address(TomlTable& section, std::string_view key, Address& address) {
  std::string text = address.text();
  section.read(key, text);
  if (text.empty() || section.is_wrong(key)) return;
  address = address_of(section, key, text).value_or(Address());
}

// The name of an issuer of tokens. It is an address that is compared letter by letter.
void read_issuer(TomlTable& section, std::string& issuer) {
  section.read("issuer", issuer);
  if (!issuer.empty() && !section.is_wrong("issuer")) address_of(section, "issuer", issuer);
}

// Origins of hosts on internal addresses.
void read_internal(TomlTable& section, std::vector<std::string>& origins) {
  section.read("internal", origins);
  for (const std::string& origin : origins) address_of(section, "internal", origin);
}

void check_there(TomlTable& section, std::string_view key, const std::filesystem::path& path) {
  std::error_code error;
  if (!path.empty() && !std::filesystem::exists(path, error))
    section.fail(key, "there is no " + in_quotes(path.string()));
}

// A file that holds a secret. Its name is not repeated, since people write the secret itself there.
bool is_secret_file(TomlTable& section, std::string_view key, const std::filesystem::path& file) {
  std::error_code error;
  const auto status = std::filesystem::status(file, error);
  if (!std::filesystem::exists(status))
    section.fail(key, "must name a file that is there, never hold the secret itself");
  else if (std::filesystem::is_directory(status))
    section.fail(key, "must name a file, not a folder");
  return !section.is_wrong(key);
}

// The environment takes precedence over the file.
void check_secret(TomlTable& section, std::string_view key, const std::filesystem::path& file,
                  const char* variable) {
  const char* value = std::getenv(variable);
  if (!file.empty() && !(value && *value)) is_secret_file(section, key, file);
}

void check_owner_name(TomlTable& section, std::string_view key, const std::string& text) {
  if (!matches(text, "[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+"))
    section.fail(key, "must be \"owner/name\", not " + in_quotes(text));
}

void check_address(TomlTable& section, std::string_view key, const std::string& text) {
  unsigned char bytes[sizeof(in6_addr)];
  if (inet_pton(AF_INET, text.c_str(), bytes) != 1 && inet_pton(AF_INET6, text.c_str(), bytes) != 1)
    section.fail(key, "must be an IPv4 or IPv6 address, not " + in_quotes(text));
}

void read_service(TomlTable section, Config::Service& service) {
  section.read("data", service.data);
  if (service.data.empty()) section.fail("data", "must name a folder");
  section.read("address", service.address);
  check_address(section, "address", service.address);
  service.port = static_cast<std::uint16_t>(section.integer("port", service.port, 0, 65535));
  section.read("open_reads", service.open_reads);
  section.read("trusted_proxies", service.trusted_proxies);
  for (const std::string& proxy : service.trusted_proxies)
    check_address(section, "trusted_proxies", proxy);
  section.read("host_names", service.host_names);
  for (const std::string& name : service.host_names)
    if (!web::host_in(name)) section.fail("host_names", in_quotes(name) + " is no host name");
  read_address(section, "public_url", service.public_url);
  section.read("credentials_file", service.credentials_file);
  if (!service.credentials_file.empty() &&
      is_secret_file(section, "credentials_file", service.credentials_file)) {
    try {
      web::Credentials::read(service.credentials_file);
    } catch (const std::runtime_error& error) {
      section.fail("credentials_file", error.what());
    }
  }
  section.read("port_file", service.port_file);
  service.samples_days =
      static_cast<int>(section.integer("samples_days", service.samples_days, 0, 36500));
  section.done();
}

}  // namespace

bool TokenConfig::is_of(const Sha256& fingerprint) const {
  return machine_classes.empty() || std::find(machine_classes.begin(), machine_classes.end(),
                                              fingerprint) != machine_classes.end();
}

namespace {

void read_tokens(TomlFile& toml, std::vector<TokenConfig>& tokens) {
  std::set<std::string> names;
  for (TomlTable& section : toml.tables("token")) {
    TokenConfig token;
    std::string role;
    section.read("name", token.name);
    section.read("role", role);
    section.read("sha256", token.sha256);
    std::vector<std::string> classes;
    section.read("machine_classes", classes);
    section.read("imports", token.imports);
    section.done();
    if (!matches(token.name, "[A-Za-z0-9_.-]+"))
      section.fail("name", "must be a name of letters, digits, '_', '.' and '-'");
    if (!names.insert(token.name).second)
      section.fail("name", in_quotes(token.name) + " is there twice");
    const auto known = enum_from<web::Role>(role);
    if (!known || *known == web::Role::none)
      section.fail("role", "must be \"read\", \"import\", \"runner\", \"builder\" or \"admin\"");
    else
      token.role = *known;
    if (!classes.empty() && !token.is_for_runners())
      section.fail("machine_classes", "is only for a token of role \"runner\" or \"builder\"");
    if (token.imports && !token.is_for_runners())
      section.fail("imports",
                   "is only for a token of role \"runner\" or \"builder\"; one that only imports "
                   "has the role \"import\"");
    for (const std::string& one : classes)
      if (const auto fingerprint = Sha256::parse(one))
        token.machine_classes.push_back(*fingerprint);
      else
        section.fail("machine_classes",
                     "must hold fingerprints of classes, as GET /api/v1/runners shows them: "
                     "64 hexadecimal digits");
    const auto hash = Sha256::parse(token.sha256);
    if (!hash)
      section.fail("sha256",
                   "must be the token's SHA-256, 64 hexadecimal digits "
                   "(tr -d '\\n' < FILE | sha256sum), never the token itself");
    else
      token.sha256 = hash->str();
    tokens.push_back(token);
  }
}

// Without a claim that says whose, every job of GitHub's customers would be let in.
void check_claims(TomlTable& section, const OidcConfig& oidc) {
  constexpr std::string_view github = "https://token.actions.githubusercontent.com";
  const std::set<std::string> whose{"repository", "repository_id", "repository_owner",
                                    "repository_owner_id", "sub"};
  const bool says_whose = std::ranges::any_of(
      oidc.claims, [&](const auto& claim) { return whose.contains(claim.first); });
  if (oidc.claims.empty() || (oidc.issuer == github && !says_whose))
    section.fail("claims", oidc.issuer == github
                               ? "must name a repository or its owner: GitHub signs everybody's"
                               : "must have at least one claim, as sub = \"...\"");
}

void read_oidc(TomlFile& toml, Config& config) {
  for (TomlTable& section : toml.tables("oidc")) {
    OidcConfig oidc;
    read_issuer(section, oidc.issuer);
    oidc.audience = config.service.public_url.text();
    section.read("audience", oidc.audience);
    section.read("keys_file", oidc.keys_file);
    oidc.lifetime = std::chrono::hours(section.integer("hours", oidc.lifetime.count(), 1, 120));
    section.table("claims").read(oidc.claims);
    section.done();
    if (oidc.issuer.empty() && !section.is_wrong("issuer"))
      section.fail("issuer", "is required, \"https://token.actions.githubusercontent.com\"");
    if (oidc.audience.empty())
      section.fail("audience", "is required where [service] public_url is not set");
    if (!section.is_wrong("issuer")) check_claims(section, oidc);
    check_there(section, "keys_file", oidc.keys_file);
    config.oidc.push_back(std::move(oidc));
  }
}

// Whether what is sent there stays between both ends.
bool is_private_line(const std::string& url) {
  const auto origin = origin_of(url);
  return origin && (origin->is_secure || origin->host == "localhost" ||
                    origin->host == "127.0.0.1" || origin->host == "::1");
}

void check_sign_in(TomlTable& section, const Address& public_url, const Config::SignIn& sign_in) {
  constexpr const char* no_line = "must be an https:// address: codes and cookies go there";
  if (!sign_in.client_secret_file.empty())
    is_secret_file(section, "client_secret_file", sign_in.client_secret_file);
  if (section.is_wrong("issuer")) return;
  if (!sign_in.is_on()) {
    if (!sign_in.client_id.empty())
      section.fail("issuer", "is required where client_id is set: who signs in to what");
    return;
  }
  if (!is_private_line(sign_in.issuer)) section.fail("issuer", no_line);
  if (public_url.empty() || !is_private_line(public_url))
    section.fail("issuer", "needs [service] public_url, which " + std::string(no_line));
  if (sign_in.client_id.empty())
    section.fail("client_id", "is required: this service's id at the provider");
  if (std::ranges::find(sign_in.scopes, "openid") == sign_in.scopes.end())
    section.fail("scopes", "must have \"openid\"");
  if (sign_in.admin.empty() && sign_in.read.empty())
    section.fail("admin", "or read must have a value of the claim " +
                              in_quotes(sign_in.role_claim) + ": nobody could sign in");
}

void read_sign_in(TomlTable section, const Address& public_url, Config::SignIn& sign_in) {
  read_issuer(section, sign_in.issuer);
  section.read("client_id", sign_in.client_id);
  section.read("client_secret_file", sign_in.client_secret_file);
  section.read("scopes", sign_in.scopes);
  section.read("role_claim", sign_in.role_claim);
  section.read("admin", sign_in.admin);
  section.read("read", sign_in.read);
  section.read("account_claim", sign_in.account_claim);
  sign_in.lifetime = std::chrono::hours(section.integer("hours", sign_in.lifetime.count(), 1, 720));
  section.done();
  check_sign_in(section, public_url, sign_in);
}

// "off", "searches" or "days:N".
std::optional<MirrorPolicy> parse_mirror(const std::string& text) {
  static const Pattern days("days:([1-9][0-9]{0,3})");
  if (const auto found = days.match(text))
    return MirrorPolicy{MirrorMode::days, std::stoi(found->at(1))};
  const auto mode = enum_from<MirrorMode>(text);
  if (!mode || *mode == MirrorMode::days) return std::nullopt;
  return MirrorPolicy{*mode};
}

void read_ci(TomlTable section, Config::Ci& ci) {
  section.read("environments", ci.environments);
  for (const std::string& glob : ci.environments)
    if (!matches(glob, "[A-Za-z0-9_.*?-]+"))
      section.fail("environments", in_quotes(glob) +
                                       " is no glob of build environments, as "
                                       "\"linux-jammy-py3.*-gcc11\"");
  read_address(section, "api", ci.api);
  read_address(section, "bucket", ci.bucket);
  section.read("repository", ci.repository);
  section.read("token_file", ci.token_file);
  std::string mirror = "searches";
  section.read("mirror", mirror);
  if (const auto policy = parse_mirror(mirror))
    ci.mirror = *policy;
  else
    section.fail("mirror",
                 "must be \"off\", \"searches\" or \"days:14\", not " + in_quotes(mirror));
  ci.wheel_bytes = static_cast<std::uint64_t>(
      section.integer("wheel_bytes", static_cast<std::int64_t>(ci.wheel_bytes), 1 << 20,
                      std::numeric_limits<std::int64_t>::max()));
  section.done();
  if (!ci.repository.empty()) check_owner_name(section, "repository", ci.repository);
  if (ci.environments.empty()) return;
  check_secret(section, "token_file", ci.token_file, github_token_variable);
}

void read_source(TomlTable section, Config::Source& source) {
  read_address(section, "index", source.index);
  read_internal(section, source.internal);
  section.read("directory", source.directory);
  section.read("variant", source.variant);
  if (!matches(source.variant, "[a-z0-9.]+"))
    section.fail("variant", "must be as a wheel's version has it, \"cpu\" or \"cu130\"");
  section.read("python_tag", source.python_tag);
  if (!matches(source.python_tag, "cp3[0-9]+t?"))
    section.fail("python_tag", "must be as a wheel's name has it, \"cp311\"");
  source.poll = std::chrono::seconds(section.integer("poll", source.poll.count(), 1, day_seconds));
  source.keep_days = static_cast<int>(section.integer("keep_days", source.keep_days, 1, 3650));
  source.stale_days = static_cast<int>(section.integer("stale_days", source.stale_days, 0, 365));
  source.first_nightlies =
      static_cast<int>(section.integer("first_nightlies", source.first_nightlies, 1, 1000));
  source.artifact_bytes = static_cast<std::uint64_t>(
      section.integer("artifact_bytes", static_cast<std::int64_t>(source.artifact_bytes), 1 << 20,
                      std::numeric_limits<std::int64_t>::max()));
  read_ci(section.table("ci"), source.ci);
  section.done();
  check_there(section, "directory", source.directory);
  if (source.index.empty() == source.directory.empty() && !section.is_wrong("index") &&
      !section.is_wrong("directory"))
    section.fail("index", "name one source of builds: either index or directory");
}

void read_sources(TomlFile& toml, Config& config) {
  std::set<std::string> variants;
  bool first = true;
  for (TomlTable& section : toml.table_or_tables("source")) {
    Config::Source source;
    read_source(section, source);
    if (!variants.insert(source.variant).second)
      section.fail("variant", in_quotes(source.variant) + " is another source's already");
    if (first)
      config.source = std::move(source);
    else
      config.more_sources.push_back(std::move(source));
    first = false;
  }
}

// A GPU variant's wheels require packages that their own index has beside them (nvidia-*,
// pytorch-triton-rocm). So those indexes come first. Empty where no index has wheels for a GPU.
std::vector<Address> usual_indexes(const Config& config) {
  auto sources = sources_of(config);
  const auto on_gpu = [](const Config::Source* one) {
    return one->variant != "cpu" && !one->index.empty();
  };
  std::vector<Address> indexes;
  if (std::ranges::none_of(sources, on_gpu)) return indexes;
  std::ranges::stable_partition(sources, on_gpu);
  for (const Config::Source* one : sources)
    if (!one->index.empty()) indexes.push_back(one->index);
  return indexes;
}

// Leaves `environment.indexes` alone where the file names none.
void read_environment(TomlTable section, Config::Environment& environment) {
  std::vector<std::string> indexes;
  if (section.has("indexes")) environment.indexes.clear();
  section.read("indexes", indexes);
  for (const std::string& index : indexes)
    if (auto address = address_of(section, "indexes", index))
      environment.indexes.push_back(*std::move(address));
  read_internal(section, environment.internal);
  section.read("uv", environment.uv);
  environment.timeout =
      std::chrono::seconds(section.integer("timeout", environment.timeout.count(), 1, day_seconds));
  section.done();
}

// The "owner/name" of a repository on GitHub; empty for any other.
std::string github_name(const std::string& url) {
  static const Pattern pattern(
      "https://github\\.com/([A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+?)(\\.git)?/?");
  const auto found = pattern.match(url);
  return found ? found->at(1) : "";
}

void read_project(TomlTable section, Config& config) {
  std::filesystem::path file;
  section.read("file", file);
  section.done();
  if (file.empty()) return;
  try {
    config.project = load_project(file);
  } catch (const std::invalid_argument& error) {
    section.fail("file", error.what());
  }
  const auto asks_ci = [](const Config::Source* one) { return !one->ci.environments.empty(); };
  if (!config.project.is_pytorch() && std::ranges::any_of(sources_of(config), asks_ci))
    section.fail("file", "is of package " + config.project.package +
                             ", but [source.ci] asks PyTorch's CI; leave its environments empty");
}

void read_repository(TomlTable section, Config::Repository& repository) {
  section.read("url", repository.url);
  if (tells_secret(repository.url))
    section.fail("url",
                 "has a password or a token: addresses are shown to all readers. Write it without, "
                 "give user and password in [service] credentials_file, and replace that password, "
                 "since it may have been published");
  // What has no scheme and is not host:path names a folder.
  if (!repository.url.empty() && repository.url.find(':') == std::string::npos) {
    std::filesystem::path folder;
    section.read("url", folder);
    repository.url = folder.string();
  }
  for (auto [key, branch] :
       {std::pair{"main", &repository.main}, {"nightly", &repository.nightly}}) {
    section.read(key, *branch);
    if (!matches(*branch, "[A-Za-z0-9_.][A-Za-z0-9_./-]*")) section.fail(key, "must name a branch");
  }
  for (auto [key, limit] : {std::pair{"fetch_timeout", &repository.fetch_timeout},
                            {"fetch_stall_timeout", &repository.fetch_stall_timeout}})
    *limit = std::chrono::seconds(section.integer(key, limit->count(), 1, 7 * day_seconds));
  repository.most_bytes = static_cast<std::uint64_t>(
      section.integer("most_bytes", static_cast<std::int64_t>(repository.most_bytes), 1 << 20,
                      std::numeric_limits<std::int64_t>::max()));
  section.done();
  if (repository.url.empty() && !section.is_wrong("url"))
    section.fail("url", "is required: the repository whose commits are watched");
}

void read_night(TomlTable section, Config::NightConfig& night) {
  section.read("at", night.at);
  if (!night.at.empty() && !is_time_of_day(night.at))
    section.fail("at", "must be a time of day in UTC, \"09:30\", or empty for no schedule, not " +
                           in_quotes(night.at));
  section.read("on_new_build", night.on_new_build);
  section.read("workloads", night.workloads);
  if (night.workloads.empty()) section.fail("workloads", "must select something");
  for (const std::string& glob : night.workloads) check_glob(section, "workloads", glob);
  section.read("metrics", night.metrics);
  if (night.metrics.empty()) section.fail("metrics", "must name something");
  for (const std::string& metric : night.metrics) check_metric(section, "metrics", metric);
  night.runs = static_cast<int>(section.integer("runs", night.runs, 1, 1000));
  night.session_workloads =
      static_cast<int>(section.integer("session_workloads", night.session_workloads, 1, 1000));
  night.profiles = static_cast<int>(section.integer("profiles", night.profiles, 0, 1000));
  night.run_seconds = section.number("run_seconds", night.run_seconds, .01, 3600);
  night.run_timeout_seconds =
      section.number("run_timeout_seconds", night.run_timeout_seconds, 1, day_seconds);
  night.run_memory_bytes = section.integer("run_memory_bytes", night.run_memory_bytes, 0,
                                           std::numeric_limits<std::int64_t>::max());
  night.threads = static_cast<int>(section.integer("threads", night.threads, 1, 4096));
  section.done();
}

void read_detection(TomlTable section, bisect::DetectionPolicy& detection) {
  detection.threshold = section.share("threshold", detection.threshold, .001, 10);
  detection.screen_change = section.share("screen_change", detection.screen_change, .001, 10);
  detection.screen_z = section.number("screen_z", detection.screen_z, 0, 10);
  detection.interval_points = section.share("interval_points", detection.interval_points, .001, 1);
  detection.confidence = section.share("confidence", detection.confidence, .5, .9999);
  section.done();
}

void read_thresholds(TomlFile& toml, std::vector<ThresholdConfig>& thresholds) {
  for (TomlTable& section : toml.tables("threshold")) {
    ThresholdConfig rule;
    section.read("workload", rule.workload);
    check_glob(section, "workload", rule.workload);
    section.read("metric", rule.metric);
    if (rule.metric != "*") check_metric(section, "metric", rule.metric);
    if (section.has("threshold"))
      rule.threshold = section.share("threshold", usual_threshold, .001, 10);
    if (section.has("floor")) rule.floor = section.number("floor", 0, 0, 1e15);
    section.done();
    if (!rule.threshold && !rule.floor)
      section.fail("threshold", "is required, or a floor, or both");
    if (rule.floor && rule.metric == "*")
      section.fail("floor", "needs a metric: it is in the metric's unit");
    thresholds.push_back(rule);
  }
}

void read_search(TomlTable section, Config& config) {
  bisect::SearchPolicy& search = config.search;
  search.threshold = section.share("threshold", search.threshold, .001, 10);
  search.certainty = section.share("certainty", search.certainty, .5, .99999);
  search.max_runs = static_cast<int>(section.integer("max_runs", search.max_runs, 10, 1'000'000));
  config.search_minutes = std::chrono::minutes(
      section.integer("max_minutes", config.search_minutes.count(), 1, 1'000'000));
  search.builds_at_once =
      static_cast<int>(section.integer("runners_at_once", search.builds_at_once, 1, 8));
  search.first_runs = static_cast<int>(section.integer("first_runs", search.first_runs, 1, 1000));
  search.session_runs =
      static_cast<int>(section.integer("session_runs", search.session_runs, 2, 100'000));
  search.build_cost = section.number("build_cost", search.build_cost, 0, 1e6);
  search.session_cost = section.number("session_cost", search.session_cost, 0, 1e6);
  config.max_named = static_cast<int>(section.integer("max_named", config.max_named, 1, 100));
  section.read("fixes", config.search_fixes);
  section.done();
}

void read_calibration(TomlTable section, Config::Calibration& calibration) {
  calibration.share = section.share("share", calibration.share, 0, .5);
  calibration.planted = section.share("planted", calibration.planted, .001, 10);
  section.done();
}

void read_queue(TomlTable section, Config::Queue& queue) {
  const auto seconds = [&](const char* key, std::chrono::seconds& value, std::int64_t low) {
    value = std::chrono::seconds(section.integer(key, value.count(), low, day_seconds));
  };
  seconds("lease", queue.lease, 1);
  seconds("tick", queue.tick, 1);
  seconds("runner_silent", queue.runner_silent, 1);
  queue.patience = std::chrono::seconds(
      section.integer("patience", queue.patience.count(), 1, 30 * day_seconds));
  section.done();
}

void read_webhook(TomlTable section, const std::string& watched, Config::Webhook& webhook) {
  section.read("secret_file", webhook.secret_file);
  section.read("branch", webhook.branch);
  webhook.repository = github_name(watched);
  section.read("repository", webhook.repository);
  section.done();
  if (!webhook.repository.empty()) check_owner_name(section, "repository", webhook.repository);
  check_secret(section, "secret_file", webhook.secret_file, webhook_secret_variable);
  if (!webhook.secret_file.empty() && webhook.repository.empty() && !section.is_wrong("repository"))
    section.fail("repository",
                 "is required where secret_file is set and repository.url is not on GitHub");
}

void read_digest(TomlTable section, Config::Report::Digest& digest) {
  std::vector<std::string> days;
  section.read("on", days);
  std::set<Weekday> known;
  for (const std::string& day : days) {
    const auto weekday = enum_from<Weekday>(day);
    if (!weekday)
      section.fail("on", "must list days as \"monday\", not " + in_quotes(day));
    else if (!known.insert(*weekday).second)
      section.fail("on", in_quotes(day) + " is there twice");
  }
  digest.on.assign(known.begin(), known.end());
  std::string at = "08:00";
  section.read("at", at);
  if (is_time_of_day(at))
    digest.at = std::chrono::hours(std::stoi(at)) + std::chrono::minutes(std::stoi(at.substr(3)));
  else
    section.fail("at", "must be a time of day in UTC, \"08:00\", not " + in_quotes(at));
  section.read("quiet", digest.quiet);
  section.read("reference", digest.reference);
  section.done();
}

void read_report(TomlTable section, Config::Report& report) {
  section.read("tracker", report.tracker);
  if (report.tracker != "dry-run" && report.tracker != "github")
    section.fail("tracker", "must be \"dry-run\" or \"github\", not " + in_quotes(report.tracker));
  section.read("directory", report.directory);
  read_address(section, "api", report.api);
  section.read("repository", report.repository);
  if (!report.repository.empty()) check_owner_name(section, "repository", report.repository);
  section.read("token_file", report.token_file);
  section.read("labels", report.labels);
  report.recovered_nights =
      static_cast<int>(section.integer("recovered_nights", report.recovered_nights, 1, 100));
  report.gather_hours =
      static_cast<int>(section.integer("gather_hours", report.gather_hours, 0, 168));
  report.profile_runs =
      static_cast<int>(section.integer("profile_runs", report.profile_runs, 0, 100));
  std::string unattributed(name_of(report.unattributed));
  section.read("unattributed", unattributed);
  if (const auto known = enum_from<UnattributedReports>(unattributed))
    report.unattributed = *known;
  else
    section.fail("unattributed",
                 "must be \"issue\", \"digest\" or \"none\", not " + in_quotes(unattributed));
  report.fixes = static_cast<int>(section.integer("fixes", report.fixes, 0, 1'000'000));
  read_digest(section.table("digest"), report.digest);
  section.done();
  if (report.tracker == "github")
    check_secret(section, "token_file", report.token_file, github_token_variable);
  if (report.tracker == "github" && report.repository.empty() && !section.is_wrong("repository"))
    section.fail("repository", "is required where tracker is \"github\": where issues are filed");
}

void read_chat(TomlTable section, ChatConfig& chat) {
  section.read("url_file", chat.url_file);
  section.read("secret_file", chat.secret_file);
  std::string format(name_of(chat.format));
  section.read("format", format);
  section.done();
  if (const auto known = enum_from<ChatFormat>(format))
    chat.format = *known;
  else
    section.fail("format",
                 "must be \"slack\", \"mattermost\" or \"json\", not " + in_quotes(format));
  if (!chat.secret_file.empty()) is_secret_file(section, "secret_file", chat.secret_file);
  if (!chat.is_on() && !chat.secret_file.empty())
    section.fail("url_file", "is required where secret_file is set: a file with the address");
  if (!chat.is_on() || !is_secret_file(section, "url_file", chat.url_file)) return;
  if (chat.secret_file.empty() && chat.format == ChatFormat::json)
    section.fail("secret_file",
                 "is required where format is \"json\": what messages are signed with");
  try {
    chat_url(chat);
  } catch (const std::runtime_error& error) {
    section.fail("url_file", error.what());
  }
}

void read_export(TomlTable section, const Config& config, ExportConfig& to) {
  to.branch = config.repository.main;
  to.repository = github_name(config.repository.url);
  read_address(section, "bucket", to.bucket);
  section.read("region", to.region);
  section.read("login_file", to.login_file);
  section.read("url_file", to.url_file);
  section.read("secret_file", to.secret_file);
  section.read("repository", to.repository);
  section.done();
  if (!matches(to.region, "[a-z0-9-]+"))
    section.fail("region", "must be a region of AWS, as \"us-east-1\"");
  if (!to.bucket.empty() && !to.url_file.empty())
    section.fail("url_file", "names a webhook, and bucket a bucket; set one of them");
  if (!to.is_on()) {
    if (!to.login_file.empty()) section.fail("bucket", "is required where login_file is set");
    if (!to.secret_file.empty()) section.fail("url_file", "is required where secret_file is set");
    return;
  }
  check_owner_name(section, "repository", to.repository);
  const bool is_bucket = !to.bucket.empty();
  const char* key = is_bucket ? "login_file" : "secret_file";
  if (!is_secret_file(section, key, is_bucket ? to.login_file : to.secret_file)) return;
  if (!is_bucket && !is_secret_file(section, "url_file", to.url_file)) return;
  try {
    is_bucket ? check_export_login(to) : static_cast<void>(export_url(to));
  } catch (const std::runtime_error& error) {
    section.fail(is_bucket ? "login_file" : "url_file", error.what());
  }
}

}  // namespace

Config load_config(const std::filesystem::path& file) {
  TomlFile toml(file);
  Config config;
  read_service(toml.table("service"), config.service);
  read_tokens(toml, config.tokens);
  read_oidc(toml, config);
  TomlTable auth = toml.table("auth");
  read_sign_in(auth.table("oidc"), config.service.public_url, config.sign_in);
  auth.done();
  read_sources(toml, config);
  config.environment.indexes = usual_indexes(config);
  read_environment(toml.table("environment"), config.environment);
  read_repository(toml.table("repository"), config.repository);
  const std::string repository = github_name(config.repository.url);
  const auto ask_there = [&](Config::Source& source) {
    if (source.ci.repository.empty()) source.ci.repository = repository;
  };
  ask_there(config.source);
  std::ranges::for_each(config.more_sources, ask_there);
  read_project(toml.table("project"), config);
  read_night(toml.table("night"), config.night);
  read_detection(toml.table("detection"), config.detection);
  read_thresholds(toml, config.thresholds);
  config.search.threshold = config.detection.threshold;
  read_search(toml.table("search"), config);
  read_calibration(toml.table("calibration"), config.calibration);
  read_queue(toml.table("queue"), config.queue);
  read_webhook(toml.table("webhook"), config.repository.url, config.webhook);
  read_report(toml.table("report"), config.report);
  read_chat(toml.table("chat"), config.chat);
  read_export(toml.table("export"), config, config.exported);
  toml.finish();
  return config;
}

std::vector<const Config::Source*> sources_of(const Config& config) {
  std::vector<const Config::Source*> sources{&config.source};
  for (const Config::Source& source : config.more_sources) sources.push_back(&source);
  return sources;
}

const Config::Source& source_of_variant(const Config& config, std::string_view variant) {
  const auto sources = sources_of(config);
  const auto found = std::find_if(sources.begin(), sources.end(), [&](const Config::Source* one) {
    return one->variant == variant;
  });
  return found == sources.end() ? config.source : **found;
}

std::string read_secret(const char* variable, const std::filesystem::path& file) {
  if (const char* value = variable ? std::getenv(variable) : nullptr; value && *value) {
    keep_secret(value);
    return value;
  }
  if (file.empty()) return "";
  constexpr std::size_t most = 1 << 20;
  const auto text = read_file(file, most);
  if (!text)
    throw std::runtime_error("cannot read a secret of at most 1 MiB from " + file.string() +
                             (variable ? ", and " + std::string(variable) + " is not set" : ""));
  std::string secret = text->substr(0, text->find('\n'));
  while (!secret.empty() && (secret.back() == '\r' || secret.back() == ' ')) secret.pop_back();
  if (secret.empty())
    throw std::runtime_error(file.string() + " holds no secret in its first line");
  keep_secret(secret);
  return secret;
}

std::vector<std::string> git_login(const Config::Repository& repository) {
  const auto origin = nightjar::origin_of(repository.url);
  const web::Login* login = origin ? web::credentials().find(*origin) : nullptr;
  if (!login) return {};
  return {"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=http." + repository.url + ".extraHeader",
          "GIT_CONFIG_VALUE_0=Authorization: " + web::basic_authorization(*login)};
}

std::vector<std::string> exposed_secrets(const Config& config) {
  std::vector<std::string> warnings;
  std::vector files{config.service.credentials_file, config.webhook.secret_file,
                    config.report.token_file,        config.chat.url_file,
                    config.chat.secret_file,         config.exported.login_file,
                    config.exported.url_file,        config.exported.secret_file};
  for (const Config::Source* one : sources_of(config)) files.push_back(one->ci.token_file);
  for (const auto& file : files)
    if (const auto warning = web::exposure(file)) warnings.push_back(*warning);
  return warnings;
}

std::optional<std::string> unbound_runner_tokens(const Config& config) {
  std::string names;
  for (const TokenConfig& token : config.tokens)
    if (token.is_for_runners() && token.machine_classes.empty())
      names += (names.empty() ? "" : ", ") + token.name;
  if (names.empty()) return std::nullopt;
  return "a runner with one of these tokens can invent measurements of any machine class: " +
         names + "; name each token's machine_classes";
}

std::string webhook_secret(const Config& config) {
  return read_secret(webhook_secret_variable, config.webhook.secret_file);
}

}  // namespace nightjar::service
