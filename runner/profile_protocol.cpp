// What run_profile.py says, as a Profile: the event `profile` of its answer, or why there is none.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "runner/profile.hpp"
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

OperatorProfile& row_named(Profile& profile, const std::string& name) {
  const auto found = std::find_if(profile.operators.begin(), profile.operators.end(),
                                  [&](const auto& one) { return one.name == name; });
  if (found != profile.operators.end()) return *found;
  OperatorProfile& added = profile.operators.emplace_back();
  added.name = name;
  return added;
}

// Lists of zeros for the runs that did not see an operator.
void fill_runs(std::vector<PerIteration>& lists, const std::vector<ProfileRun>& runs) {
  for (std::size_t run = lists.size(); run < runs.size(); ++run)
    lists.emplace_back(runs[run].iteration_seconds.size(), 0.0);
}

void add_operators(Profile& profile, const Json& event) {
  const std::vector<ProfileRun> before(profile.runs.begin(), profile.runs.end() - 1);
  for (const Json& one : event.at("operators")) {
    OperatorProfile& target = row_named(profile, field<std::string>(one, "name"));
    fill_runs(target.self_seconds, before);
    fill_runs(target.device_seconds, before);
    target.self_seconds.push_back(field<PerIteration>(one, "self_seconds"));
    target.device_seconds.push_back(field<PerIteration>(one, "device_seconds"));
    target.calls = field<double>(one, "calls");
    target.flops = field<std::int64_t>(one, "flops");
    target.bytes = field<std::int64_t>(one, "bytes");
    target.unknown = field<std::int64_t>(one, "unknown");
    target.dtype = field<std::optional<std::string>>(one, "dtype").value_or("");
  }
  for (OperatorProfile& one : profile.operators) {
    fill_runs(one.self_seconds, profile.runs);
    fill_runs(one.device_seconds, profile.runs);
  }
}

void add_event(Profile& profile, const Json& event) {
  Profile grown = profile;
  grown.runs.push_back(run_of_event(event));
  add_operators(grown, event);
  grown.memory_reason = field<std::optional<std::string>>(event, "memory_reason").value_or("");
  if (!event.at("memory").is_null()) grown.memory = event.at("memory").get<MemorySplit>();
  grown.hints = event.at("hints").get<std::vector<AlignmentHint>>();
  profile = Json(grown).get<Profile>();  // reading checks that all lists fit
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
