// The workflow runs that GitHub has started for a commit. Used by CiRung.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "storage/model/hex.hpp"
#include "storage/model/time.hpp"
#include "web/client.hpp"

namespace nightjar::service::ci {

struct WorkflowRun {
  std::int64_t id = 0;
  std::string event;   // "push", "pull_request", "schedule", ...
  std::string status;  // "completed", "in_progress", "queued", ...
  bool finished() const { return status == "completed"; }
};

class GithubRuns {
 public:
  // `api` without slash at its end; `repository` is "owner/name"; `token` may be empty. `client`
  // and `clock` must outlive this object.
  GithubRuns(web::Client& client, std::string api, std::string repository, std::string token,
             const Clock& clock);

  // All runs whose head is `commit` and whose code is the repository's own, newest first; those of
  // pull requests are left out, since a stranger decides what they upload. Throws Unanswered if
  // there is no whole answer: a rate limit has the time at which GitHub will answer again. What
  // GitHub says has not changed is taken from memory.
  std::vector<WorkflowRun> runs_of(const CommitSha& commit);

 private:
  struct Page {
    std::string etag;
    std::optional<std::string> next;  // nullopt: this is the last one
    std::vector<WorkflowRun> runs;
  };
  Page get(const std::string& url, const CommitSha& commit);

  web::Client& client_;
  std::string api_, repository_, token_;
  const Clock& clock_;
  std::map<std::string, Page> remembered_;  // by URL; emptied when it is large
};

}  // namespace nightjar::service::ci
