// parse_profile of runner/run/protocol.hpp: what run_profile.py says, as a profile.
#include <sstream>

#include "runner/format/suite_result.hpp"
#include "runner/run/protocol.hpp"
#include "storage/model/foreign_json.hpp"
#include "storage/model/json.hpp"
#include "storage/model/json_io.hpp"

namespace nightjar::runner {
using Json = nlohmann::json;
namespace {

constexpr std::size_t most_operators = 10'000;  // PyTorch has some thousands

using PerIteration = std::vector<double>;

struct ProfileAnswer {
  Json profile;  // the event; null: there is none
  ReadyTorch torch;
};

ProfileAnswer answer_of(const std::string& protocol) {
  ProfileAnswer answer;
  std::istringstream lines(protocol);
  for (std::string line; std::getline(lines, line);) {
    const Json event = parse_foreign(line);
    if (!event.is_object()) continue;
    const std::string kind = text_in(event, "event");
    if (kind == "profile") answer.profile = event;
    if (kind == "ready" && event.contains("torch") && event["torch"].is_object())
      answer.torch = {text_in(event["torch"], "version"), text_in(event["torch"], "git_version"),
                      text_in(event["torch"], "path")};
  }
  return answer;
}

ParsedRun without_profile(RunStatus status, const std::string& reason,
                          const ProcessResult& process) {
  ParsedRun run;
  const bool unavailable = status == RunStatus::unavailable;
  run.result.status = unavailable ? RunStatus::unavailable : RunStatus::failed;
  run.result.reason = contract_reason(status, reason);
  run.details = process.end_of_output();
  return run;
}

ProfileRun run_of_event(const Json& event) {
  ProfileRun run;
  run.plain_seconds = field<double>(event, "plain_seconds");
  run.iteration_seconds = field<PerIteration>(event, "iteration_seconds");
  run.outside_seconds = field<PerIteration>(event, "outside_seconds");
  run.slowdown = field<PerIteration>(event, "slowdown");
  for (const Json& iteration : event.at("gpu")) {
    run.active_seconds.push_back(field<double>(iteration, "active"));
    run.moving_seconds.push_back(field<double>(iteration, "moving"));
    run.idle_seconds.push_back(field<double>(iteration, "idle"));
  }
  return run;
}

OperatorProfile operator_of_event(const Json& event) {
  OperatorProfile one;
  one.name = field<std::string>(event, "name");
  one.self_seconds = {field<PerIteration>(event, "self_seconds")};
  one.device_seconds = {field<PerIteration>(event, "device_seconds")};
  one.calls = field<double>(event, "calls");
  one.flops = field<std::int64_t>(event, "flops");
  one.bytes = field<std::int64_t>(event, "bytes");
  one.unknown = field<std::int64_t>(event, "unknown");
  one.dtype = field<std::optional<std::string>>(event, "dtype").value_or("");
  if (event.contains("class"))
    one.kind = field<std::optional<std::string>>(event, "class").value_or("");
  return one;
}

Profile profile_of_event(const Json& event) {
  Profile one;
  one.runs.push_back(run_of_event(event));
  if (event.at("operators").size() > most_operators) reject_json("in 'operators': too many");
  for (const Json& row : event.at("operators")) one.operators.push_back(operator_of_event(row));
  one.memory_reason = field<std::optional<std::string>>(event, "memory_reason").value_or("");
  if (!event.at("memory").is_null()) one.memory = event.at("memory").get<MemorySplit>();
  one.hints = event.at("hints").get<std::vector<ProductHint>>();
  return Json(one).get<Profile>();  // reading checks that all lists fit
}

}  // namespace

ParsedRun parse_profile(const ProcessResult& process, const ExpectedTorch& expected) {
  const ProfileAnswer answer = answer_of(process.protocol);
  if (answer.profile.is_null() || !process.fine()) {
    const RunResult result = parse_run(process, expected).result;
    return without_profile(result.status, result.reason, process);
  }
  if (const auto wrong = mismatch(answer.torch, expected); !wrong.empty())
    return without_profile(RunStatus::broken_environment, wrong, process);
  ParsedRun run;
  run.result.seconds = process.seconds;
  run.torch = answer.torch;
  try {
    run.result.profile = profile_of_event(answer.profile);
    run.fastest_probe = field<double>(answer.profile, "fastest_probe");
  } catch (const Json::exception& error) {
    return without_profile(
        RunStatus::failed,
        std::string("the profile is not as docs/profiles.md says: ") + error.what(), process);
  }
  return run;
}

}  // namespace nightjar::runner
