#include "service/config.hpp"

#include <cstdlib>
#include <regex>
#include <set>
#include <sstream>

#include <catch2/catch.hpp>

#include "service/local_runner.hpp"
#include "tests/service/builds/support.hpp"
#include "tests/support/source_tree.hpp"

using namespace nightjar;
using namespace nightjar::service;
using Catch::Contains;
using Catch::StartsWith;
using nightjar::test::ScratchFolder;
using nightjar::test::write_file;

namespace {

const std::string least =
    "[source]\nindex = \"https://wheels.test/nightly/cpu\"\n"
    "[repository]\nurl = \"https://github.com/pytorch/pytorch\"\n";

const std::string every_key = R"(
[service]
data = "../var"
address = "::1"
port = 0
open_reads = false
trusted_proxies = ["127.0.0.1", "::1"]
host_names = ["nightjar.lab.test"]
public_url = "https://nightjar.test/"
port_file = "/run/nightjar.port"
credentials_file = "credentials"
samples_days = 30
[[token]]
name = "r1"
role = "runner"
sha256 = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
machine_classes = ["cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"]
imports = true
[[token]]
name = "boss"
role = "admin"
sha256 = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
[[oidc]]
issuer = "https://issuer.test"
audience = "https://nightjar.test"
keys_file = "token"
hours = 2
claims = { sub = "pod" }
[auth.oidc]
issuer = "https://login.test/realm/"
client_id = "nightjar"
client_secret_file = "token"
scopes = ["openid", "groups"]
role_claim = "roles"
admin = ["perf-*"]
read = ["staff"]
account_claim = "upn"
hours = 8
[source]
directory = "wheels"
variant = "cu130"
python_tag = "cp312"
poll = 7
keep_days = 3
stale_days = 9
first_nightlies = 2
internal = ["https://wheels.test"]
artifact_bytes = 1_048_576
[source.ci]
environments = ["linux-jammy-cuda13.*-py3.*-gcc11"]
api = "https://github.test/api/"
bucket = "https://artifacts.test"
repository = "owner/name"
token_file = "token"
mirror = "days:14"
wheel_bytes = 2_097_152
[environment]
indexes = ["https://index.test/simple", "https://other.test"]
internal = ["https://files.test"]
uv = "/opt/uv"
timeout = 9
[repository]
url = "repo.git"
main = "trunk"
nightly = "release/nightly"
fetch_timeout = 600
fetch_stall_timeout = 20
most_bytes = 3_000_000
[project]
file = ""
[night]
at = "23:59"
on_new_build = false
workloads = ["python/*/eval/cpu/**"]
metrics = ["latency"]
runs = 3
session_workloads = 2
profiles = 4
run_seconds = 1
run_timeout_seconds = 60.5
run_memory_bytes = 1000
threads = 2
[detection]
threshold = "10%"
screen_change = 0.05
screen_z = 2
interval_points = 0.04
confidence = 0.9
[[threshold]]
workload = "native/**"
metric = "peak_cpu_memory"
threshold = "2.5%"
floor = 1e6
[search]
threshold = 0.05
certainty = 0.95
max_runs = 100
max_minutes = 90
max_named = 2
fixes = false
runners_at_once = 3
first_runs = 4
session_runs = 32
build_cost = 10
session_cost = 1.5
[calibration]
share = 0.1
planted = "20%"
[queue]
lease = 9
tick = 1
runner_silent = 11
patience = 12
[webhook]
secret_file = "hook"
branch = "night"
repository = "me/fork"
[report]
tracker = "github"
directory = "out"
api = "http://127.0.0.1:9/api/"
repository = "me/reports"
token_file = "token"
labels = ["a", "b"]
recovered_nights = 2
profile_runs = 3
gather_hours = 6
unattributed = "digest"
fixes = 5
[report.digest]
on = ["friday", "monday"]
at = "07:30"
quiet = true
reference = "2.14.0+cpu"
[chat]
url_file = "chat"
secret_file = "hook"
format = "mattermost"
[export]
bucket = "https://bucket.test/folder/"
region = "eu-west-1"
login_file = "login"
secret_file = "hook"
repository = "me/fork"
)";

// "table.key" of each line.
std::set<std::string> keys_of(const std::string& toml) {
  std::set<std::string> keys;
  std::string table;
  std::istringstream lines(toml);
  std::smatch match;
  for (std::string line; std::getline(lines, line);) {
    if (std::regex_search(line, match, std::regex("^\\[+([a-z]+)\\]"))) table = match[1];
    if (std::regex_search(line, match, std::regex("^([a-z_0-9]+) = ")))
      keys.insert(table + "." + match[1].str());
  }
  return keys;
}

