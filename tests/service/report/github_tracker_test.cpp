// GithubTracker and OutboxSender against the strict double: every request and every answer is
// checked against GitHub's own description, and every test ends by asking for violations.
#include "service/report/github_tracker.hpp"

#include <fstream>

#include <catch2/catch.hpp>

#include "service/report/outbox_sender.hpp"
#include "service/report/report.hpp"
#include "tests/service/report/examples.hpp"
#include "tests/support/github/double.hpp"
#include "tests/web/served.hpp"

using namespace nightjar;
using namespace nightjar::service;
using namespace std::chrono_literals;
using nlohmann::json;
using tests::GithubDouble;

namespace {

struct Fixture {
  GithubDouble& github = GithubDouble::instance();
  std::filesystem::path token_file;
  SystemClock clock;
  GithubConfig config;

  explicit Fixture(const json& settings = json::object()) {
    github.control("reset", settings);
    std::string name = (std::filesystem::temp_directory_path() / "nightjar-token-XXXXXX").string();
    close(mkstemp(name.data()));
    token_file = name;
    write_token(GithubDouble::token);
    config = {github.url(), GithubDouble::repository, token_file, "nightjar", 5000ms};
  }
  Fixture(const Fixture&) = delete;
  ~Fixture() {
    std::filesystem::remove(token_file);
    CHECK(github.state()["violations"] == json::array());
  }
  void write_token(const std::string& token) { std::ofstream(token_file) << token << "\n"; }

  // Sends until it is through, as the engine does but without its waits.
  Sent deliver(GithubTracker& tracker, OutboxMessage message,
               std::optional<std::int64_t> issue = {}) {
    OutboxSender sender(tracker, {"nightjar"}, clock);
    for (int i = 0; i < 10; ++i) {
      const Sent sent = sender.send(message, issue);
      sent.apply_to(message);
      if (sent.state != OutboxState::pending) return sent;
    }
    FAIL("it never got through: " << message.error);
    return {};
  }
};

OutboxMessage issue_message() {
  const RenderedIssue rendered = render_issue(examples::redundant_check());
  OutboxMessage message;
  message.key = issue_key(examples::redundant_check().fingerprint);
  message.title = rendered.title;
  message.body = rendered.body;
  return message;
}

OutboxMessage comment_message(OutboxKind kind) {
  OutboxMessage message;
  message.kind = kind;
  message.key = night_key("ab", "2.15.0.dev20260821+cpu");
  message.body = "still there\n" + marker_of(message.key);
  return message;
}

template <class T>
const Transient& transient(const Outcome<T>& outcome) {
  REQUIRE(std::holds_alternative<Transient>(outcome));
  return std::get<Transient>(outcome);
}
template <class T>
const Permanent& permanent(const Outcome<T>& outcome) {
  REQUIRE(std::holds_alternative<Permanent>(outcome));
  return std::get<Permanent>(outcome);
}

// What may happen to a call: `after` of them after GitHub has acted.
const char* const passing[] = {
    "502",        "503",      "502_after",       "cut_before", "cut_after", "cut_within",
    "hang_after", "not_json", "403_retry_after", "403_limit",  "429"};

}  // namespace

TEST_CASE("An issue is opened, found by its marker, commented on and closed") {
  Fixture f;
  GithubTracker tracker(f.config, f.clock);
  const Sent sent = f.deliver(tracker, issue_message());
  CHECK(sent.issue->number == 1);
  CHECK(sent.url == "https://github.com/owner/name/issues/1");
  const Sent commented = f.deliver(tracker, comment_message(OutboxKind::comment), 1);
  CHECK(commented.url == "https://github.com/owner/name/issues/1#issuecomment-1000");
  OutboxMessage closing = comment_message(OutboxKind::close_issue);
  closing.key = recovered_key("ab", "v");
  CHECK_FALSE(f.deliver(tracker, closing, 1).issue->open);
  const json issue = f.github.state()["issues"][0];
  CHECK(issue["title"] == issue_message().title);
  CHECK(issue["body"] == issue_message().body);
  CHECK(issue["labels"] == json::array({"nightjar"}));
  CHECK(issue["comments"].size() == 2);
  CHECK(issue["state"] == "closed");
  CHECK(issue["state_reason"] == "completed");
  CHECK(f.deliver(tracker, issue_message()).found_earlier);
  CHECK(f.github.state()["issues"].size() == 1);
}

