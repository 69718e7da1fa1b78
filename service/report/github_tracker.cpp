#include "service/report/github_tracker.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <utility>

#include "service/config.hpp"
#include "service/report/github_rest.hpp"
#include "storage/base/foreign_text.hpp"
#include "storage/model/address.hpp"
#include "storage/model/foreign_json.hpp"
#include "storage/model/json.hpp"
#include "storage/model/json_io.hpp"
#include "web/client.hpp"

namespace nightjar::service {
namespace {

using nlohmann::json;

constexpr int label_pages = 30;  // of 100 issues each
constexpr int recent_pages = 3;
constexpr int comment_pages = 100;
constexpr std::size_t page_bytes = 32u << 20;  // a hundred texts of 64 KiB, with escapes
constexpr int most_hops = 3;                   // of a repository that was renamed and moved

struct Answer {
  json body;
  std::optional<std::string> next;
};

// A field of GitHub's that should be a string; empty if it is not (an issue's body may be null).
std::string string_in(const json& object, const char* name) {
  const auto it = object.find(name);
  return it != object.end() && it->is_string() ? it->get<std::string>() : std::string();
}

// Pages make a link of it, so it is an address or nothing.
std::string link_in(const json& object) {
  const std::string url = string_in(object, "html_url");
  return origin_of(url) && url == one_line(url) ? url : "";
}

std::optional<Issue> issue_in(const json& object) {
  if (!object.is_object()) return std::nullopt;
  const auto number = object.find("number");
  if (number == object.end() || !number->is_number_unsigned()) return std::nullopt;
  try {
    return Issue{field<std::int64_t>(object, "number"), link_in(object),
                 string_in(object, "state") != "closed"};
  } catch (const std::exception&) {
    return std::nullopt;  // larger than any that we can keep
  }
}

// The oldest issue of `items` whose body holds `marker`; pull requests are listed among issues.
std::optional<Issue> marked_in(const json& items, const std::string& marker) {
  std::optional<Issue> oldest;
  for (const json& item : items) {
    if (!item.is_object() || item.contains("pull_request")) continue;
    if (string_in(item, "body").find(marker) == std::string::npos) continue;
    const auto issue = issue_in(item);
    if (issue && (!oldest || issue->number < oldest->number)) oldest = issue;
  }
  return oldest;
}

// A failed call's outcome as that of another type.
template <class To, class From>
Outcome<To> failed(const Outcome<From>& outcome) {
  if (const auto* transient = std::get_if<Transient>(&outcome)) return *transient;
  return std::get<Permanent>(outcome);
}

template <class T>
bool is_value(const Outcome<T>& outcome) {
  return outcome.index() == 0;
}

}  // namespace

struct GithubTracker::Impl {
  GithubConfig config;
  const Clock& clock;
  web::Client client;

  std::string issues() const { return config.api + "/repos/" + config.repository + "/issues"; }
  std::string issue(std::int64_t number) const { return issues() + "/" + std::to_string(number); }

