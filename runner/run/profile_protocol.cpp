// What run_profile.py says, as a Profile: the event `profile` of its answer, or why there is none.
#include <nlohmann/json.hpp>
#include <sstream>

#include "runner/run/profile.hpp"
#include "storage/model/json_io.hpp"

namespace nightjar::runner {
using Json = nlohmann::json;
namespace {

using PerIteration = std::vector<double>;

struct ProfileAnswer {
  Json profile;  // the event; null: there is none
  ReadyTorch torch;
};

ProfileAnswer answer_of(const std::string& protocol) {
  ProfileAnswer answer;
  std::istringstream lines(protocol);
  for (std::string line; std::getline(lines, line);) {
    const Json event = Json::parse(line, nullptr, false);
    if (!event.is_object()) continue;
    const std::string kind = text_in(event, "event");
    if (kind == "profile") answer.profile = event;
    if (kind == "ready" && event.contains("torch") && event["torch"].is_object())
      answer.torch = {text_in(event["torch"], "version"), text_in(event["torch"], "git_version"),
                      text_in(event["torch"], "path")};
  }
  return answer;
}

// As `measure` says it: two states, other kinds of failure lead the reason.
void fail_profile(Profile& profile, RunStatus status, const std::string& reason) {
  profile.status = status == RunStatus::unavailable ? "unavailable" : "failed";
  const bool plain = status == RunStatus::unavailable || status == RunStatus::failed;
  profile.reason = (plain ? "" : std::string(name_of(status)) + ": ") + reason;
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
  return one;
}

void add_event(Profile& profile, const Json& event) {
  Profile one;
  one.runs.push_back(run_of_event(event));
  for (const Json& row : event.at("operators")) one.operators.push_back(operator_of_event(row));
  one.memory_reason = field<std::optional<std::string>>(event, "memory_reason").value_or("");
  if (!event.at("memory").is_null()) one.memory = event.at("memory").get<MemorySplit>();
  one.hints = event.at("hints").get<std::vector<AlignmentHint>>();
  append(profile, Json(one).get<Profile>());  // reading checks that all lists fit
}

}  // namespace

void add_run(Profile& profile, const ProcessResult& process, const ExpectedTorch& expected,
             double& fastest_probe) {
  const ProfileAnswer answer = answer_of(process.protocol);
  if (answer.profile.is_null() || !process.fine()) {
    const ParsedRun run = parse_run(process, expected);
    return fail_profile(profile, run.result.status, run.result.reason);
  }
  if (const auto wrong = mismatch(answer.torch, expected); !wrong.empty())
    return fail_profile(profile, RunStatus::broken_environment, wrong);
  try {
    add_event(profile, answer.profile);
    fastest_probe = field<double>(answer.profile, "fastest_probe");
  } catch (const Json::exception& error) {
    fail_profile(profile, RunStatus::failed,
                 std::string("the profile is not as docs/profiles.md says: ") + error.what());
  }
}

}  // namespace nightjar::runner