TEST_CASE("No issue is filed twice under any fault of any call") {
  const std::string kind = GENERATE(from_range(std::begin(passing), std::end(passing)));
  const std::string on =
      GENERATE(as<std::string>{}, "POST .*/issues$", "GET .*/issues$", "GET /search");
  const bool drops_labels = GENERATE(false, true);
  INFO(kind << " on " << on << (drops_labels ? ", labels dropped" : ""));
  Fixture f(json{{"drops_labels", drops_labels}, {"search_lags", true}});
  f.config.timeout = 300ms;
  GithubTracker tracker(f.config, f.clock);
  f.github.fault(on, kind);
  CHECK(f.deliver(tracker, issue_message()).issue->number == 1);
  CHECK(f.github.state()["issues"].size() == 1);
}

TEST_CASE("No comment is posted twice under any fault of any call, and the issue ends closed") {
  const std::string kind = GENERATE(from_range(std::begin(passing), std::end(passing)));
  const std::string on =
      GENERATE(as<std::string>{}, "POST .*/comments$", "GET .*/comments$", "PATCH");
  INFO(kind << " on " << on);
  Fixture f;
  f.config.timeout = 300ms;
  f.github.control("issues", {{"items", {{{"title", "one"}}}}});
  GithubTracker tracker(f.config, f.clock);
  f.github.fault(on, kind);
  CHECK_FALSE(f.deliver(tracker, comment_message(OutboxKind::close_issue), 1).issue->open);
  const json issue = f.github.state()["issues"][0];
  CHECK(issue["comments"].size() == 1);
  CHECK(issue["state"] == "closed");
}

TEST_CASE("A write that is cut off on a kept connection is not sent again behind our back") {
  Fixture f;
  GithubTracker tracker(f.config, f.clock);
  f.github.control("issues", {{"items", {{{"title", "one"}}}}});
  CHECK_FALSE(std::get<bool>(tracker.has_comment(1, "x")));  // opens the connection
  f.github.fault("POST", "cut_after", 1);
  CHECK(std::holds_alternative<Transient>(tracker.comment(1, "once")));
  CHECK(f.github.state()["issues"][0]["comments"].size() == 1);
}

TEST_CASE("An issue is found on a later page, behind pull requests, and the oldest counts") {
  Fixture f(json{{"search_lags", true}});
  const std::string marker = marker_of("regression:ab");
  json items = json::array();
  items.push_back({{"title", "a pull request"},
                   {"body", marker},
                   {"pull_request", true},
                   {"labels", {"nightjar"}}});
  items.push_back({{"title", "the one"},
                   {"body", "x\n" + marker},
                   {"labels", {"nightjar"}},
                   {"state", "closed"}});
  for (int i = 0; i < 240; ++i) items.push_back({{"title", "other"}, {"labels", {"nightjar"}}});
  items.push_back({{"title", "a copy"}, {"body", marker}, {"labels", {"nightjar"}}});
  f.github.control("issues", {{"items", items}});
  GithubTracker tracker(f.config, f.clock);
  const auto found = std::get<std::optional<Issue>>(tracker.find_issue(marker));
  REQUIRE(found);
  CHECK(found->number == 2);
  CHECK_FALSE(found->open);
  CHECK_FALSE(std::get<std::optional<Issue>>(tracker.find_issue(marker_of("regression:a"))));
}

TEST_CASE("An old issue that lost its label is found by the search") {
  Fixture f;
  json items = json::array({{{"title", "the one"}, {"body", marker_of("regression:ab")}}});
  for (int i = 0; i < 320; ++i) items.push_back({{"title", "other"}});
  f.github.control("issues", {{"items", items}});
  GithubTracker tracker(f.config, f.clock);
  CHECK(std::get<std::optional<Issue>>(tracker.find_issue(marker_of("regression:ab")))->number ==
        1);
}

TEST_CASE("A comment is found on a later page") {
  Fixture f;
  json comments = json::array();
  for (int i = 0; i < 230; ++i) comments.push_back("comment " + std::to_string(i) + " end");
  f.github.control("issues", {{"items", {{{"title", "one"}, {"comments", comments}}}}});
  GithubTracker tracker(f.config, f.clock);
  CHECK(std::get<bool>(tracker.has_comment(1, "comment 229 end")));
  CHECK_FALSE(std::get<bool>(tracker.has_comment(1, "comment 230 end")));
}

