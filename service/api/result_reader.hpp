// Reads the body of a session's result, run by run, into what is stored. What a build says of its
// own run and cannot be is that run's failure; whatever else is wrong is the runner's, and the
// whole result is refused. Used off the writer's thread. Internal to the API.
#pragma once

#include "service/api/agent_messages.hpp"
#include "web/server/message.hpp"

namespace nightjar::service::api {

// The limits of a result, beside those of storage/model/job.hpp. Each is far above what an honest
// session has, and together they keep what becomes of a body below its own size.
inline constexpr std::size_t result_bytes = 128u << 20;
// A measured time takes sixteen characters: no more of them fit into a body.
inline constexpr std::size_t most_samples = 8u << 20;
inline constexpr std::size_t most_metrics = 100;          // of a run; the catalogue has a dozen
inline constexpr std::size_t run_held_bytes = 64u << 20;  // beside samples: profiles have a few MiB
inline constexpr std::size_t longest_text = 64u << 10;    // bytes as written; texts are lines

struct ReadResult {
  int attempt = 0;
  std::optional<std::string> nonce;
  SessionResult result;
  int bad_runs = 0;  // that became failures here
};

// What a build may say at any length, cut: it proves nothing, and no session is lost for it.
void cut(std::string& text);

// Throws Refused.
ReadResult read_result(const web::Request& request);

}  // namespace nightjar::service::api
