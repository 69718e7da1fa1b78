#include "service/cli/profile_diff.hpp"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "bisect/profile_diff.hpp"
#include "service/cli/failure.hpp"
#include "service/cli/model_results.hpp"
#include "storage/model/json_io.hpp"
#include "storage/model/json_problem.hpp"

namespace nightjar::cli {
namespace {

std::vector<Profile> read_profiles(const std::filesystem::path& file) {
  const std::string attempt = "cannot read the profile " + file.string() + ": ";
  const std::string text = read_text(file);
  try {
    return nlohmann::json::parse(text).at("items").get<std::vector<Profile>>();
  } catch (const nlohmann::json::exception& error) {
    throw BadInput(attempt + "it is not what `nightjar-runner profile --json` writes (" +
                   problem_of(error) + ")");
  }
}

std::vector<bisect::ProfileDiff> differences(const ProfileDiffOptions& options) {
  const auto before = read_profiles(options.before), after = read_profiles(options.after);
  std::vector<bisect::ProfileDiff> diffs;
  for (const Profile& now : after)
    for (const Profile& old : before)
      if (old.workload == now.workload && old.status == "profiled" && now.status == "profiled") {
        if (old.version != now.version || old.machine != now.machine || old.threads != now.threads)
          std::fprintf(stderr,
                       "nightjar: %s: more differs than the builds: the workload's version, the "
                       "machine or its "
                       "threads\n",
                       now.workload.c_str());
        diffs.push_back(bisect::difference(old, now));
      }
  if (diffs.empty())
    throw BadInput("cannot compare " + options.before.string() + " with " + options.after.string() +
                   ": no workload is profiled in both");
  return diffs;
}

nlohmann::json side_json(const bisect::Side& side) {
  return {{"seconds", side.seconds}, {"low", side.low}, {"high", side.high}, {"calls", side.calls}};
}

nlohmann::json diff_json(const bisect::ProfileDiff& diff) {
  auto changes = nlohmann::json::array();
  for (const auto& change : diff.changes)
    changes.push_back({{"operator", change.name},
                       {"on", change.on_device ? "gpu" : "cpu"},
                       {"kind", change.kind},
                       {"clear", change.clear},
                       {"before", side_json(change.before)},
                       {"after", side_json(change.after)},
                       {"share", change.share}});
  auto memory = nlohmann::json::array();
  for (const auto& part : diff.memory)
    memory.push_back({{"part", part.part}, {"before", part.before}, {"after", part.after}});
  return {
      {"workload", diff.workload},      {"runs", diff.runs},  {"before", side_json(diff.before)},
      {"after", side_json(diff.after)}, {"changes", changes}, {"memory", memory}};
}

std::string too_few(const bisect::ProfileDiff& diff) {
  if (diff.runs == 0) return "no run of one side saw the machine undisturbed: times say nothing";
  return std::to_string(diff.runs) + (diff.runs == 1 ? " run a side is" : " runs a side are") +
         " too few to call anything clear; use at least " + std::to_string(bisect::kFewestRuns);
}

// The peak, and which parts of it changed.
void print_memory(const std::vector<bisect::MemoryChange>& memory) {
  if (memory.empty()) return;
  std::printf("\n%-44s %19s %9s\n", "tensors' memory at the iteration's peak", "MB", "change");
  for (const auto& part : memory)
    if (part.before != part.after || &part == &memory.front())
      std::printf("%-44s %8.2f -> %7.2f %+9.2f\n", part.part.c_str(),
                  static_cast<double>(part.before) / 1e6, static_cast<double>(part.after) / 1e6,
                  static_cast<double>(part.after - part.before) / 1e6);
}

void print_diff(const bisect::ProfileDiff& diff) {
  const double whole = diff.after.seconds - diff.before.seconds;
  std::printf("%s\niteration %.3f -> %.3f ms (%+.1f %%)\n", diff.workload.c_str(),
              diff.before.seconds * 1e3, diff.after.seconds * 1e3,
              diff.before.seconds > 0 ? 100 * whole / diff.before.seconds : 0);
  if (diff.runs < bisect::kFewestRuns) std::printf("%s\n", too_few(diff).c_str());
  if (diff.changes.empty() && diff.runs == 0) return print_memory(diff.memory);
  if (diff.changes.empty()) {
    std::printf(
        "no operator changed: each by less than its runs differ, or than 1 %% of the iteration\n");
    return print_memory(diff.memory);
  }
  std::printf("\n%-44s %-9s %19s %9s %19s\n", "operator", "", "own ms", "change", "calls");
  for (const auto& change : diff.changes) {
    const std::string name = change.name + (change.on_device ? " (GPU)" : "");
    std::string kind(change.apart ? nightjar::name_of(change.kind) : "calls");
    if (change.apart && !change.clear) kind += "?";
    std::printf("%-44.44s %-9s %8.3f -> %7.3f %+9.3f", name.c_str(), kind.c_str(),
                change.before.seconds * 1e3, change.after.seconds * 1e3,
                (change.after.seconds - change.before.seconds) * 1e3);
    if (change.name != bisect::kOutside)
      std::printf(" %8.0f -> %7.0f", change.before.calls, change.after.calls);
    std::printf("\n");
  }
  print_memory(diff.memory);
}

}  // namespace

int profile_diff(const ProfileDiffOptions& options) {
  const auto diffs = differences(options);
  auto list = nlohmann::json::array();
  for (const auto& diff : diffs) {
    if (options.json && diff.runs < bisect::kFewestRuns)
      std::fprintf(stderr, "nightjar: %s: %s\n", diff.workload.c_str(), too_few(diff).c_str());
    if (options.json)
      list.push_back(diff_json(diff));
    else
      print_diff(diff);
    if (!options.json && &diff != &diffs.back()) std::printf("\n");
  }
  if (options.json) std::printf("%s\n", nlohmann::json{{"items", list}}.dump(2).c_str());
  return 0;
}

}  // namespace nightjar::cli