namespace {

// Answers as the tests say, be it GitHub's way or not.
struct LyingGithub {
  web::Served site;
  int asked = 0;
  SystemClock clock;

  // `next` is the path of the page that follows, or a whole header Link.
  void answer(web::Method method, const std::string& path, const json& body,
              const std::string& next = "") {
    site.server->add(web::route(method, path, [=, this](const web::Request&, web::Respond respond) {
      ++asked;
      auto response = web::json_response(body.dump());
      if (!next.empty())
        response.headers.emplace_back(
            "Link", next.starts_with('/') ? "<" + url() + next + ">; rel=\"next\"" : next);
      respond(response);
    }));
  }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(site.server->port()); }
  GithubTracker tracker() const {
    ::setenv("NIGHTJAR_GITHUB_TOKEN", "ghp_told-to-nobody", 1);
    return GithubTracker({url(), "octo/perf", "", "nightjar", 5000ms}, clock);
  }
  ~LyingGithub() { ::unsetenv("NIGHTJAR_GITHUB_TOKEN"); }
};

}  // namespace

TEST_CASE("Comments without end are asked for a hundred pages long") {
  LyingGithub github;
  const std::string comments = "/repos/octo/perf/issues/1/comments";
  github.answer(web::Method::get, comments, json::array(), comments);
  github.site.start();
  auto tracker = github.tracker();
  CHECK_THAT(transient(tracker.has_comment(1, "none")).what,
             Catch::Contains("more than 100 pages of comments"));
  CHECK(github.asked == 100);
}

TEST_CASE("A list that could not be read whole says nothing about what is not in it") {
  LyingGithub github;
  const std::string issues = "/repos/octo/perf/issues", comments = issues + "/1/comments";
  const std::string next =
      GENERATE("/repos/octo/perf/gone", "<http://127.0.0.1:1/x>; rel=\"next\"", "<broken", "list");
  const auto first = next == "list" ? json::object() : json::array();
  for (const auto& path : {issues, comments})
    github.answer(web::Method::get, path, first, next == "list" ? "" : next);
  github.answer(web::Method::get, "/search/issues", {{"items", json::array()}});
  github.site.start();
  auto tracker = github.tracker();
  transient(tracker.find_issue("marker"));
  transient(tracker.has_comment(1, "marker"));
}

TEST_CASE("Where neither lists nor search tell of all issues none is filed") {
  LyingGithub github;
  const std::string issues = "/repos/octo/perf/issues";
  github.answer(web::Method::get, issues, json::array(), issues);
  SECTION("the search is refused") {}
  SECTION("the search was not complete") {
    github.answer(web::Method::get, "/search/issues",
                  {{"items", json::array()}, {"incomplete_results", true}});
  }
  github.site.start();
  auto tracker = github.tracker();
  transient(tracker.find_issue("marker"));
}

TEST_CASE("A token that GitHub repeats is in no message") {
  LyingGithub github;
  github.site.server->add(
      web::route(web::Method::post, "/repos/octo/perf/issues",
                 [](const web::Request& request, web::Respond respond) {
                   const std::string said = "you sent " + request.headers.at("authorization");
                   respond(web::json_response(json{{"message", said}}.dump(), 422));
                 }));
  github.site.start();
  CHECK_THAT(permanent(github.tracker().open_issue("title", "body", {})).what,
             Catch::EndsWith(": you sent Bearer ***"));
}

TEST_CASE("An issue has a number, and a link that is an address") {
  LyingGithub github;
  const std::string issues = "/repos/octo/perf/issues";
  const auto number = GENERATE(json(7), json(-7), json(~std::uint64_t{0}), json("7"), json());
  github.answer(web::Method::post, issues,
                {{"number", number}, {"html_url", "javascript:alert(1)"}, {"state", "open"}});
  github.site.start();
  const auto opened = github.tracker().open_issue("title", "body", {});
  if (number == 7)
    CHECK(std::get<Issue>(opened).url.empty());
  else
    CHECK_THAT(transient(opened).what, Catch::Contains("is no issue"));
}

