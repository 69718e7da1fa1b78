// Who may answer for a job: only the one who made its latest claim. Used by the routes of agents
// and of builders. Internal to the API.
#pragma once

#include <optional>
#include <string>

#include "service/api/document.hpp"
#include "storage/database.hpp"
#include "storage/jobs.hpp"
#include "web/server/message.hpp"

namespace nightjar::service::api {

// True if `attempt` is the job's latest, `nonce` is what its claim was told, and the sender's token
// is the one that registered the runner. Ids and attempts start again in another database, so they
// alone prove nothing. Without a nonce only a job passes that was claimed before nonces existed.
bool made_claim(const storage::Database& db, const storage::JobClaim& job, int attempt,
                const std::optional<std::string>& nonce, const web::Principal& sender);
// True if the sender's token is the one that registered the runner of the latest claim.
bool registered_claimant(const storage::Database& db, const storage::JobClaim& job,
                         const web::Principal& sender);

// What a head says of the claim, so that a body is judged before it comes: the headers
// Nightjar-Attempt and Nightjar-Nonce. Refused (400) if the attempt is no number.
std::optional<int> attempt_header(const web::Request& request);
std::optional<std::string> nonce_header(const web::Request& request);
std::vector<Parameter> claim_headers();

// 409: the attempt does not hold the job, or the job was cancelled.
[[noreturn]] void refuse_lost(const Job& job, int attempt);

}  // namespace nightjar::service::api