  Outcome<Answer> call(const std::string& method, const std::string& url, const json& body = {});
  // Hands over the list at `url` page by page until `take` returns true. Returns false if the list
  // has more pages than `pages`. Fails if any page does not come, or what follows is not told.
  Outcome<bool> read_list(const std::string& url, int pages,
                          const std::function<bool(const json&)>& take);
  // Looks for the issue in the list that `filter` makes. It was `whole`: then no issue means none.
  Outcome<std::optional<Issue>> in_list(const std::string& filter, int pages,
                                        const std::string& marker, bool& whole);
  Outcome<std::optional<Issue>> in_search(const std::string& marker, bool lists_suffice);
};

Outcome<Answer> GithubTracker::Impl::call(const std::string& method, const std::string& url,
                                          const json& body) {
  const std::string what = one_line(method + " " + url.substr(0, url.find('?')));
  const bool writes = method != "GET";
  std::string token;
  try {
    token = read_secret(github_token_variable, config.token_file);
  } catch (const std::exception& error) {
    return Transient{error.what() + (" for " + what), std::nullopt};
  }
  web::ClientRequest request;
  request.method = method;
  request.url = url;
  request.timeout = config.timeout;
  request.response_limit = page_bytes;
  request.headers = {{"Accept", "application/vnd.github+json"},
                     {"Authorization", "Bearer " + token},
                     {"X-GitHub-Api-Version", "2022-11-28"},
                     {"User-Agent", "nightjar/" NIGHTJAR_VERSION}};
  if (writes) {
    request.headers.emplace_back("Content-Type", "application/json");
    request.body = body.dump(-1, ' ', false, json::error_handler_t::replace);
  }
  auto result = client.send(request);
  // libcurl follows a GET by itself, and would make a GET of a POST.
  for (int hops = 0; result && writes && hops < most_hops; ++hops) {
    const auto moved = moved_to(config.api, result.response->status, result.response->headers);
    if (!moved) break;
    request.url = *moved;
    result = client.send(request);
  }
  if (!result) return Transient{result.failure.what, std::nullopt};
  const web::ClientResponse& response = *result.response;
  if (response.status < 200 || response.status > 299) {
    const auto failure =
        failure_of(what, response.status, response.headers, response.body, clock.now());
    if (const auto* transient = std::get_if<Transient>(&failure)) return *transient;
    return std::get<Permanent>(failure);
  }
  Answer answer{parse_foreign(response.body), std::nullopt};
  if (answer.body.is_discarded()) {
    return Transient{"GitHub's answer to " + what + " is not JSON", std::nullopt};
  }
  if (const auto link = response.headers.find("link"); link != response.headers.end()) {
    answer.next = next_page(link->second);
    // The token goes nowhere else, whatever a header says.
    if (answer.next && !answer.next->starts_with(config.api + "/"))
      return Transient{"GitHub's answer to " + what +
                           " has no next page of GitHub's: " + in_quotes(link->second),
                       std::nullopt};
  }
  return answer;
}

Outcome<bool> GithubTracker::Impl::read_list(const std::string& url, int pages,
                                             const std::function<bool(const json&)>& take) {
  std::optional<std::string> next = url;
  for (int page = 0; next; ++page) {
    if (page == pages) return false;
    const auto outcome = call("GET", *next);
    const auto* refused = std::get_if<Permanent>(&outcome);
    if (refused && page > 0) return Transient{refused->what, std::nullopt};  // of half a list
    if (!is_value(outcome)) return failed<bool>(outcome);
    const Answer& answer = std::get<Answer>(outcome);
    if (!answer.body.is_array())
      return Transient{"GitHub's answer to GET " + url + " is no list", std::nullopt};
    if (take(answer.body)) return true;
    next = answer.next;
  }
  return true;
}

Outcome<std::optional<Issue>> GithubTracker::Impl::in_list(const std::string& filter, int pages,
                                                           const std::string& marker, bool& whole) {
  std::optional<Issue> oldest;
  const auto read =
      read_list(issues() + "?" + filter + "state=all&sort=created&direction=desc&per_page=100",
                pages, [&](const json& page) {
                  // Newest first: what is found later is older.
                  if (const auto found = marked_in(page, marker)) oldest = found;
                  return false;
                });
  if (!is_value(read)) return failed<std::optional<Issue>>(read);
  whole = std::get<bool>(read);
  return oldest;
}

Outcome<std::optional<Issue>> GithubTracker::Impl::in_search(const std::string& marker,
                                                             bool lists_suffice) {
  std::string words = marker;
  if (words.starts_with("<!-- ") && words.ends_with(" -->"))
    words = words.substr(5, words.size() - 9);
  const std::string query = "repo:" + config.repository + " is:issue in:body \"" + words + "\"";
  const auto outcome =
      call("GET", config.api + "/search/issues?q=" + encoded(query) + "&per_page=50");
  // A token that may write issues need not be allowed to search: then the lists must do.
  if (const auto* refused = std::get_if<Permanent>(&outcome)) {
    if (lists_suffice) return std::optional<Issue>{};
    return Transient{refused->what + "; there are more issues than could be read", std::nullopt};
  }
  if (!is_value(outcome)) return failed<std::optional<Issue>>(outcome);
  const json& body = std::get<Answer>(outcome).body;
  const bool is_answer = body.is_object() && body.contains("items") && body["items"].is_array();
  if (!is_answer) return Transient{"GitHub's answer to the search holds no items", std::nullopt};
  auto found = marked_in(body["items"], marker);
  if (!found && !lists_suffice && body.value("incomplete_results", json()) == true)
    return Transient{"GitHub's search was not complete", std::nullopt};
  return found;
}

GithubTracker::GithubTracker(GithubConfig config, const Clock& clock)
    : impl_(new Impl{std::move(config), clock, {}}) {
  const std::string& repository = impl_->config.repository;
  const auto slash = repository.find('/');
  const bool plain = std::all_of(repository.begin(), repository.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 ||
           std::string_view("-._/").find(static_cast<char>(c)) != std::string_view::npos;
  });
  if (!plain || slash == 0 || slash == std::string::npos || slash + 1 == repository.size() ||
      repository.find('/', slash + 1) != std::string::npos) {
    throw std::invalid_argument("the repository for reports must be \"owner/name\", not '" +
                                repository + "'");
  }
  while (impl_->config.api.ends_with('/')) impl_->config.api.pop_back();
}

