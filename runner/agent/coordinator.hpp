// The service as a runner sees it: register, claim, renew, answer, over HTTP.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "storage/model/enum.hpp"
#include "storage/model/hex.hpp"
#include "storage/model/id.hpp"
#include "web/client.hpp"

namespace nightjar::runner {

struct Registration {
  std::string name;
  std::map<std::string, std::string> labels;
  std::vector<std::string> workloads;  // "<name>@<version>"
  std::map<std::string, std::string> facts;
  std::string instance;  // a random id of this host
};

struct Claim {
  JobId job;
  int attempt = 0;
  std::string nonce;  // proves to the service that this claim was made here
  double lease_seconds = 60;
  std::string spec;  // JSON of a JobSpec, not looked into
};

// The outcome of an exchange. done: it was accepted. nothing: there is no job. refused: asking
// again will not help. away: there was no answer, or a failure that may pass (web::may_pass).
NIGHTJAR_ENUM(Answer, done, nothing, refused, away);

// A wheel on its way to the service, and how far it is.
struct WheelTransfer {
  JobId job;
  int attempt = 0;
  std::string nonce;
  Sha256 sha256;
  std::uint64_t size_bytes = 0;
  std::uint64_t received = 0;  // by the service; the next part begins here
  bool complete = false;       // the service has all of it, and its hash is right
};

// Not thread-safe: each thread has its own.
class Coordinator {
 public:
  // `token` may be empty: then only use_enrolment() is answered.
  Coordinator(std::string service, std::string token);

  // Makes the token with this hash the own one of the runner `name`, by a one-time token.
  Answer use_enrolment(const std::string& one_time_token, const std::string& name,
                       const Sha256& own);
  // Replaces this runner's own token by the one with this hash.
  Answer replace_token(const Sha256& own);
  Answer enroll(const Registration& registration, RunnerId& runner);
  // Waits up to `wait` for a job. `refused` means that the service does not know this runner.
  Answer claim(RunnerId runner, const std::string& instance, std::chrono::seconds wait,
               Claim& claim);
  // This runner ends. `refused`: an older service, or one that does not know it.
  Answer leave(RunnerId runner, const std::string& instance);
  // `refused` means that the lease is lost.
  Answer renew(const Claim& claim, double& lease_seconds);
  // `result_json`: {"attempt": n, "nonce": "...", "result": {...}}.
  Answer send_result(JobId job, const std::string& result_json);
  // Sends the next part of a wheel and notes in `transfer` how far it is; an empty part asks.
  Answer send_part(WheelTransfer& transfer, const std::string& part);
  Answer send_log(JobId job, int attempt, const std::string& nonce, const std::string& log);
  // `outcome_json`: {"attempt": n, "nonce": "...", "result": {...}}, of a build.
  Answer send_outcome(JobId job, const std::string& outcome_json);
  // transient: something on this side was in the way, so the job is queued again.
  enum class Failure { final, transient };
  Answer fail(const Claim& claim, const std::string& reason, Failure kind);
  Answer release(const Claim& claim);

  // Says of the last failure what was attempted, on what, and what came back.
  const std::string& error() const { return error_; }
  // Whether an operator can lift the last refusal, since it was not about the job: it refused the
  // sender (401, 403), or a proxy in between refused, such as for a certificate that has expired.
  bool may_be_lifted() const;
  // Whether a proxy in between refused the last body for its size.
  bool is_too_large_for_proxy() const;

 private:
  Answer post(const std::string& path, const std::string& body, std::string& answer,
              std::chrono::milliseconds timeout = std::chrono::seconds(30));
  Answer send(web::ClientRequest request, std::string& answer);

  const std::string service_, token_;
  web::Client client_;
  std::string error_;
  unsigned status_ = 0;
  bool is_of_service_ = true;  // the last refusal; the service's are all problem documents
};

}  // namespace nightjar::runner
