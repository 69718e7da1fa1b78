#include "runner/agent/coordinator.hpp"

#include "storage/base/foreign_text.hpp"
#include "storage/model/foreign_json.hpp"
#include "storage/model/job.hpp"
#include "storage/model/json.hpp"
#include "storage/model/json_io.hpp"
#include "web/access.hpp"

namespace nightjar::runner {
using Json = nlohmann::json;
namespace {

constexpr std::size_t large = 64 << 10;  // bytes; a body that may take its time

// The body that names a claim, to be added to.
Json of_claim(const Claim& claim) {
  return {{"attempt", claim.attempt}, {"nonce", claim.nonce}};
}

// The claim that a result is for, as headers: the service judges it by them before the result
// comes. `result_json` says attempt and nonce first, since its members are sorted.
std::vector<std::pair<std::string, std::string>> claim_headers(const std::string& result_json) {
  const auto rest = result_json.find(",\"result\":");
  const Json claim = parse_foreign(result_json.substr(0, rest) + "}");
  if (rest == std::string::npos || !claim.is_object()) return {};
  return {{"Nightjar-Attempt", std::to_string(field_or(claim, "attempt", 0))},
          {"Nightjar-Nonce", field_or(claim, "nonce", std::string())}};
}

// Throws Json::exception for a lease that nobody grants.
double lease_in(const Json& answer) {
  constexpr double least = .01, most = 7 * 24 * 3600;
  const auto seconds = field<double>(answer, "lease_seconds");
  if (!(seconds >= least && seconds <= most))
    reject_json("in 'lease_seconds': no lease lasts " + std::to_string(seconds) + " s");
  return seconds;
}

std::string claim_query(int attempt, const std::string& nonce) {
  return "?attempt=" + std::to_string(attempt) + (nonce.empty() ? "" : "&nonce=" + nonce);
}

std::string job_path(JobId job, const char* action) {
  return "/api/v1/agent/jobs/" + std::to_string(job.value) + "/" + action;
}

}  // namespace

Coordinator::Coordinator(std::string service, std::string token)
    : service_(std::move(service)), token_(std::move(token)) {}

Answer Coordinator::post(const std::string& path, const std::string& body, std::string& answer,
                         std::chrono::milliseconds timeout) {
  web::ClientRequest request;
  request.method = "POST";
  request.url = service_ + path;
  request.headers = {{"Content-Type", "application/json"}};
  request.body = body;
  request.timeout = timeout;
  request.while_moving = body.size() > large;
  return send(std::move(request), answer);
}

Answer Coordinator::send(web::ClientRequest request, std::string& answer) {
  if (!token_.empty()) request.headers.emplace_back("Authorization", "Bearer " + token_);
  const auto result = client_.send(request);
  status_ = result ? result.response->status : 0;
  is_of_service_ = true;
  if (!result) {
    error_ = result.failure.what;
    return Answer::away;
  }
  answer = result.response->body;
  if (status_ == 200 || status_ == 201) return Answer::done;
  if (status_ == 204) return Answer::nothing;
  error_ = request.method + " " + request.url + " was answered with " + std::to_string(status_) +
           ": " + web::problem_detail(answer);
  is_of_service_ = parse_foreign(answer).is_object();
  return web::may_pass(status_) ? Answer::away : Answer::refused;
}

bool Coordinator::is_too_large_for_proxy() const {
  return status_ == 413 && !is_of_service_;
}

bool Coordinator::may_be_lifted() const {
  return status_ == 401 || status_ == 403 || !is_of_service_;
}

Answer Coordinator::use_enrolment(const std::string& one_time_token, const std::string& name,
                                  const Sha256& own) {
  const Json body{{"enrolment", one_time_token}, {"name", name}, {"sha256", own.str()}};
  std::string text;
  return post("/api/v1/agent/enrol", body.dump(), text);
}

Answer Coordinator::replace_token(const Sha256& own) {
  std::string text;
  return post("/api/v1/agent/rotate", Json{{"sha256", own.str()}}.dump(), text);
}

Answer Coordinator::enroll(const Registration& registration, RunnerId& runner) {
  auto facts = registration.facts;
  for (auto& [name, value] : facts) value = shortened(value, longest_reason);
  const Json body{{"name", registration.name},
                  {"labels", registration.labels},
                  {"version", NIGHTJAR_VERSION},
                  {"workloads", registration.workloads},
                  {"facts", facts},
                  {"instance", registration.instance}};
  std::string text;
  const Answer answer = post("/api/v1/agent/register", body.dump(), text);
  if (answer != Answer::done) return answer;
  try {
    runner.value = field<std::int64_t>(parse_foreign_or_throw(text), "runner");
    return Answer::done;
  } catch (const Json::exception& error) {
    error_ = "the service's answer to register cannot be read: " + std::string(error.what());
    return Answer::away;
  }
}

Answer Coordinator::claim(RunnerId runner, const std::string& instance, std::chrono::seconds wait,
                          Claim& claim) {
  const Json body{{"runner", runner.value}, {"instance", instance}, {"wait_seconds", wait.count()}};
  std::string text;
  const Answer answer =
      post("/api/v1/agent/claim", body.dump(), text, wait + std::chrono::seconds(15));
  if (answer != Answer::done) return answer;
  try {
    const Json json = parse_foreign_or_throw(text);
    claim.job.value = field<std::int64_t>(json, "id");
    claim.attempt = field<int>(json, "attempt");
    claim.nonce = json.value("nonce", "");  // an older service has none
    claim.lease_seconds = lease_in(json);
    claim.spec = json.at("spec").dump();
    return Answer::done;
  } catch (const Json::exception& error) {
    error_ = "the service's answer to claim cannot be read: " + std::string(error.what());
    return Answer::away;
  }
}

Answer Coordinator::leave(RunnerId runner, const std::string& instance) {
  const Json body{{"runner", runner.value}, {"instance", instance}};
  std::string text;
  return post("/api/v1/agent/leave", body.dump(), text, std::chrono::seconds(10));
}

Answer Coordinator::renew(const Claim& claim, double& lease_seconds) {
  std::string text;
  const Answer answer =
      post(job_path(claim.job, "renew"), of_claim(claim).dump(), text, std::chrono::seconds(10));
  if (answer != Answer::done) return answer;
  try {
    lease_seconds = lease_in(parse_foreign_or_throw(text));
  } catch (const Json::exception&) {  // the lease was renewed all the same
  }
  return Answer::done;
}

Answer Coordinator::send_result(JobId job, const std::string& result_json) {
  web::ClientRequest request;
  request.method = "POST";
  request.url = service_ + job_path(job, "result");
  request.headers = claim_headers(result_json);
  request.headers.emplace_back("Content-Type", "application/json");
  request.body = result_json;
  request.timeout = std::chrono::seconds(120);
  request.while_moving = result_json.size() > large;
  std::string text;
  return send(std::move(request), text);
}

Answer Coordinator::send_part(WheelTransfer& transfer, const std::string& part) {
  web::ClientRequest request;
  request.method = "PUT";
  request.url = service_ + job_path(transfer.job, "wheel") +
                claim_query(transfer.attempt, transfer.nonce) +
                "&offset=" + std::to_string(transfer.received) +
                "&size=" + std::to_string(transfer.size_bytes) + "&sha256=" + transfer.sha256.str();
  request.headers = {{"Content-Type", "application/octet-stream"}};
  request.body = part;
  request.while_moving = true;
  request.timeout = std::chrono::seconds(300);  // the last part is hashed and synced there
  std::string text;
  const Answer answer = send(std::move(request), text);
  if (answer != Answer::done) return answer;
  try {
    const Json json = parse_foreign_or_throw(text);
    transfer.received = field<std::uint64_t>(json, "received");
    transfer.complete = json.at("complete").get<bool>();
    return Answer::done;
  } catch (const Json::exception& error) {
    error_ =
        "the service's answer to a part of a wheel cannot be read: " + std::string(error.what());
    return Answer::away;
  }
}

Answer Coordinator::send_log(JobId job, int attempt, const std::string& nonce,
                             const std::string& log) {
  web::ClientRequest request;
  request.method = "PUT";
  request.url = service_ + job_path(job, "log") + claim_query(attempt, nonce);
  request.headers = {{"Content-Type", "text/plain"}};
  request.body = log;
  request.timeout = std::chrono::seconds(120);
  request.while_moving = true;
  std::string text;
  return send(std::move(request), text);
}

Answer Coordinator::send_outcome(JobId job, const std::string& outcome_json) {
  std::string text;
  return post(job_path(job, "outcome"), outcome_json, text, std::chrono::seconds(60));
}

Answer Coordinator::fail(const Claim& claim, const std::string& reason, Failure kind) {
  Json body = of_claim(claim);
  body["reason"] = shortened(reason, longest_reason);
  if (kind == Failure::transient) body["transient"] = true;
  std::string text;
  return post(job_path(claim.job, "fail"),
              body.dump(-1, ' ', false, Json::error_handler_t::replace), text);
}

Answer Coordinator::release(const Claim& claim) {
  std::string text;
  return post(job_path(claim.job, "release"), of_claim(claim).dump(), text,
              std::chrono::seconds(10));
}

}  // namespace nightjar::runner