GithubTracker::~GithubTracker() = default;

Outcome<std::optional<Issue>> GithubTracker::find_issue(const std::string& marker) {
  const std::string& label = impl_->config.label;
  bool all_labelled = false, all = false;
  if (!label.empty()) {
    auto found =
        impl_->in_list("labels=" + encoded(label) + "&", label_pages, marker, all_labelled);
    if (!is_value(found) || std::get<0>(found)) return found;
  }
  auto recent = impl_->in_list("", recent_pages, marker, all);
  if (!is_value(recent) || std::get<0>(recent)) return recent;
  return impl_->in_search(marker, all_labelled || all);
}

Outcome<Issue> GithubTracker::open_issue(const std::string& title, const std::string& body,
                                         const std::vector<std::string>& labels) {
  const json request = {{"title", title}, {"body", body}, {"labels", labels}};
  const auto outcome = impl_->call("POST", impl_->issues(), request);
  if (!is_value(outcome)) return failed<Issue>(outcome);
  if (const auto issue = issue_in(std::get<Answer>(outcome).body)) return *issue;
  return Transient{"GitHub's answer to POST " + impl_->issues() + " is no issue", std::nullopt};
}

Outcome<bool> GithubTracker::has_comment(std::int64_t issue, const std::string& marker) {
  const std::string comments = impl_->issue(issue) + "/comments";
  bool is_there = false;
  auto read = impl_->read_list(comments + "?per_page=100", comment_pages, [&](const json& page) {
    is_there = std::any_of(page.begin(), page.end(), [&](const json& comment) {
      return comment.is_object() && string_in(comment, "body").find(marker) != std::string::npos;
    });
    return is_there;
  });
  if (!is_value(read)) return read;
  if (!std::get<bool>(read))
    return Transient{"GitHub has more than " + std::to_string(comment_pages) +
                         " pages of comments of " + impl_->issue(issue),
                     std::nullopt};
  return is_there;
}

Outcome<std::string> GithubTracker::comment(std::int64_t issue, const std::string& body) {
  const auto outcome = impl_->call("POST", impl_->issue(issue) + "/comments", {{"body", body}});
  if (!is_value(outcome)) return failed<std::string>(outcome);
  const json& answer = std::get<Answer>(outcome).body;
  if (answer.is_object()) return link_in(answer);
  return Transient{"GitHub's answer to POST " + impl_->issue(issue) + "/comments is no comment",
                   std::nullopt};
}

Outcome<Issue> GithubTracker::close_issue(std::int64_t issue) {
  const json request = {{"state", "closed"}, {"state_reason", "completed"}};
  const auto outcome = impl_->call("PATCH", impl_->issue(issue), request);
  if (!is_value(outcome)) return failed<Issue>(outcome);
  if (const auto closed = issue_in(std::get<Answer>(outcome).body)) return *closed;
  return Transient{"GitHub's answer to PATCH " + impl_->issue(issue) + " is no issue",
                   std::nullopt};
}

}  // namespace nightjar::service
