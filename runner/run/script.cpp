#include "runner/run/script.hpp"

#include <set>
#include <stdexcept>

#include "runner/process/failure.hpp"
#include "storage/base/files.hpp"
#include "storage/model/foreign_json.hpp"
#include "storage/model/json.hpp"
#include "storage/model/json_io.hpp"
#include "storage/model/workload.hpp"

namespace nightjar::runner {
using Json = nlohmann::json;
namespace {

void only(const Json& object, const std::set<std::string>& known, const std::string& where) {
  if (!object.is_object()) throw std::runtime_error(where + " is no object");
  for (const auto& [name, value] : object.items())
    if (!known.contains(name))
      throw std::runtime_error(where + " has the unknown field '" + name + "'");
}

ScriptedLevel level_of(const Json& json, const std::string& where) {
  only(json, {"level", "noise"}, where);
  return {json.at("level").get<double>(), json.value("noise", 0.0)};
}

RunCondition pattern_of(const Json& json) {
  only(json,
       {"workload", "commit", "version", "wheel", "wheel_sha256", "overlay_sha256", "build_from",
        "build_to", "file", "contains"},
       "when");
  const auto text = [&](const char* name) { return json.value(name, std::string()); };
  RunCondition when{text("workload"),
                    text("commit"),
                    text("version"),
                    text("wheel"),
                    text("wheel_sha256"),
                    text("overlay_sha256"),
                    {},
                    {},
                    text("file"),
                    text("contains")};
  if (json.contains("build_from")) when.build_from = field<std::int64_t>(json, "build_from");
  if (json.contains("build_to")) when.build_to = field<std::int64_t>(json, "build_to");
  return when;
}

Rule rule_of(const Json& json) {
  only(json, {"when", "metrics", "factors", "status", "reason", "checksum"}, "a rule");
  Rule rule;
  rule.when = pattern_of(json.value("when", Json::object()));
  const Json metrics = json.value("metrics", Json::object());
  for (const auto& [name, level] : metrics.items()) rule.metrics[name] = level_of(level, name);
  const Json factors = json.value("factors", Json::object());
  for (const auto& [name, factor] : factors.items()) rule.factors[name] = factor.get<double>();
  if (json.contains("checksum")) rule.checksum = json["checksum"].get<double>();
  if (json.contains("status"))
    rule.status = require_enum<RunStatus>(json["status"].get<std::string>());
  rule.reason = json.value("reason", std::string(rule.status ? "so the script says" : ""));
  return rule;
}

std::string workload_of(const Json& json) {
  only(json, {"name", "version"}, "a workload");
  const auto name = json.at("name").get<std::string>();
  if (!WorkloadName::parse(name)) throw std::runtime_error("'" + name + "' is no workload name");
  return name + "@" + std::to_string(field_or(json, "version", 1));
}

}  // namespace

Script read_script(const std::filesystem::path& path) {
  const auto text = read_file(path);
  if (!text) throw WrongUse("cannot read the script " + path.string());
  try {
    const Json json = parse_foreign_or_throw(*text);
    only(json,
         {"seed", "download", "unpack", "prepare_seconds", "run_seconds", "iterations", "control",
          "steal_share", "facts", "workloads", "rules"},
         "the script");
    Script script;
    script.seed = field_or(json, "seed", std::uint64_t{0});
    script.unpack = json.value("unpack", false);
    script.download = json.value("download", false);
    script.prepare_seconds = json.value("prepare_seconds", 0.0);
    script.run_seconds = json.value("run_seconds", 0.0);
    script.iterations = field_or(json, "iterations", 10);
    if (script.iterations < 1) throw std::runtime_error("iterations is less than 1");
    if (json.contains("control")) script.control = level_of(json["control"], "control");
    script.facts = json.value("facts", script.facts);
    script.machine.steal_share = json.value("steal_share", 0.0);
    for (const auto& item : json.at("workloads")) script.workloads.push_back(workload_of(item));
    for (const auto& item : json.at("rules")) script.rules.push_back(rule_of(item));
    return script;
  } catch (const std::exception& error) {
    throw WrongUse("script " + path.string() + ": " + error.what());
  }
}

std::string_view scripted_help() {
  return R"(A scripted runner measures nothing: FILE says what its runs result in, the same for the same
seed, job and place in the session. FILE is a JSON object:
  "workloads": [{"name": "python/resnet18/eval/cpu/fp32/b4/eager", "version": 1}, ...]
  "rules": [{"when": {...}, "metrics": {"latency": {"level": 0.1, "noise": 0.02}},
             "factors": {"latency": 1.1}, "status": "crashed", "reason": "...",
             "checksum": 1}, ...]
      All rules whose "when" matches apply in order: "metrics" sets, "factors" multiplies, "status"
      makes the run end so, "checksum" is what its output sums to. "noise" is the relative standard
      deviation from run to run. A status of broken_environment without a workload pattern makes the
      environment unusable. In "when" (all optional): "workload", "version", "wheel" (globs),
      "commit" (begin of git_version), "wheel_sha256", "overlay_sha256" (begin; "none": no overlay),
      "build_from", "build_to" (build ids), "file" and "contains" (a file below site-packages holds
      a text; needs "unpack").
  "seed": 0, "iterations": 10, "control": {"level": 0.01, "noise": 0.01},
  "facts": {"kernel": "6.8.0"}   of what kind of machine, in place of what this one is
  "steal_share": 0    share of CPU time that the host takes away during a session
  "download": false   fetch wheels and overlays and check their hashes
  "unpack": false     make the environments for real, but import nothing
  "prepare_seconds": 0, "run_seconds": 0   how long it pretends to be busy
)";
}

}  // namespace nightjar::runner
