#include "service/api/claimant.hpp"

#include <limits>
#include <utility>

#include "service/api/query.hpp"
#include "service/api/respond.hpp"
#include "storage/runners.hpp"
#include "web/secret.hpp"

namespace nightjar::service::api {

bool made_claim(const storage::Database& db, const storage::JobClaim& job, int attempt,
                const std::optional<std::string>& nonce, const web::Principal& sender) {
  if (job.attempt != attempt) return false;
  return web::equal_in_constant_time(nonce.value_or(""), job.nonce) &&
         registered_claimant(db, job, sender);
}

bool registered_claimant(const storage::Database& db, const storage::JobClaim& job,
                         const web::Principal& sender) {
  if (!job.runner) return false;
  const auto runner = storage::find_runner(db, *job.runner);
  return runner && (runner->token.empty() || runner->token == sender.name);
}

std::optional<int> attempt_header(const web::Request& request) {
  const auto given = request.header("nightjar-attempt");
  if (!given) return std::nullopt;
  const auto attempt = parse_id(*given);
  if (!attempt || !std::in_range<int>(*attempt))
    throw Refused(400, "Bad header",
                  "Nightjar-Attempt is a positive number, not '" + *given + "'.");
  return static_cast<int>(*attempt);
}

std::optional<std::string> nonce_header(const web::Request& request) {
  return request.header("nightjar-nonce");
}

std::vector<Parameter> claim_headers() {
  Parameter attempt{
      "Nightjar-Attempt",
      "As in the body, so that it is judged before the body comes.",
      {{"type", "integer"}, {"minimum", 1}, {"maximum", std::numeric_limits<int>::max()}}};
  Parameter nonce{"Nightjar-Nonce", "As in the body, too.", schema_of<std::string>()};
  attempt.in = nonce.in = "header";
  return {attempt, nonce};
}

void refuse_lost(const Job& job, int attempt) {
  if (job.state == JobState::cancelled)
    throw Refused(409, "Job cancelled",
                  "Job " + std::to_string(job.id.value) + " was cancelled: " + job.reason +
                      "; stop working on it.");
  throw Refused(409, "Lease lost",
                "Attempt " + std::to_string(attempt) + " does not hold job " +
                    std::to_string(job.id.value) + " any more; stop working on it.");
}

}  // namespace nightjar::service::api
