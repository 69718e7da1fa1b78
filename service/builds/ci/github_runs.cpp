#include "service/builds/ci/github_runs.hpp"

#include <algorithm>

#include "service/builds/ci/trouble.hpp"
#include "service/report/github_rest.hpp"
#include "storage/base/foreign_text.hpp"
#include "storage/model/foreign_json.hpp"
#include "storage/model/json.hpp"
#include "storage/model/json_io.hpp"

namespace nightjar::service::ci {

namespace {

constexpr std::size_t runs_page_bytes = 16u << 20;  // a hundred runs have about 2 MiB
constexpr std::size_t most_remembered = 64;
constexpr int most_run_pages = 20;
constexpr std::chrono::seconds after_refusal{3600};  // of what a person must mend: a token, a name

std::string value_of(const std::map<std::string, std::string>& headers, const std::string& name) {
  const auto found = headers.find(name);
  return found == headers.end() ? "" : found->second;
}

Unanswered refusal(const std::string& what, const web::ClientResponse& response, Time now) {
  const auto failure = failure_of(what, response.status, response.headers, response.body, now);
  if (const auto* transient = std::get_if<Transient>(&failure))
    return Unanswered(transient->what, transient->retry_after);
  return Unanswered(std::get<Permanent>(failure).what, after_refusal);
}

// The commit's runs in one page of GitHub's answer; those of strangers are left out.
void take_runs(const std::string& body, const CommitSha& commit, const std::string& repository,
               std::vector<WorkflowRun>& runs) {
  const auto answer = parse_foreign_or_throw(body);
  for (const auto& item : answer.at("workflow_runs")) {
    WorkflowRun run;
    run.id = field<std::int64_t>(item, "id");
    run.event = item.at("event").get<std::string>();
    run.status = item.at("status").is_string() ? item.at("status").get<std::string>() : "";
    const auto& head = item.at("head_repository");
    const bool own = head.is_object() && head.at("full_name") == repository;
    if (item.at("head_sha") == commit.str() && own && !run.event.starts_with("pull_request"))
      runs.push_back(std::move(run));
  }
}

}  // namespace

GithubRuns::GithubRuns(web::Client& client, std::string api, std::string repository,
                       std::string token, const Clock& clock)
    : client_(client),
      api_(std::move(api)),
      repository_(std::move(repository)),
      token_(std::move(token)),
      clock_(clock) {}

GithubRuns::Page GithubRuns::get(const std::string& url, const CommitSha& commit) {
  web::ClientRequest request;
  request.url = url;
  request.response_limit = runs_page_bytes;
  request.headers = {{"Accept", "application/vnd.github+json"},
                     {"X-GitHub-Api-Version", "2022-11-28"}};
  if (!token_.empty()) request.headers.emplace_back("Authorization", "Bearer " + token_);
  const auto known = remembered_.find(url);
  if (known != remembered_.end()) request.headers.emplace_back("If-None-Match", known->second.etag);
  const web::Client::Result result = client_.send(request);
  if (!result) throw Unanswered(result.failure.what);
  const web::ClientResponse& response = *result.response;
  if (response.status == 304 && known != remembered_.end()) return known->second;
  if (response.status != 200) throw refusal("GET " + url, response, clock_.now());
  Page page{value_of(response.headers, "etag"), next_page(value_of(response.headers, "link")), {}};
  try {
    take_runs(response.body, commit, repository_, page.runs);
  } catch (const nlohmann::json::exception& error) {
    throw Unanswered("GET " + url + ": GitHub's answer makes no sense: " + error.what());
  }
  if (page.next && !page.next->starts_with(api_ + "/"))
    throw Unanswered("GET " + url + ": the next page would be elsewhere, " + in_quotes(*page.next));
  if (remembered_.size() >= most_remembered) remembered_.clear();
  if (!page.etag.empty()) remembered_[url] = page;
  return page;
}

std::vector<WorkflowRun> GithubRuns::runs_of(const CommitSha& commit) {
  std::vector<WorkflowRun> runs;
  std::optional<std::string> url =
      api_ + "/repos/" + repository_ + "/actions/runs?head_sha=" + commit.str() + "&per_page=100";
  for (int count = 0; url; ++count) {
    if (count == most_run_pages)
      throw Unanswered("GitHub has more than " + std::to_string(most_run_pages) +
                       " pages of runs of " + commit.brief());
    const Page page = get(*url, commit);
    runs.insert(runs.end(), page.runs.begin(), page.runs.end());
    url = page.next;
  }
  std::sort(runs.begin(), runs.end(),
            [](const WorkflowRun& a, const WorkflowRun& b) { return a.id > b.id; });
  return runs;
}

}  // namespace nightjar::service::ci
