#include "storage/model/profile.hpp"

#include <algorithm>

#include "storage/model/json_io.hpp"

namespace nightjar {

using nlohmann::json;

namespace {

using PerIteration = std::vector<double>;

// The field's name and where its bytes are, for reading and writing alike.
constexpr std::pair<const char*, std::int64_t MemorySplit::*> memory_parts[] = {
    {"peak", &MemorySplit::peak},
    {"parameters", &MemorySplit::parameters},
    {"buffers", &MemorySplit::buffers},
    {"gradients", &MemorySplit::gradients},
    {"optimizer_state", &MemorySplit::optimizer_state},
    {"inputs", &MemorySplit::inputs},
    {"kept_from_earlier_iterations", &MemorySplit::kept_from_earlier_iterations},
    {"activations", &MemorySplit::activations},
    {"workspace", &MemorySplit::workspace},
    {"gradients_made", &MemorySplit::gradients_made},
    {"outside_tensors", &MemorySplit::outside_tensors}};

// Earlier versions counted both among the inputs, or not at all.
bool came_later(std::int64_t MemorySplit::*part) {
  return part == &MemorySplit::kept_from_earlier_iterations ||
         part == &MemorySplit::outside_tensors;
}

constexpr std::pair<const char*, PerIteration ProfileRun::*> run_lists[] = {
    {"iteration_seconds", &ProfileRun::iteration_seconds},
    {"outside_seconds", &ProfileRun::outside_seconds},
    {"slowdown", &ProfileRun::slowdown},
    {"active_seconds", &ProfileRun::active_seconds},
    {"moving_seconds", &ProfileRun::moving_seconds},
    {"idle_seconds", &ProfileRun::idle_seconds}};

json text_or_null(const std::string& text) {
  return text.empty() ? json(nullptr) : json(text);
}

std::string profile_text(const json& in, const char* name) {
  return field<std::optional<std::string>>(in, name).value_or("");
}

json json_of(const MemorySplit& split) {
  json out = json::object();
  for (const auto& [name, part] : memory_parts) out[name] = split.*part;
  out["holders"] = json::object();
  for (const auto& [name, held] : split.holders)
    out["holders"][name] = {{"bytes", held.bytes},
                            {"tensors", held.tensors},
                            {"shape", held.shape},
                            {"place", text_or_null(held.place)}};
  return out;
}

json json_of(const ProfileRun& run) {
  json out{{"plain_seconds", run.plain_seconds}};
  for (const auto& [name, list] : run_lists) out[name] = run.*list;
  return out;
}

json json_of(const OperatorProfile& one) {
  return {{"name", one.name},
          {"self_seconds", one.self_seconds},
          {"calls", one.calls},
          {"device_seconds", one.device_seconds},
          {"flops", one.flops},
          {"bytes", one.bytes},
          {"unknown", one.unknown},
          {"dtype", text_or_null(one.dtype)},
          {"class", text_or_null(one.kind)}};
}

json json_of(const ProductHint& hint) {
  return {{"operator", hint.operation},
          {"dtype", hint.dtype},
          {"dimensions", hint.dimensions},
          {"multiple", hint.multiple},
          {"kind", hint.kind}};
}

std::map<std::string, HeldTensors> holders_in(const json& in) {
  std::map<std::string, HeldTensors> holders;
  for (const auto& [name, held] : in.items())
    holders[name] =
        held.is_number_integer()
            ? HeldTensors{parse_json(held, Parsed<std::int64_t>{})}
            : HeldTensors{field<std::int64_t>(held, "bytes"), field<std::int64_t>(held, "tensors"),
                          field<std::string>(held, "shape"), profile_text(held, "place")};
  return holders;
}

ProfileRun profile_run(const json& in) {
  ProfileRun run;
  run.plain_seconds = field<double>(in, "plain_seconds");
  for (const auto& [name, list] : run_lists) run.*list = field<PerIteration>(in, name);
  const std::size_t count = run.iteration_seconds.size();
  if (run.outside_seconds.size() != count || run.slowdown.size() != count)
    reject_json("a run's lists differ in length");
  return run;
}

OperatorProfile profile_operator(const json& in) {
  OperatorProfile one;
  one.name = field<std::string>(in, "name");
  one.self_seconds = field<std::vector<PerIteration>>(in, "self_seconds");
  one.device_seconds = field<std::vector<PerIteration>>(in, "device_seconds");
  one.calls = field<double>(in, "calls");
  one.flops = field<std::int64_t>(in, "flops");
  one.bytes = field<std::int64_t>(in, "bytes");
  one.unknown = field<std::int64_t>(in, "unknown");
  one.dtype = profile_text(in, "dtype");
  if (in.contains("class")) one.kind = profile_text(in, "class");  // earlier versions lack it
  return one;
}

template <class T>
std::vector<T> profile_list(const json& out, const char* name, T (*read)(const json&)) {
  if (!out.contains(name) || !out[name].is_array())
    reject_json(std::string("the list '") + name + "' is missing");
  std::vector<T> items;
  for (const json& item : out[name]) items.push_back(read(item));
  return items;
}

// Each operator has the runs and iterations of the profile, so that readers need not look.
void check_lengths(const Profile& profile) {
  for (const OperatorProfile& one : profile.operators)
    for (const auto* seconds : {&one.self_seconds, &one.device_seconds}) {
      bool fits = seconds->size() == profile.runs.size();
      for (std::size_t run = 0; fits && run < seconds->size(); ++run)
        fits = (*seconds)[run].size() == profile.runs[run].iteration_seconds.size();
      if (!fits) reject_json("the times of " + one.name + " are not one an iteration");
    }
}

// Lists of zeros for the runs that did not see an operator.
void fill_runs(std::vector<PerIteration>& lists, const std::vector<ProfileRun>& runs) {
  for (std::size_t run = lists.size(); run < runs.size(); ++run)
    lists.emplace_back(runs[run].iteration_seconds.size(), 0.0);
}

OperatorProfile& operator_of(Profile& profile, const OperatorProfile& like) {
  const auto found = std::find_if(profile.operators.begin(), profile.operators.end(),
                                  [&](const auto& one) { return one.name == like.name; });
  if (found != profile.operators.end()) return *found;
  OperatorProfile& added = profile.operators.emplace_back();
  added.name = like.name;
  fill_runs(added.self_seconds, profile.runs);
  fill_runs(added.device_seconds, profile.runs);
  return added;
}

}  // namespace

std::vector<std::pair<std::string, std::int64_t>> parts_of(const MemorySplit& split) {
  std::vector<std::pair<std::string, std::int64_t>> parts;
  for (const auto& [name, part] : memory_parts)
    if (part != &MemorySplit::gradients_made && (!came_later(part) || split.*part > 0))
      parts.emplace_back(name, split.*part);
  for (auto& [name, bytes] : parts) std::replace(name.begin(), name.end(), '_', ' ');
  return parts;
}

std::string text_of(const ProductHint& hint) {
  std::string text = hint.operation + " in " + hint.dtype + " of ";
  for (std::size_t i = 0; i < hint.dimensions.size(); ++i)
    text += (i ? " x " : "") + std::to_string(hint.dimensions[i]);
  const std::string multiple = std::to_string(hint.multiple);
  if (hint.kind == "precision") return text + ": tensor cores take it where TF32 is allowed";
  if (hint.kind == "layout") return text + ": tensor cores want channels last (NHWC)";
  if (hint.kind == "tile")
    return text + ": its last tiles of " + multiple + " x " + multiple + " are mostly empty";
  return text + ": tensor cores want multiples of " + multiple;
}

void append(Profile& profile, const Profile& more) {
  for (const OperatorProfile& one : more.operators) {
    OperatorProfile& target = operator_of(profile, one);
    for (auto list : {&OperatorProfile::self_seconds, &OperatorProfile::device_seconds})
      (target.*list).insert((target.*list).end(), (one.*list).begin(), (one.*list).end());
    target.calls = one.calls;
    target.flops = one.flops;
    target.bytes = one.bytes;
    target.unknown = one.unknown;
    target.dtype = one.dtype;
    target.kind = one.kind;
  }
  profile.runs.insert(profile.runs.end(), more.runs.begin(), more.runs.end());
  for (OperatorProfile& one : profile.operators) {
    fill_runs(one.self_seconds, profile.runs);
    fill_runs(one.device_seconds, profile.runs);
  }
  profile.memory = more.memory;
  profile.memory_reason = more.memory_reason;
  profile.hints = more.hints;
}

void to_json(json& out, const Ceilings& ceilings) {
  out = {{"device", ceilings.device},
         {"threads", ceilings.threads},
         {"flops", ceilings.flops},
         {"bytes", ceilings.bytes},
         {"emulated", ceilings.emulated}};
}

void from_json(const json& in, Ceilings& ceilings) {
  ceilings.device = field<std::string>(in, "device");
  ceilings.threads = field<int>(in, "threads");
  ceilings.flops = field<std::map<std::string, double>>(in, "flops");
  ceilings.bytes = field<double>(in, "bytes");
  ceilings.emulated = {};  // profiles of earlier versions did not say
  if (in.contains("emulated")) ceilings.emulated = field<std::vector<std::string>>(in, "emulated");
}

void from_json(const json& in, MemorySplit& split) {
  for (const auto& [name, part] : memory_parts)
    if (!came_later(part) || in.contains(name)) split.*part = field<std::int64_t>(in, name);
  // One version wrote it as "other_alive", with the holders' bytes alone.
  if (in.contains("other_alive"))
    split.kept_from_earlier_iterations = field<std::int64_t>(in, "other_alive");
  if (in.contains("holders")) split.holders = holders_in(in["holders"]);
}

void from_json(const json& in, ProductHint& hint) {
  hint = {field<std::string>(in, "operator"), field<std::string>(in, "dtype"),
          field<std::vector<std::int64_t>>(in, "dimensions"), field<int>(in, "multiple")};
  if (in.contains("kind")) hint.kind = field<std::string>(in, "kind");  // earlier versions lack it
}

void to_json(json& out, const Profile& profile) {
  out = {{"workload", profile.workload},
         {"version", profile.version},
         {"status", profile.status},
         {"reason", text_or_null(profile.reason)},
         {"build", {{"version", profile.torch_version}, {"commit", profile.torch_commit}}},
         {"machine", profile.machine},
         {"threads", profile.threads},
         {"runs", json::array()},
         {"operators", json::array()},
         {"memory", profile.memory ? json_of(*profile.memory) : json(nullptr)},
         {"memory_reason", text_or_null(profile.memory_reason)},
         {"hints", json::array()},
         {"ceilings", profile.ceilings ? json(*profile.ceilings) : json(nullptr)}};
  for (const auto& run : profile.runs) out["runs"].push_back(json_of(run));
  for (const auto& one : profile.operators) out["operators"].push_back(json_of(one));
  for (const auto& hint : profile.hints) out["hints"].push_back(json_of(hint));
}

void from_json(const json& in, Profile& profile) {
  profile = {};
  profile.workload = field<std::string>(in, "workload");
  profile.version = field<int>(in, "version");
  profile.status = field<std::string>(in, "status");
  profile.reason = profile_text(in, "reason");
  const json build = in.value("build", json::object());
  profile.torch_version = field<std::string>(build, "version");
  profile.torch_commit = field<std::string>(build, "commit");
  profile.machine = field<std::map<std::string, std::string>>(in, "machine");
  profile.threads = field<int>(in, "threads");
  profile.runs = profile_list(in, "runs", profile_run);
  profile.operators = profile_list(in, "operators", profile_operator);
  profile.memory_reason = profile_text(in, "memory_reason");
  if (in.contains("memory") && !in["memory"].is_null())
    profile.memory = in["memory"].get<MemorySplit>();
  if (in.contains("hints")) profile.hints = in["hints"].get<std::vector<ProductHint>>();
  if (in.contains("ceilings") && !in["ceilings"].is_null())
    profile.ceilings = in["ceilings"].get<Ceilings>();
  check_lengths(profile);
}

}  // namespace nightjar
