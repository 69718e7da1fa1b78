// Who may answer for a job: only the one who made its latest claim. Used by the routes of agents
// and of builders. Internal to the API.
#pragma once

#include <optional>
#include <string>

#include "storage/database.hpp"
#include "storage/model/job.hpp"
#include "web/server/message.hpp"

namespace nightjar::service::api {

// True if `attempt` is the job's latest, `nonce` is what its claim was told, and the sender's token
// is the one that registered the runner. Ids and attempts start again in another database, so they
// alone prove nothing. Without a nonce only a job passes that was claimed before nonces existed.
bool made_claim(const storage::Database& db, const Job& job, int attempt,
                const std::optional<std::string>& nonce, const web::Principal& sender);

// 409: the attempt does not hold the job, or the job was cancelled.
[[noreturn]] void refuse_lost(const Job& job, int attempt);

}  // namespace nightjar::service::api
