// The bodies and answers of the runners' protocol; specifications and results of jobs are described
// in storage/model/protocol.hpp. Internal to the API.
#pragma once

#include "storage/model/protocol.hpp"
#include "storage/sessions.hpp"

namespace nightjar::service::api {

struct RegisterRequest {
  std::string name;
  std::map<std::string, std::string> labels;
  std::string version;
  std::vector<std::string> workloads;
  std::map<std::string, std::string> facts;
  std::optional<std::string> instance;  // a random id of the host that the name stands for
};

struct Registered {
  RunnerId runner;
  MachineId machine;
};

struct ClaimRequest {
  RunnerId runner;
  std::optional<std::string> instance;
  double wait_seconds;
};

struct LeaveRequest {
  RunnerId runner;
  std::optional<std::string> instance;
};

// `nonce` in these: what the claim was told. It proves that the sender made it.
struct AttemptRequest {
  int attempt;
  std::optional<std::string> nonce;
};

struct FailRequest {
  int attempt;
  std::optional<std::string> nonce;
  std::string reason;
  bool transient;
};

struct ResultRequest {
  int attempt;
  std::optional<std::string> nonce;
  nlohmann::json result;
};

struct Lease {
  std::int64_t lease_seconds;
};

struct ResultAnswer {
  storage::Accepted accepted;
};

struct Done {
  bool done = true;
};

struct ClaimedJob {
  Job job;
  std::int64_t lease_seconds;
};

// The members `attempt` and `nonce` of a request's description.
Note attempt_note();
Note nonce_note();

const Described<RegisterRequest>& register_request();
const Described<Registered>& registered();
const Described<ClaimRequest>& claim_request();
const Described<LeaveRequest>& leave_request();
const Described<AttemptRequest>& attempt_request();
const Described<FailRequest>& fail_request();
const Described<ResultRequest>& result_request();
const Described<ResultAnswer>& result_answer();
const Described<Lease>& lease_row();
const Described<Done>& done();
const Described<ClaimedJob>& claimed_job();

}  // namespace nightjar::service::api
