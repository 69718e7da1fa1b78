// What a workload's process says on its protocol. A hostile one may spoil its own run only: the
// service must accept the session with whatever run comes of it.
#include <cmath>

#include "runner/run/protocol.hpp"
#include "service/api/agent_messages.hpp"
#include "service/api/respond.hpp"
#include "storage/model/json.hpp"
#include "tests/fuzz/targets.hpp"

namespace nightjar::fuzz {
namespace api = service::api;
using nlohmann::json;
namespace {

// As an agent posts it, and the service reads it.
void post(const runner::ParsedRun& run) {
  SessionResult session;
  session.runs.push_back(run.result);
  session.packages = run.packages;
  session.settings = run.settings;
  const json body{{"attempt", 1}, {"nonce", "0123456789abcdef"}, {"result", session}};
  web::Request request;
  request.path = "/api/v1/agent/jobs/1/result";
  request.body = body.dump(-1, ' ', false, json::error_handler_t::replace);
  const auto read = api::parse_body(request, api::result_request()).result.get<SessionResult>();
  require(read.runs.at(0).status == run.result.status, "a run's status changes on its way");
}

}  // namespace

void workload_protocol(std::string_view input) {
  runner::ProcessResult process;
  process.exit_code = 0;
  process.protocol = input;
  const auto run = runner::parse_run(process, {});
  if (run.result.status == RunStatus::measured) {
    for (const auto& [name, values] : run.result.samples)
      for (const double value : values) require(std::isfinite(value), name + " is no number");
    require(run.result.samples.contains("latency"), "a measured run has no sample");
  } else {
    require(!run.result.reason.empty(), "a run failed without a reason");
  }
  post(run);
  post(runner::parse_profile(process, {}));
}

}  // namespace nightjar::fuzz
