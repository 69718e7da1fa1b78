#include "service/cli/profile_diff.hpp"

#include <algorithm>
#include <cstdio>

#include "bisect/profile_diff.hpp"
#include "service/cli/failure.hpp"
#include "service/cli/model_results.hpp"
#include "storage/base/terminal.hpp"
#include "storage/base/text_table.hpp"
#include "storage/model/foreign_json.hpp"
#include "storage/model/json.hpp"
#include "storage/model/json_io.hpp"
#include "storage/model/json_problem.hpp"

namespace nightjar::cli {
namespace {

constexpr std::size_t longest_operator = 44;

std::vector<Profile> read_profiles(const std::filesystem::path& file) {
  const std::string attempt = "cannot read the profile " + file.string() + ": ";
  const std::string text = read_text(file);
  try {
    return parse_foreign_or_throw(text).at("items").get<std::vector<Profile>>();
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
          say(stderr,
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
         " too few to call anything clear; use at least " +
         std::to_string(bisect::fewest_profiled_runs);
}

std::string diff_number(double value, int digits, const char* sign = "") {
  char text[64];
  std::snprintf(text, sizeof text, *sign == '+' ? "%+.*f" : "%.*f", digits, value);
  return text;
}

std::string from_to(double before, double after, int digits) {
  return diff_number(before, digits) + " -> " + diff_number(after, digits);
}

void print_diff_table(const TextTable& table) {
  std::printf("\n%s", table_text(table, false).c_str());
}

// The peak, and which parts of it changed.
void print_memory(const std::vector<bisect::MemoryChange>& memory) {
  if (memory.empty()) return;
  TextTable table{{"tensors' memory at the iteration's peak", "MB", "change"}, {}, 1};
  for (const auto& part : memory) {
    if (part.before == part.after && &part != &memory.front()) continue;
    const double before = static_cast<double>(part.before) / 1e6,
                 after = static_cast<double>(part.after) / 1e6;
    table.rows.push_back(
        {part.part, from_to(before, after, 2), diff_number(after - before, 2, "+")});
  }
  print_diff_table(table);
}

std::vector<std::string> change_cells(const bisect::OperatorChange& change) {
  const std::string name = change.name + (change.on_device ? " (GPU)" : "");
  std::string kind(change.apart ? nightjar::name_of(change.kind) : "calls");
  if (change.apart && !change.clear) kind += "?";
  const double before = change.before.seconds * 1e3, after = change.after.seconds * 1e3;
  const bool has_calls = change.name != bisect::outside_operators;
  return {name.substr(0, longest_operator), kind, from_to(before, after, 3),
          diff_number(after - before, 3, "+"),
          has_calls ? from_to(change.before.calls, change.after.calls, 0) : ""};
}

void print_diff(const bisect::ProfileDiff& diff) {
  const double whole = diff.after.seconds - diff.before.seconds;
  say(stdout, "%s\n", diff.workload.c_str());
  say(stdout, "iteration %.3f -> %.3f ms (%+.1f %%)\n", diff.before.seconds * 1e3,
      diff.after.seconds * 1e3, diff.before.seconds > 0 ? 100 * whole / diff.before.seconds : 0);
  if (diff.runs < bisect::fewest_profiled_runs) say(stdout, "%s\n", too_few(diff).c_str());
  if (diff.changes.empty() && diff.runs == 0) return print_memory(diff.memory);
  if (diff.changes.empty()) {
    say(stdout,
        "no operator changed: each by less than its runs differ, or than 1 %% of the iteration\n");
    return print_memory(diff.memory);
  }
  TextTable table{{"operator", "what", "own ms", "change", "calls"}, {}, 2};
  for (const auto& change : diff.changes) table.rows.push_back(change_cells(change));
  print_diff_table(table);
  print_memory(diff.memory);
}

}  // namespace

int profile_diff(const ProfileDiffOptions& options) {
  const auto diffs = differences(options);
  auto list = nlohmann::json::array();
  for (const auto& diff : diffs) {
    if (options.json && diff.runs < bisect::fewest_profiled_runs)
      say(stderr, "nightjar: %s: %s\n", diff.workload.c_str(), too_few(diff).c_str());
    if (options.json)
      list.push_back(diff_json(diff));
    else
      print_diff(diff);
    if (!options.json && &diff != &diffs.back()) std::printf("\n");
  }
  if (options.json) put_text(stdout, nlohmann::json{{"items", list}}.dump(2) + "\n");
  return 0;
}

}  // namespace nightjar::cli