TEST_CASE("A rate limit is waited out for as long as GitHub says") {
  Fixture f;
  GithubTracker tracker(f.config, f.clock);
  f.github.fault("POST", "403_retry_after", 1, 77);
  CHECK(transient(tracker.open_issue("t", "b", {})).retry_after == 77s);
  f.github.fault("POST", "403_limit", 1, 100);
  const auto limited = tracker.open_issue("t", "b", {});
  const auto wait = transient(limited).retry_after;
  CHECK(*wait >= 98s);
  CHECK(*wait <= 101s);
  CHECK(f.github.state()["issues"].empty());
}

TEST_CASE("What GitHub refuses for good is permanent and says why") {
  Fixture f;
  GithubTracker tracker(f.config, f.clock);
  for (const char* kind : {"404", "410", "422"}) {
    f.github.fault("POST", kind);
    const auto refused = tracker.open_issue("t", "b", {});
    CHECK(permanent(refused).what.find(std::string("GitHub answered ") + kind + " to POST ") == 0);
  }
  CHECK(permanent(tracker.comment(99, "x")).what.find("404") != std::string::npos);
  CHECK(permanent(tracker.open_issue("t", std::string(issue_body_limit + 1, 'x'), {}))
            .what.find("too long") != std::string::npos);
  f.github.fault("GET /search", "422");
  CHECK_FALSE(std::get<std::optional<Issue>>(tracker.find_issue("x")));
}

TEST_CASE("A message waits for a new token and is sent with it") {
  Fixture f;
  GithubTracker tracker(f.config, f.clock);
  OutboxSender sender(tracker, {"nightjar"}, f.clock);
  OutboxMessage message = issue_message();
  f.write_token("expired");
  const Sent refused = sender.send(message, {});
  CHECK(refused.state == OutboxState::pending);
  CHECK(refused.error.find("GitHub answered 401") == 0);
  REQUIRE(refused.not_before);
  CHECK(*refused.not_before >= f.clock.now() + 10s);
  f.write_token(GithubDouble::token);
  CHECK(f.deliver(tracker, message).state == OutboxState::sent);
}

TEST_CASE("Issues and comments reach a repository that was renamed") {
  Fixture f(json{{"renamed_from", "octo/before"}});
  f.config.repository = "octo/before";
  GithubTracker tracker(f.config, f.clock);
  const auto issue = std::get<Issue>(tracker.open_issue("t", "b", {}));
  CHECK(std::holds_alternative<std::string>(tracker.comment(issue.number, "x")));
  CHECK_FALSE(std::get<Issue>(tracker.close_issue(issue.number)).open);
  CHECK(f.github.state()["issues"].size() == 1);
}

TEST_CASE("The longest body that we render is taken") {
  Fixture f;
  ReportInput input = examples::redundant_check();
  for (int i = 0; i < 900; ++i) input.tested.push_back({examples::sha('7'), "üüü", 3, 1.01, ""});
  const RenderedIssue rendered = render_issue(input);
  CHECK(rendered.body.size() > issue_body_limit / 2);
  GithubTracker tracker(f.config, f.clock);
  CHECK(std::get<Issue>(tracker.open_issue(rendered.title, rendered.body, {})).number == 1);
}

TEST_CASE("The token is read anew for each request and never part of a message") {
  Fixture f;
  GithubTracker tracker(f.config, f.clock);
  f.write_token("wrong-secret");
  const auto refused = tracker.open_issue("t", "b", {});
  CHECK(transient(refused).what.find("Bad credentials") != std::string::npos);
  CHECK(transient(refused).what.find("wrong-secret") == std::string::npos);
  std::filesystem::remove(f.token_file);
  CHECK(transient(tracker.open_issue("t", "b", {})).what.find(f.token_file.string()) !=
        std::string::npos);
  f.write_token(GithubDouble::token);
  CHECK(std::holds_alternative<Issue>(tracker.open_issue("t", "b", {})));
}

TEST_CASE("A service that is not there is transient") {
  Fixture f;
  f.config.api = "http://127.0.0.1:1/";
  GithubTracker tracker(f.config, f.clock);
  CHECK(std::holds_alternative<Transient>(tracker.open_issue("t", "b", {})));
}

TEST_CASE("A repository that is not owner/name is refused at once") {
  SystemClock clock;
  for (const char* name : {"", "owner", "/name", "owner/", "a/b/c", "a b/c", "a/b?x"}) {
    INFO(name);
    CHECK_THROWS_AS(GithubTracker({"http://127.0.0.1:1", name, "", "", 1s}, clock),
                    std::invalid_argument);
  }
}
