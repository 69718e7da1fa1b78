// nightjar.toml as a type: every key with its default. Tables and keys are spelled as the members
// here; durations are whole seconds, shares are .07 or "7%". An unknown key is an error that names
// it.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bisect/detection.hpp"
#include "bisect/search.hpp"
#include "service/project.hpp"
#include "service/report/chat_config.hpp"
#include "service/report/export_config.hpp"
#include "storage/model/address.hpp"
#include "storage/model/enum.hpp"
#include "storage/model/hex.hpp"
#include "web/server/message.hpp"

namespace nightjar::service {

struct TokenConfig {
  std::string name;
  web::Role role = web::Role::read;
  std::string sha256;  // of the token; the token itself is never stored
  // Fingerprints of the machine classes that its runners may be of; empty: any.
  std::vector<Sha256> machine_classes = {};
  bool imports = false;  // of a runner: its bearer may import histories, too
  bool is_of(const Sha256& fingerprint) const;
  // Runners may register with it; an admin's, which may do everything, is not meant.
  bool is_for_runners() const { return role == web::Role::runner || role == web::Role::builder; }
};

// [[oidc]]: runners enrol with the token that an OpenID Connect issuer gives to a job or a pod.
struct OidcConfig {
  std::string issuer;                         // as the claim "iss" has it, a slash included
  std::string audience;                       // default: [service] public_url
  std::filesystem::path keys_file;            // its JWK Set; empty: the one that the issuer names
  std::chrono::hours lifetime{6};             // of the token that a runner gets
  std::map<std::string, std::string> claims;  // globs by claim; all of them have to match
};

struct ThresholdConfig {
  std::string workload = "**";  // glob
  std::string metric = "*";     // or a metric's name
  std::optional<double> threshold;
  std::optional<double> floor;  // a smaller change does not count, in the metric's unit
};

// How a confirmed finding is reported if no commit could be named for it. issue: in an issue of its
// own. digest: one issue a week has all of them. none: not at all.
NIGHTJAR_ENUM(UnattributedReports, issue, digest, none);

NIGHTJAR_ENUM(Weekday, monday, tuesday, wednesday, thursday, friday, saturday, sunday);

// Which wheels of PyTorch's CI are fetched before the bucket deletes them, one a native group. off:
// only what a search had no build for. searches: all groups of open searches. days: those and the
// groups of the last `days` days.
NIGHTJAR_ENUM(MirrorMode, off, searches, days);
struct MirrorPolicy {
  MirrorMode mode = MirrorMode::searches;
  int days = 0;
};

struct Config {
  struct Service {                                 // [service]
    std::filesystem::path data = "nightjar-data";  // database, artifacts, repository
    std::string address = "127.0.0.1";
    std::uint16_t port = 8187;
    bool open_reads = true;
    std::vector<std::string> trusted_proxies;  // addresses of reverse proxies
    std::vector<std::string> host_names;       // in public DNS, besides public_url's
    Address public_url;                        // for links in reports; empty: http://address:port
    std::filesystem::path credentials_file;    // logins at other hosts, as .netrc has them
    std::filesystem::path port_file;           // written once bound; for port = 0
    int samples_days = 180;  // raw samples that nothing rests on are dropped then; 0: never
  } service;
  std::vector<TokenConfig> tokens;  // [[token]]
  std::vector<OidcConfig> oidc;     // [[oidc]]
  struct SignIn {           // [auth.oidc]: people sign in through an OpenID Connect provider
    std::string issuer;     // as the claim "iss" has it; empty: people have tokens only
    std::string client_id;  // of this service at the provider
    std::filesystem::path client_secret_file;            // empty: the provider wants none
    std::vector<std::string> scopes{"openid", "email"};  // that are asked for
    std::string role_claim = "groups";                   // a text or a list of texts
    std::vector<std::string> admin, read;  // globs over its values, by the role that they give
    std::string account_claim = "email";   // names the person in the audit; else "sub"
    std::chrono::hours lifetime{12};       // of a session
    bool is_on() const { return !issuer.empty(); }
  } sign_in;
  struct Ci {  // [source.ci]: wheels that PyTorch's CI built for one commit
    std::vector<std::string> environments;  // globs, the best first; empty: CI is not asked
    Address api = "https://api.github.com";
    Address bucket = "https://gha-artifacts.s3.amazonaws.com";
    std::string repository;                  // "owner/name"; default: repository.url's
    std::filesystem::path token_file;        // optional: GitHub then answers more requests an hour
    MirrorPolicy mirror;                     // "off", "searches" or "days:N"
    std::uint64_t wheel_bytes = 4ull << 30;  // a larger one is refused before it is fetched
  };
  struct Source {   // [source]
    Address index;  // PEP 503 base URL, e.g. https://download.pytorch.org/whl/nightly/cpu
    std::vector<std::string> internal;  // origins that its links may lead to, though not public
    std::filesystem::path directory;    // or a directory of wheels
    std::string variant = "cpu";
    std::string python_tag = "cp311";
    std::chrono::seconds poll{900};
    int keep_days = 14;       // how far back a first start looks; at least the two newest
    int stale_days = 4;       // without a new build, and the operator is told; 0: never
    int first_nightlies = 1;  // the newest that a first start proves; it measures the newest
    std::uint64_t artifact_bytes = 20ull << 30;
    Ci ci;
  } source;                          // [source], or the first [[source]]
  std::vector<Source> more_sources;  // the other [[source]], each of a variant of its own
  struct Environment {               // [environment]
    // PEP 503, the first has the say; empty: nothing is resolved. Default: the sources' own
    // indexes if one is of a GPU variant.
    std::vector<Address> indexes;
    std::vector<std::string> internal;  // as that of [source]
    std::string uv = "uv";              // the program; a name is looked for in PATH
    std::chrono::seconds timeout{600};  // of resolving the packages of one wheel
  } environment;
  struct Repository {  // [repository]
    std::string url;   // https://github.com/pytorch/pytorch, or a path (made absolute)
    std::string main = "main";
    std::string nightly = "nightly";
    std::chrono::seconds fetch_timeout{7200};       // of one fetch; the first one is the clone
    std::chrono::seconds fetch_stall_timeout{120};  // without any progress
    std::uint64_t most_bytes = 16ull << 30;  // of the copy; a fetch that brings more is ended
  } repository;
  Project project;      // [project] file; without it PyTorch, and nothing is built from source
  struct NightConfig {  // [night]
    std::string at;     // "09:30" UTC; empty: no schedule
    bool on_new_build = true;
    std::vector<std::string> workloads = {"python/**", "native/**"};  // globs
    std::vector<std::string> metrics = {"latency",           "kernel_time",     "compile_time",
                                        "peak_cpu_memory",   "peak_gpu_memory", "leaked_memory",
                                        "leaked_gpu_memory", "failures"};
    int runs = 5;
    int session_workloads = 8;  // number of workloads that a screen session interleaves
    int profiles = 3;           // workloads of a machine class that are profiled; 0: none
    double run_seconds = 2.0;
    double run_timeout_seconds = 300;
    std::int64_t run_memory_bytes = 0;
    int threads = 1;
  } night;
  bisect::DetectionPolicy detection;        // [detection]
  std::vector<ThresholdConfig> thresholds;  // [[threshold]], the last match wins
  // [search]; a commit's build is an overlay over a wheel: made in seconds, several in one session.
  bisect::SearchPolicy search{.build_cost = 1, .build_ends_session = false, .builds_at_once = 8};
  std::chrono::minutes search_minutes{12 * 60};  // [search] max_minutes, of measuring
  bool search_fixes = true;  // [search] fixes: also for the commit of a fix with its own issue
  int max_named = 3;         // [search] a culprit is at most this many neighbours; more: a range
  struct Calibration {       // [calibration]
    double share = .02;      // of a night's measuring time, for cases whose truth is known; 0: none
    double planted = .15;    // the slow-down of the planted ones
  } calibration;
  struct Queue {  // [queue]
    std::chrono::seconds lease{120};
    std::chrono::seconds tick{5};
    std::chrono::seconds runner_silent{300};  // jobs are not planned for a runner unseen for this
    std::chrono::seconds patience{86400};     // a job that no live runner can claim fails after it
  } queue;
  struct Webhook {                      // [webhook]
    std::filesystem::path secret_file;  // empty: webhooks are refused
    std::string branch = "nightly";
    std::string repository;  // "pytorch/pytorch", others are ignored; default: repository.url's
  } webhook;
  struct Report {                                 // [report]
    std::string tracker = "dry-run";              // or "github"
    std::filesystem::path directory = "reports";  // dry run
    Address api = "https://api.github.com";
    std::string repository;  // "owner/name"
    std::filesystem::path token_file;
    std::vector<std::string> labels = {"nightjar"};
    int recovered_nights = 3;
    int profile_runs = 5;  // of each side of a blamed commit, before it is reported; 0: none
    UnattributedReports unattributed = UnattributedReports::issue;
    int fixes = 0;              // workloads that a fix must make better to get an issue; 0: none
    struct Digest {             // [report.digest]
      std::vector<Weekday> on;  // its days; empty: no digest is filed
      std::chrono::minutes at{8 * 60};  // of the day, UTC
      bool quiet = false;               // also of days in which nothing got worse or better
      std::string reference;            // version of the build to compare with; empty: none
    } digest;
    int gather_hours = 12;  // findings that join an issue wait at most this long for their night
  } report;
  ChatConfig chat;        // [chat]
  ExportConfig exported;  // [export]
};

// All sources, as the file has them; never empty.
std::vector<const Config::Source*> sources_of(const Config& config);
// Returns the source of the variant; the first source if there is none.
const Config::Source& source_of_variant(const Config& config, std::string_view variant);

// Reads and checks; throws std::invalid_argument with a line for each error, which names file, line
// and key. Relative paths are relative to the file, defaults too. Required: a source (index or
// directory) and repository.url; everything else has its default.
Config load_config(const std::filesystem::path& file);

// Secrets come from the environment variable if it is set, else from the file (its first line);
// empty if there is neither. Nothing else in the configuration can be overridden by the
// environment. Throws std::runtime_error with the path if the file cannot be read or is empty.
// Without `variable` the file alone has it.
inline constexpr const char* webhook_secret_variable = "NIGHTJAR_WEBHOOK_SECRET";
inline constexpr const char* github_token_variable = "NIGHTJAR_GITHUB_TOKEN";
std::string read_secret(const char* variable, const std::filesystem::path& file);
// Variables that tell git alone the login of [service] credentials_file at the repository, if there
// is one. The environment tells nobody but this user; a command line tells every user.
std::vector<std::string> git_login(const Config::Repository& repository);
// A sentence for each secret file that every user of this machine can read.
std::vector<std::string> exposed_secrets(const Config& config);
// One sentence that names the tokens of runners which no machine class binds; nullopt: there are
// none.
std::optional<std::string> unbound_runner_tokens(const Config& config);
std::string webhook_secret(const Config& config);  // or webhook.secret_file's

}  // namespace nightjar::service