std::string error_of(const std::filesystem::path& file) {
  try {
    load_config(file);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("a configuration with a source and a repository has a default for all else") {
  const ScratchFolder folder;
  const Config config = load_config(write_file(folder / "n.toml", least));
  CHECK(config.source.index == "https://wheels.test/nightly/cpu");
  CHECK(config.service.port == 8187);
  CHECK(config.service.data == folder / "nightjar-data");
  CHECK(config.report.directory == folder / "reports");
  CHECK(config.report.token_file.empty());
  CHECK(config.report.fixes == 0);
  CHECK(config.report.digest.on.empty());
  CHECK(config.webhook.repository == "pytorch/pytorch");
  CHECK(config.night.workloads == std::vector<std::string>{"python/**", "native/**"});
  CHECK(config.search.max_runs == bisect::SearchPolicy{}.max_runs);
  CHECK(config.tokens.empty());
}

TEST_CASE("several sources each have a variant, and each may ask CI") {
  const ScratchFolder folder;
  const std::string rest = "[repository]\nurl = \"https://github.com/pytorch/pytorch\"\n";
  const std::string cpu = "[[source]]\nindex = \"https://wheels.test/cpu\"\n";
  const std::string cuda =
      "[[source]]\nindex = \"https://wheels.test/cu126\"\nvariant = \"cu126\"\npoll = 60\n";
  const Config config = load_config(
      write_file(folder / "a.toml", cpu + "[source.ci]\nenvironments = [\"a*\"]\n" + cuda + rest));
  CHECK((config.source.variant == "cpu" && config.source.ci.environments.size() == 1));
  REQUIRE(config.more_sources.size() == 1);
  CHECK(config.more_sources[0].index == "https://wheels.test/cu126");
  CHECK(sources_of(config).size() == 2);
  CHECK(config.environment.indexes ==
        std::vector<Address>{"https://wheels.test/cu126", "https://wheels.test/cpu"});
  const auto indexes_of = [&](const std::string& text) {
    return load_config(write_file(folder / "e.toml", text)).environment.indexes;
  };
  CHECK(indexes_of(cpu + rest).empty());
  CHECK(indexes_of(cpu + cuda + rest + "[environment]\nindexes = []\n").empty());
  CHECK(source_of_variant(config, "cu126").poll.count() == 60);
  CHECK(&source_of_variant(config, "rocm7.2") == &config.source);
  CHECK_THAT(error_of(write_file(folder / "b.toml", cpu + cpu + rest)),
             Contains("source.variant: 'cpu' is another source's already"));
  const Config::Source both =
      load_config(write_file(folder / "c.toml",
                             cpu + cuda + "[source.ci]\nenvironments = [\"b*\"]\n" + rest))
          .more_sources.at(0);
  CHECK(both.ci.environments == std::vector<std::string>{"b*"});
  CHECK(both.ci.repository == "pytorch/pytorch");
  CHECK_THAT(error_of(write_file(folder / "d.toml", "source = 3\n" + rest)),
             Contains("source: must be a table, [source]"));
}

TEST_CASE("an issuer of jobs' tokens needs an audience, and claims that say whose jobs") {
  const ScratchFolder folder;
  const std::string github = "[[oidc]]\nissuer = \"https://token.actions.githubusercontent.com\"\n";
  const auto read = [&](const std::string& oidc) {
    return write_file(folder / "o.toml", least + oidc);
  };
  const std::string to_us = "audience = \"https://nightjar.test\"\n";
  const auto config = load_config(read(github + to_us +
                                       "hours = 2\n[oidc.claims]\nrepository = "
                                       "\"octo/pytorch\"\n"));
  REQUIRE(config.oidc.size() == 1);
  CHECK(config.oidc[0].lifetime == std::chrono::hours(2));
  CHECK(config.oidc[0].claims.at("repository") == "octo/pytorch");
  CHECK_THAT(error_of(read(github + "[oidc.claims]\nrepository = \"octo/pytorch\"\n")),
             Contains("oidc.audience: is required where [service] public_url is not set"));
  CHECK_THAT(error_of(read(github + to_us + "[oidc.claims]\nref = \"refs/heads/main\"\n")),
             Contains("oidc.claims: must name a repository or its owner"));
  CHECK_THAT(error_of(read("[[oidc]]\nissuer = \"https://cluster.test\"\n" + to_us)),
             Contains("oidc.claims: must have at least one claim"));
}

TEST_CASE("signing in needs a secure line, a client, and somebody who may") {
  const ScratchFolder folder;
  const auto told = [&](const std::string& url, const std::string& keys) {
    return error_of(write_file(folder / "s.toml", "[service]\npublic_url = \"" + url + "\"\n" +
                                                      least + "[auth.oidc]\n" + keys));
  };
  const std::string us = "https://nightjar.test", client = "client_id = \"n\"\n";
  const std::string whole = "issuer = \"https://login.test\"\n" + client + "read = [\"*\"]\n";
  CHECK(load_config(write_file(folder / "a.toml", "[service]\npublic_url = \"" + us + "\"\n" +
                                                      least + "[auth.oidc]\n" + whole))
            .sign_in.is_on());
  CHECK_THAT(told("http://nightjar.test", whole), Contains("must be an https:// address"));
  CHECK_THAT(told(us, "issuer = \"http://login.test\"\n" + client), Contains("https:// address"));
  CHECK_THAT(told(us, client), Contains("issuer: is required where client_id is set"));
  CHECK_THAT(told(us, "issuer = \"https://login.test\"\n"), Contains("client_id: is required"));
  CHECK_THAT(told(us, "issuer = \"https://login.test\"\n" + client),
             Contains("nobody could sign in"));
  CHECK_THAT(told(us, whole + "scopes = [\"email\"]\n"), Contains("must have \"openid\""));
}

TEST_CASE("searches use the threshold of the detection where they have none of their own") {
  const ScratchFolder folder;
  const std::string detection = least + "[detection]\nthreshold = 0.12\n";
  CHECK(load_config(write_file(folder / "a.toml", detection)).search.threshold == Approx(.12));
  const std::string both = detection + "[search]\nthreshold = 0.2\n";
  CHECK(load_config(write_file(folder / "b.toml", both)).search.threshold == Approx(.2));
}

TEST_CASE("every key of the configuration arrives") {
  const ScratchFolder folder;
  for (const char* named : {"etc/wheels/one", "etc/hook", "etc/token", "etc/credentials"})
    write_file(folder / named, named == std::string("etc/credentials") ? "" : "there");
  write_file(folder / "etc/chat", "https://chat.test/hooks/token\n");
  write_file(folder / "etc/login", "KEY:SECRET\n");
  const Config config = load_config(write_file(folder / "etc/n.toml", every_key));
  CHECK(config.service.data == folder / "var");
  CHECK(config.service.address == "::1");
  CHECK(config.service.port == 0);
  CHECK_FALSE(config.service.open_reads);
  CHECK(config.service.trusted_proxies == std::vector<std::string>{"127.0.0.1", "::1"});
  CHECK(config.service.host_names == std::vector<std::string>{"nightjar.lab.test"});
  CHECK(config.service.public_url == "https://nightjar.test");
  CHECK(config.service.port_file == "/run/nightjar.port");
  CHECK(config.service.samples_days == 30);
  REQUIRE(config.oidc.size() == 1);
  CHECK(config.oidc[0].keys_file == folder / "etc/token");
  CHECK(config.oidc[0].claims == std::map<std::string, std::string>{{"sub", "pod"}});
  CHECK(config.sign_in.issuer == "https://login.test/realm/");
  CHECK(config.sign_in.client_id == "nightjar");
  CHECK(config.sign_in.client_secret_file == folder / "etc/token");
  CHECK(config.sign_in.scopes == std::vector<std::string>{"openid", "groups"});
  CHECK(config.sign_in.role_claim == "roles");
  CHECK(config.sign_in.admin == std::vector<std::string>{"perf-*"});
  CHECK(config.sign_in.read == std::vector<std::string>{"staff"});
  CHECK(config.sign_in.account_claim == "upn");
  CHECK(config.sign_in.lifetime == std::chrono::hours(8));
  REQUIRE(config.tokens.size() == 2);
  CHECK(config.tokens[0].role == web::Role::runner);
  CHECK(config.tokens[0].sha256 == std::string(64, 'a'));
  CHECK(config.tokens[0].is_of(*Sha256::parse(std::string(64, 'c'))));
  CHECK_FALSE(config.tokens[0].is_of(*Sha256::parse(std::string(64, 'd'))));
  CHECK(config.tokens[0].imports);
  CHECK(config.tokens[1].name == "boss");
  CHECK(config.tokens[1].is_of(*Sha256::parse(std::string(64, 'd'))));
  CHECK(config.source.index.empty());
  CHECK(config.source.directory == folder / "etc/wheels");
  CHECK(config.source.variant == "cu130");
  CHECK(config.source.python_tag == "cp312");
  CHECK(config.source.poll.count() == 7);
  CHECK(config.source.keep_days == 3);
  CHECK(config.source.stale_days == 9);
  CHECK(config.source.first_nightlies == 2);
  CHECK(config.source.artifact_bytes == 1048576);
  CHECK(config.environment.indexes ==
        std::vector<Address>{"https://index.test/simple", "https://other.test"});
  CHECK(config.environment.internal == std::vector<std::string>{"https://files.test"});
  CHECK(config.source.internal == std::vector<std::string>{"https://wheels.test"});
  CHECK(config.service.credentials_file == folder / "etc/credentials");
  CHECK(config.environment.uv == "/opt/uv");
  CHECK(config.environment.timeout.count() == 9);
  CHECK(config.source.ci.environments ==
        std::vector<std::string>{"linux-jammy-cuda13.*-py3.*-gcc11"});
  CHECK(config.source.ci.api == "https://github.test/api");
  CHECK(config.source.ci.bucket == "https://artifacts.test");
  CHECK(config.source.ci.repository == "owner/name");
  CHECK(config.source.ci.token_file == folder / "etc/token");
  CHECK(config.source.ci.mirror.mode == MirrorMode::days);
  CHECK(config.source.ci.mirror.days == 14);
  CHECK(config.source.ci.wheel_bytes == 2097152);
  CHECK(config.repository.url == (folder / "etc/repo.git").string());
  CHECK(config.repository.main == "trunk");
  CHECK(config.repository.nightly == "release/nightly");
  CHECK(config.repository.fetch_timeout.count() == 600);
  CHECK(config.repository.fetch_stall_timeout.count() == 20);
  CHECK(config.repository.most_bytes == 3'000'000);
  CHECK(config.night.at == "23:59");
  CHECK_FALSE(config.night.on_new_build);
  CHECK(config.night.workloads == std::vector<std::string>{"python/*/eval/cpu/**"});
  CHECK(config.night.metrics == std::vector<std::string>{"latency"});
  CHECK(config.night.runs == 3);
  CHECK(config.night.profiles == 4);
  CHECK(config.night.session_workloads == 2);
  CHECK(config.night.run_seconds == 1);
  CHECK(config.night.run_timeout_seconds == 60.5);
  CHECK(config.night.run_memory_bytes == 1000);
  CHECK(config.night.threads == 2);
  CHECK(config.detection.threshold == Approx(.1));
  CHECK(config.detection.screen_change == .05);
  CHECK(config.detection.screen_z == 2);
  CHECK(config.detection.interval_points == .04);
  CHECK(config.detection.confidence == .9);
  REQUIRE(config.thresholds.size() == 1);
  CHECK(config.thresholds[0].workload == "native/**");
  CHECK(config.thresholds[0].metric == "peak_cpu_memory");
  CHECK(config.thresholds[0].threshold.value() == Approx(.025));
  CHECK(config.thresholds[0].floor == 1e6);
  CHECK(config.search.threshold == .05);
  CHECK(config.search.certainty == .95);
  CHECK(config.search.max_runs == 100);
  CHECK(config.search_minutes == std::chrono::minutes(90));
  CHECK(config.max_named == 2);
  CHECK_FALSE(config.search_fixes);
  CHECK(config.search.builds_at_once == 3);
  CHECK(config.search.first_runs == 4);
  CHECK(config.search.session_runs == 32);
  CHECK(config.search.build_cost == 10);
  CHECK(config.search.session_cost == 1.5);
  CHECK(config.queue.lease.count() == 9);
  CHECK(config.queue.tick.count() == 1);
  CHECK(config.queue.runner_silent.count() == 11);
  CHECK(config.queue.patience.count() == 12);
  CHECK(config.webhook.secret_file == folder / "etc/hook");
  CHECK(config.webhook.branch == "night");
  CHECK(config.webhook.repository == "me/fork");
  CHECK(config.report.tracker == "github");
  CHECK(config.report.directory == folder / "etc/out");
  CHECK(config.report.api == "http://127.0.0.1:9/api");
  CHECK(config.report.repository == "me/reports");
  CHECK(config.report.token_file == folder / "etc/token");
  CHECK(config.report.labels == std::vector<std::string>{"a", "b"});
  CHECK(config.report.recovered_nights == 2);
  CHECK(config.report.profile_runs == 3);
  CHECK(config.report.gather_hours == 6);
  CHECK(config.report.unattributed == UnattributedReports::digest);
  CHECK(config.report.fixes == 5);
  CHECK(config.report.digest.on == std::vector{Weekday::monday, Weekday::friday});
  CHECK(config.report.digest.at == std::chrono::minutes(7 * 60 + 30));
  CHECK(config.report.digest.quiet);
  CHECK(config.report.digest.reference == "2.14.0+cpu");
  CHECK(config.chat.url_file == folder / "etc/chat");
  CHECK(config.chat.secret_file == folder / "etc/hook");
  CHECK(config.chat.format == ChatFormat::mattermost);
  CHECK(config.exported.bucket == "https://bucket.test/folder");
  CHECK(config.exported.region == "eu-west-1");
  CHECK(config.exported.login_file == folder / "etc/login");
  CHECK(config.exported.secret_file == folder / "etc/hook");
  CHECK(config.exported.repository == "me/fork");
  CHECK(config.exported.branch == "trunk");
}

TEST_CASE("what is wrong in a configuration is told in lines that name file, line and key") {
  struct Row {
    const char* name;
    const char* text;  // after `least`, so that its first line is line 5
    const char* message;
  };
  const auto row = GENERATE(values<Row>({
      {"unknown key", "[night]\nrun = 5\n", ":6: night.run: unknown key"},
      {"unknown table", "[nite]\nruns = 5\n", ":5: nite: unknown key"},
      {"unknown key of a token", "[[token]]\ntoken = \"x\"\n", ":6: token.token: unknown key"},
      {"text for a number", "[night]\nruns = \"5\"\n", ":6: night.runs: must be a whole number"},
      {"fraction", "[night]\nruns = 5.5\n", ":6: night.runs: must be a whole number from 1 to"},
      {"number for text", "[night]\nat = 9\n", ":6: night.at: must be text"},
      {"number for a flag", "[night]\non_new_build = 1\n",
       ":6: night.on_new_build: must be true or"},
      {"text for a list", "[night]\nworkloads = \"**\"\n", ":6: night.workloads: must be a list"},
      {"value for a table", "[queue]\n[night.at]\n", ":6: night.at: must be text"},
      {"port", "[service]\nport = 65536\n",
       ":6: service.port: must be a whole number from 0 to 65535"},
      {"address", "[service]\naddress = \"here\"\n", ":6: service.address: must be an IPv4"},
      {"time", "[night]\nat = \"24:00\"\n", ":6: night.at: must be a time of day in UTC"},
      {"glob", "[night]\nworkloads = [\"python/[ab]\"]\n",
       ":6: night.workloads: 'python/[ab]' is no"},
      {"metric", "[night]\nmetrics = [\"speed\"]\n",
       ":6: night.metrics: no metric is called 'speed'"},
      {"role", "[[token]]\nname = \"a\"\nrole = \"root\"\n", ":7: token.role: must be \"read\","},
      {"class by its name",
       "[[token]]\nname = \"a\"\nrole = \"runner\"\nmachine_classes = [\"lab\"]\n",
       ":8: token.machine_classes: must hold fingerprints"},
      {"classes of a reader",
       "[[token]]\nname = \"a\"\nrole = \"read\"\nmachine_classes = [\"lab\"]\n",
       ":8: token.machine_classes: is only for a token of role \"runner\" or \"builder\""},
      {"imports of an admin", "[[token]]\nname = \"a\"\nrole = \"admin\"\nimports = true\n",
       ":8: token.imports: is only for a token of role \"runner\" or \"builder\""},
      {"token itself", "[[token]]\nname = \"a\"\nrole = \"read\"\nsha256 = \"secret\"\n",
       ":8: token.sha256: must be the token's SHA-256"},
      {"number for a share", "[detection]\nthreshold = 7\n",
       ":6: detection.threshold: 7 is no share; did you mean \"7%\" or 0.07?"},
      {"text for a share", "[detection]\nthreshold = \"7\"\n",
       ":6: detection.threshold: '7' is no share; did you mean 7%?"},
      {"flag for a share", "[detection]\nthreshold = true\n",
       ":6: detection.threshold: must be a share"},
      {"negative share", "[detection]\nthreshold = -0.07\n",
       ":6: detection.threshold: must be a share"},
      {"share out of range", "[calibration]\nshare = \"60%\"\n",
       ":6: calibration.share: must be a share from 0 to 0.5"},
      {"folder as secret", "[webhook]\nsecret_file = \"/tmp\"\n",
       ":6: webhook.secret_file: must name a file, not a folder"},
      {"missing secret", "[webhook]\nsecret_file = \"none\"\n",
       ":6: webhook.secret_file: must name a file that is there"},
      {"threshold without one", "[[threshold]]\nmetric = \"*\"\n",
       ":5: threshold.threshold: is requ"},
      {"floor of all metrics", "[[threshold]]\nfloor = 1\n",
       ":6: threshold.floor: needs a metric: it is in the metric's unit"},
      {"tracker", "[report]\ntracker = \"jira\"\n", ":6: report.tracker: must be \"dry-run\" or"},
      {"github without a repository", "[report]\ntracker = \"github\"\n",
       "report.repository: is requ"},
      {"day", "[report.digest]\non = [\"mon\"]\n",
       ":6: report.digest.on: must list days as \"monday\", not 'mon'"},
      {"day twice", "[report.digest]\non = [\"monday\", \"monday\"]\n",
       ":6: report.digest.on: 'monday' is there twice"},
      {"hour of a day", "[report.digest]\nat = \"8:00\"\n",
       ":6: report.digest.at: must be a time of day in UTC"},
      {"environment", "[source.ci]\nenvironments = [\"linux/jammy\"]\n",
       ":6: source.ci.environments: 'linux/jammy' is no glob of build environments"},
      {"mirror", "[source.ci]\nmirror = \"days\"\n",
       ":6: source.ci.mirror: must be \"off\", \"searches\" or \"days:14\", not 'days'"},
      {"unknown key of CI", "[source.ci]\nbuckets = \"x\"\n", ":6: source.ci.buckets: unknown key"},
      {"CI's token", "[source.ci]\nenvironments = [\"a\"]\ntoken_file = \"none\"\n",
       ":7: source.ci.token_file: must name a file that is there"},
      {"chat's format", "[chat]\nformat = \"irc\"\n",
       ":6: chat.format: must be \"slack\", \"mattermost\" or \"json\", not 'irc'"},
      {"chat's address is missing", "[chat]\nurl_file = \"none\"\n",
       ":6: chat.url_file: must name a file that is there"},
      {"chat's address is none", "[chat]\nformat = \"slack\"\nurl_file = \"n.toml\"\n",
       ":7: chat.url_file: the first line of"},
      {"chat without an address", "[chat]\nsecret_file = \"n.toml\"\n",
       "chat.url_file: is required where secret_file is set"},
      {"chat without a secret", "[chat]\nurl_file = \"n.toml\"\n",
       "chat.secret_file: is required where format is \"json\""},
      {"export without a login", "[export]\nbucket = \"https://b.test\"\n",
       "export.login_file: must name a file that is there"},
      {"export to two places", "[export]\nbucket = \"https://b.test\"\nurl_file = \"n.toml\"\n",
       ":7: export.url_file: names a webhook, and bucket a bucket; set one of them"},
      {"export's login", "[export]\nbucket = \"https://b.test\"\nlogin_file = \"n.toml\"\n",
       ":7: export.login_file: the first line of"},
      {"export's webhook without a secret", "[export]\nurl_file = \"n.toml\"\n",
       "export.secret_file: must name a file that is there"},
      {"export's region", "[export]\nregion = \"eu west\"\n",
       ":6: export.region: must be a region of AWS"},
      {"no TOML", "[night\n", ":5"},
      {"same key twice", "[night]\nruns = 5\nruns = 6\n", ":7"},
  }));
  INFO(row.name);
  const ScratchFolder folder;
  const auto file = write_file(folder / "n.toml", least + row.text);
  const std::string error = error_of(file);
  CHECK_THAT(error, Contains(row.message));
  std::istringstream lines(error);
  for (std::string line; std::getline(lines, line);)
    CHECK_THAT(line, StartsWith(file.string() + ":"));
}

TEST_CASE("all that is wrong in a configuration is told at once, in its order, each thing once") {
  const ScratchFolder folder;
  const auto file = write_file(folder / "n.toml", R"([service]
port = 99999
prot = 1
[source]
index = 5
directory = "nowhere"
[repository]
[detection]
threshold = 7
screen_z = "high"
[webhook]
secret_file = "none"
repository = "pytorch/pytorch"
[nite]
)");
  const std::string at = file.string() + ":";
  std::istringstream told(error_of(file));
  std::vector<std::string> lines;
  for (std::string line; std::getline(told, line);) lines.push_back(line);
  const std::vector<std::string> expected = {
      at + "2: service.port: must be a whole number from 0 to 65535",
      at + "3: service.prot: unknown key; there are address, credentials_file, data, host_names, "
           "open_reads, port, port_file, public_url, samples_days, trusted_proxies",
      at + "5: source.index: must be text in quotes",
      at + "6: source.directory: there is no '" + (folder / "nowhere").string() + "'",
      at + "7: repository.url: is required: the repository whose commits are watched",
      at + "9: detection.threshold: 7 is no share; did you mean \"7%\" or 0.07?",
      at + "10: detection.screen_z: must be a number from 0 to 10",
      at + "12: webhook.secret_file: must name a file that is there, never hold the secret itself",
      at + "14: nite: unknown key; there are auth, calibration, chat, detection, environment, "
           "export, night, oidc, project, queue, report, repository, search, service, source, "
           "threshold, token, webhook"};
  CHECK(lines == expected);
}

TEST_CASE("a secret that everybody can read is named with what to do") {
  const ScratchFolder folder;
  const auto secret = write_file(folder / "hook", "hush");
  std::filesystem::permissions(secret, std::filesystem::perms(0640));
  const auto file = write_file(folder / "n.toml", least + "[webhook]\nsecret_file = \"hook\"\n");
  CHECK(exposed_secrets(load_config(file)).empty());
  std::filesystem::permissions(secret, std::filesystem::perms(0644));
  const auto warnings = exposed_secrets(load_config(file));
  REQUIRE(warnings.size() == 1);
  CHECK_THAT(warnings[0], Contains(secret.string()) && Contains("chmod o-rwx"));
}

TEST_CASE("tokens of runners that no machine class binds are named") {
  Config config;
  CHECK_FALSE(unbound_runner_tokens(config));
  const auto lab = *Sha256::parse(std::string(64, 'a'));
  config.tokens = {{"reader", web::Role::read, ""},
                   {"bound", web::Role::runner, "", {lab}},
                   {"first", web::Role::runner, ""},
                   {"second", web::Role::builder, ""}};
  CHECK_THAT(*unbound_runner_tokens(config),
             Contains("any machine class: first, second; name each token's machine_classes"));
}

TEST_CASE("the runner beside a service logs in and reaches what the service may") {
  Config config;
  CHECK(local_runner_options(config, "").empty());
  config.service.credentials_file = "/etc/logins";
  config.environment.internal = {"https://a.test", "https://b.test"};
  CHECK(local_runner_options(config, "/etc/commands.toml") ==
        std::vector<std::string>{"--commands", "/etc/commands.toml", "--credentials", "/etc/logins",
                                 "--internal", "https://a.test", "--internal", "https://b.test"});
}

TEST_CASE(
    "a source and a repository are required, and a mistyped key comes before what it leaves out") {
  const ScratchFolder folder;
  CHECK_THAT(error_of(write_file(folder / "a.toml", "")), Contains("either index or directory"));
  CHECK_THAT(error_of(write_file(folder / "b.toml", "[source]\nindex = \"http://a\"\n")),
             Contains("repository.url: is required"));
  CHECK_THAT(error_of(write_file(folder / "c.toml", "[source]\nindx = \"http://a\"\n")),
             Contains("source.indx: unknown key"));
  CHECK_THAT(error_of(write_file(folder / "d.toml", "[source]\nindex = \"/a\"\n")),
             Contains("source.index: must be an http:// or https:// URL"));
  CHECK_THAT(error_of(folder / "none.toml"), Contains("none.toml: cannot be read"));
}

TEST_CASE("the production configuration loads, and shows every default as it is") {
  const std::filesystem::path file = nightjar::test::source_tree() / "deploy/nightjar.toml";
  const Config production = load_config(file);
  CHECK(production.source.index == "https://download.pytorch.org/whl/nightly/cpu");
  CHECK(production.repository.url == "https://github.com/pytorch/pytorch");
  CHECK(production.report.tracker == "dry-run");

  // With every commented line put in force all is as before: so what it calls a default is one.
  std::string text = nightjar::test::read_file(file);
  text = std::regex_replace(text, std::regex("\n# (\\[\\[|[a-z_0-9]+ = )"), "\n$1");
  text =
      std::regex_replace(text, std::regex("64 hexadecimal digits\""), std::string(64, 'a') + "\"");
  std::set<std::string> known = keys_of(every_key);
  known.insert("source.index");     // or source.directory
  known.insert("export.url_file");  // or export.bucket
  CHECK(keys_of(text) == known);
  const ScratchFolder folder;
  const Config shown = load_config(write_file(folder / "n.toml", text));
  CHECK(shown.service.port == production.service.port);
  CHECK(shown.service.address == production.service.address);
  CHECK(shown.source.poll == production.source.poll);
  CHECK(shown.source.keep_days == production.source.keep_days);
  CHECK(shown.source.artifact_bytes == production.source.artifact_bytes);
  CHECK(shown.source.ci.environments == production.source.ci.environments);
  CHECK(shown.source.ci.api == production.source.ci.api);
  CHECK(shown.source.ci.bucket == production.source.ci.bucket);
  CHECK(shown.source.ci.repository == production.source.ci.repository);
  CHECK(shown.source.ci.mirror.mode == production.source.ci.mirror.mode);
  CHECK(shown.source.ci.wheel_bytes == production.source.ci.wheel_bytes);
  CHECK(shown.night.workloads == production.night.workloads);
  CHECK(shown.night.metrics == production.night.metrics);
  CHECK(shown.night.run_timeout_seconds == production.night.run_timeout_seconds);
  CHECK(shown.detection.screen_z == production.detection.screen_z);
  CHECK(shown.detection.threshold == production.detection.threshold);
  CHECK(shown.search.build_cost == production.search.build_cost);
  CHECK(shown.queue.lease == production.queue.lease);
  CHECK(shown.webhook.repository == production.webhook.repository);
  CHECK(shown.report.labels == production.report.labels);
  CHECK(shown.report.digest.on == production.report.digest.on);
  CHECK(shown.report.digest.at == production.report.digest.at);
}

TEST_CASE("a secret comes from the environment before the file, and never empty from a file") {
  const ScratchFolder folder;
  const auto file = write_file(folder / "token", "from-file \r\nsecond line\n");
  ::unsetenv("NIGHTJAR_TEST_SECRET");
  CHECK(read_secret("NIGHTJAR_TEST_SECRET", "").empty());
  CHECK(read_secret("NIGHTJAR_TEST_SECRET", file) == "from-file");
  ::setenv("NIGHTJAR_TEST_SECRET", "from-environment", 1);
  CHECK(read_secret("NIGHTJAR_TEST_SECRET", file) == "from-environment");
  ::unsetenv("NIGHTJAR_TEST_SECRET");
  CHECK_THROWS_WITH(read_secret("NIGHTJAR_TEST_SECRET", folder / "none"), Contains("none"));
  CHECK_THROWS_WITH(read_secret("NIGHTJAR_TEST_SECRET", write_file(folder / "empty", "\n")),
                    Contains("holds no secret"));
}

TEST_CASE("an address with a secret is refused, and the secret is not repeated") {
  const auto wrong =
      GENERATE(as<std::string>(), "[source]\nindex = \"https://user:hush@wheels.test/simple\"\n",
               "[source]\nindex = \"https://hush@wheels.test/simple\"\n",
               "[source]\nindex = \"https://user:hu/sh@wheels.test\"\n",
               "[environment]\nindexes = [\"https://user:hush@wheels.test/simple\"]\n",
               "[environment]\nindexes = [\"https://wheels.test/simple?token=hush\"]\n",
               "[environment]\ninternal = [\"https://user:hush@wheels.test\"]\n",
               "[service]\npublic_url = \"https://user:hush@nightjar.test\"\n",
               "[source.ci]\nbucket = \"https://user:hush@bucket.test\"\n",
               "[report]\napi = \"https://user:hush@api.test\"\n",
               "[repository]\nurl = \"https://hush@github.test/a/b\"\n",
               "[repository]\nurl = \"https://user:hush@github.test/a/b\"\n",
               "[repository]\nurl = \"ssh://git:hush@github.test/a/b\"\n");
  CAPTURE(wrong);
  const ScratchFolder folder;
  const std::string told = error_of(write_file(folder / "n.toml", wrong));
  CHECK_THAT(told, Contains("has a ") || Contains("without a query"));
  CHECK_THAT(told, !Contains("hush") && !Contains("hu/sh"));
}

TEST_CASE("a secret in the place of a file's name or of a role is not repeated") {
  const auto wrong = GENERATE(as<std::string>(), "[service]\ncredentials_file = \"hush\"\n",
                              "[webhook]\nsecret_file = \"hush\"\n",
                              "[report]\ntracker = \"github\"\ntoken_file = \"hush\"\n",
                              "[chat]\nurl_file = \"hush\"\n", "[chat]\nsecret_file = \"hush\"\n",
                              "[export]\nbucket = \"https://b.test\"\nlogin_file = \"hush\"\n",
                              "[source.ci]\nenvironments = [\"a\"]\ntoken_file = \"hush\"\n",
                              "[[token]]\nname = \"a\"\nrole = \"hush\"\n",
                              "[[token]]\nname = \"a\"\nrole = \"runner\"\nsha256 = \"hush\"\n"
                              "machine_classes = [\"hush\"]\n");
  CAPTURE(wrong);
  const ScratchFolder folder;
  const std::string told = error_of(write_file(folder / "n.toml", wrong));
  CHECK_THAT(told, Contains(": must ") && !Contains("hush"));
}

TEST_CASE("a wrong value is repeated short, on its line, without control characters") {
  const std::string value = "\\u001B[2J\\nforged" + std::string(1 << 20, 'x');
  const auto wrong =
      GENERATE(as<std::string>(), "[night]\nat = \"VALUE\"\n", "[night]\nworkloads = [\"VALUE\"]\n",
               "[night]\nmetrics = [\"VALUE\"]\n", "[night]\n\"VALUE\" = 1\n",
               "[source]\nindex = \"VALUE\"\n", "[source]\ndirectory = \"VALUE\"\n",
               "[detection]\nthreshold = \"VALUE\"\n", "[report]\ntracker = \"VALUE\"\n");
  CAPTURE(wrong);
  const ScratchFolder folder;
  std::string text = wrong;
  const auto file = write_file(folder / "n.toml", text.replace(text.find("VALUE"), 5, value));
  const std::string told = error_of(file);
  CHECK(told.size() < 2'000);
  CHECK_THAT(told, !Contains("\x1B") && !Contains("\nforged"));
}

TEST_CASE("the account of ssh is no secret") {
  const ScratchFolder folder;
  const Config config =
      load_config(write_file(folder / "n.toml",
                             "[source]\nindex = \"https://wheels.test\"\n[repository]\n"
                             "url = \"ssh://git@github.test/a/b\"\n"));
  CHECK(config.repository.url == "ssh://git@github.test/a/b");
}
