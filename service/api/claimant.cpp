#include "service/api/claimant.hpp"

#include "service/api/respond.hpp"
#include "storage/runners.hpp"
#include "web/secret.hpp"

namespace nightjar::service::api {

bool made_claim(const storage::Database& db, const Job& job, int attempt,
                const std::optional<std::string>& nonce, const web::Principal& sender) {
  if (job.attempt != attempt || !job.runner) return false;
  if (!web::equal_in_constant_time(nonce.value_or(""), job.nonce)) return false;
  const auto runner = storage::find_runner(db, *job.runner);
  return runner && (runner->token.empty() || runner->token == sender.name);
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
