// The body that an agent posts with a session's result. What the service accepts must read the same
// when it is stored.
#include <stdexcept>

#include "service/api/respond.hpp"
#include "service/api/result_reader.hpp"
#include "storage/model/json.hpp"
#include "storage/model/metric.hpp"
#include "storage/model/run_value.hpp"
#include "tests/fuzz/targets.hpp"

namespace nightjar::fuzz {
namespace api = service::api;
using nlohmann::json;

void result_json(std::string_view input) {
  web::Request request;
  request.path = "/api/v1/agent/jobs/1/result";
  request.body = input;
  SessionResult result;
  try {
    result = api::read_result(request).result;
  } catch (const api::Refused& refused) {
    require(json::accept(refused.response().body), "a refusal is no JSON");
    return;
  }
  const std::string stored = json(result).dump(-1, ' ', false, json::error_handler_t::replace);
  const auto again = json::parse(stored).get<SessionResult>();
  require(json(again).dump(-1, ' ', false, json::error_handler_t::replace) == stored,
          "a result changes when it is stored");
  for (const RunResult& run : result.runs)
    for (const Metric& metric : all_metrics()) value_of(run, metric.name);
}

}  // namespace nightjar::fuzz
