#include "service/engine/night/suites.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

#include "bisect/suite.hpp"
#include "service/report/quantity.hpp"
#include "storage/base/digest.hpp"
#include "storage/builds.hpp"
#include "storage/model/run_value.hpp"
#include "storage/model/workload_variant.hpp"
#include "storage/nights.hpp"

namespace nightjar::service {
namespace {
using storage::SuiteRun;
using storage::SummedSuite;

constexpr std::size_t most_named_suites = 5;  // members that a reason names
constexpr int at_once = 1;                    // nights of a round, so that requests get their turn

// All runs of one workload on one machine class.
struct Measured {
  WorkloadId workload;
  int version = 1;
  bool failed = false;
  std::optional<Accuracy> accuracy;  // the first word that does not pass, else the first word
  std::map<std::string, std::vector<double>> values;

  std::optional<double> location(const std::string& metric) const {
    const auto found = values.find(metric);
    return found == values.end() ? std::nullopt
                                 : std::optional(bisect::hodges_lehmann(found->second));
  }
};
using MeasuredByName = std::map<std::pair<MachineId, std::string>, Measured>;

bool is_pass(Accuracy word) {
  return bisect::passes(name_of(word), std::nullopt, false);
}

// What is kept of a run, as storage has it of newer ones.
std::optional<Accuracy> accuracy_of(const SuiteRun& run) {
  if (run.accuracy || run.status == RunStatus::measured) return run.accuracy;
  return nightjar::accuracy_of(run.status, false);
}

MeasuredByName by_name(const std::vector<SuiteRun>& runs) {
  MeasuredByName all;
  for (const SuiteRun& run : runs) {
    Measured& one = all[{run.machine, run.name}];
    one.workload = run.workload;
    one.version = run.version;
    one.failed |= is_failure(run.status);
    const auto word = accuracy_of(run);
    if (word && (!one.accuracy || (is_pass(*one.accuracy) && !is_pass(*word)))) one.accuracy = word;
    for (const auto& [metric, value] : run.values)
      if (std::isfinite(value) && value > 0) one.values[metric].push_back(value);
  }
  return all;
}

bool is_eager(const WorkloadName& name) {
  return compiler_of(name) == "eager";
}

// The same in eager mode, with as many threads.
std::optional<WorkloadName> eager_of(const WorkloadName& name) {
  auto eager = name.variant(name.precision(), name.batch(), "eager");
  const auto threads = threads_of(name);
  return eager && threads ? with_threads(*eager, *threads) : eager;
}

const Measured* eager_beside(const MeasuredByName& all, MachineId machine,
                             const WorkloadName& name) {
  const auto eager = eager_of(name);
  if (!eager) return nullptr;
  const auto found = all.find({machine, eager->str()});
  return found == all.end() ? nullptr : &found->second;
}

// Values as docs/formats.md defines them.
SuiteMember member_of(const WorkloadName& name, const Measured& own, const Measured* eager) {
  SuiteMember member;
  member.workload = own.workload;
  member.name = name.str();
  member.version = own.version;
  member.accuracy = own.accuracy;
  member.latency = own.location("latency");
  const auto eager_over_own = [&](const char* metric) -> std::optional<double> {
    const auto above = eager ? eager->location(metric) : std::nullopt;
    const auto below = own.location(metric);
    return above && below ? std::optional(*above / *below) : std::nullopt;
  };
  const auto put = [&](SuiteMeasure measure, std::optional<double> value) {
    if (value) member.values[measure] = *value;
  };
  auto speedup = own.location("speedup");
  if (!speedup) speedup = eager_over_own("latency");
  put(SuiteMeasure::speedup, speedup);
  put(SuiteMeasure::compile_time, own.location("compile_time"));
  const bool on_cpu = name.device() == "cpu";
  const auto given = own.location("compression_ratio");  // of the device's memory
  // No ratio of two processes' peaks: that of the compiled one is mostly its compiler's.
  if (on_cpu) put(SuiteMeasure::cpu_compression, given);
  put(SuiteMeasure::gpu_compression, given && !on_cpu ? given : eager_over_own("peak_gpu_memory"));
  member.passed = bisect::passes(name_of(own.accuracy.value_or(Accuracy::pass)),
                                 own.failed ? std::optional(0.0) : speedup, false);
  return member;
}

SuiteKey key_of(MachineId machine, const std::string& variant, const WorkloadName& name) {
  const auto text = [](std::string_view part) { return std::string(part); };
  return {machine,
          variant,
          text(name.suite()),
          text(name.task()),
          text(name.device()),
          text(name.precision()),
          text(name.backend())};
}

std::map<SuiteKey, std::vector<SuiteMember>> suites_of(const std::vector<SuiteRun>& runs,
                                                       const std::string& variant) {
  std::map<SuiteKey, std::vector<SuiteMember>> suites;
  const MeasuredByName all = by_name(runs);
  for (const auto& [where, own] : all) {
    const auto name = WorkloadName::parse(where.second);
    if (!name || is_eager(*name)) continue;
    suites[key_of(where.first, variant, *name)].push_back(
        member_of(*name, own, eager_beside(all, where.first, *name)));
  }
  return suites;
}

// Returns the values of the members that pass and have one.
bisect::Members values_of(const std::vector<SuiteMember>& members, SuiteMeasure measure) {
  bisect::Members values;
  for (const SuiteMember& member : members)
    if (const auto found = member.values.find(measure);
        member.passed && found != member.values.end())
      values[member.workload] = found->second;
  return values;
}

const SuiteMean* mean_in(const SuiteSummary& suite, SuiteMeasure measure) {
  for (const SuiteMean& mean : suite.means)
    if (mean.measure == measure) return &mean;
  return nullptr;
}

std::vector<bisect::NightMean> nights_of(const std::vector<SummedSuite>& earlier,
                                         SuiteMeasure measure) {
  std::vector<bisect::NightMean> nights;
  for (const SummedSuite& suite : earlier)
    if (const SuiteMean* mean = mean_in(suite.summary, measure))
      nights.push_back({values_of(suite.members, measure), mean->level, mean->verdict,
                        mean->change ? std::optional(mean->change->ratio) : std::nullopt});
  return nights;
}

// Writes members as a person knows them: tonight's, and those that only earlier nights had.
class Names {
 public:
  Names(const std::vector<SuiteMember>& tonight, const std::vector<SummedSuite>& earlier) {
    for (const SuiteMember& member : tonight) tonight_[member.workload] = &member;
    for (const SummedSuite& suite : earlier)
      for (const SuiteMember& member : suite.members)
        earlier_.try_emplace(member.workload, &member);
  }

  // "python/a/eval/…, python/b/eval/… (fail_accuracy)"; at most most_named_suites, then how many
  // more.
  std::string list(const std::vector<WorkloadId>& members) const {
    std::string text;
    for (std::size_t i = 0; i < members.size() && i < most_named_suites; ++i)
      text += (i == 0 ? "" : ", ") + one(members[i]);
    if (members.size() > most_named_suites)
      text += " and " + std::to_string(members.size() - most_named_suites) + " more";
    return text;
  }

 private:
  // With the word of one that is there and does not pass.
  std::string one(WorkloadId member) const {
    const auto now = tonight_.find(member);
    if (now == tonight_.end()) return earlier_.at(member)->name;
    const SuiteMember& found = *now->second;
    const bool is_word = !found.passed && found.accuracy && !is_pass(*found.accuracy);
    return found.name + (is_word ? " (" + std::string(name_of(*found.accuracy)) + ")" : "");
  }

  std::map<WorkloadId, const SuiteMember*> tonight_, earlier_;
};

std::string unsigned_percent(double share) {
  return change(1 + share).substr(1);
}

// What is no change, and why there is no verdict.
std::string allowed_text(const bisect::MeanVerdict& verdict) {
  if (!verdict.allowed) return "too few nights are known for a verdict";
  const std::string text = "up to " + unsigned_percent(*verdict.allowed) + " is no change";
  return verdict.compared >= bisect::enough_members
             ? text
             : text + "; means over fewer than " + std::to_string(bisect::enough_members) +
                   " such members are not judged";
}

// "37 members that were there before are -5.1 % (-6.0 % to -4.2 %) against their level; ..."
std::string compared_text(const bisect::MeanVerdict& verdict) {
  if (!verdict.change) return "no member was there before";
  const bisect::Ratio& moved = *verdict.change;
  if (verdict.compared == 1)
    return "1 member that was there before is " + change(moved.ratio) + " against its level; " +
           allowed_text(verdict);
  return std::to_string(verdict.compared) + " members that were there before are " +
         change(moved.ratio) + " (" + change_interval(moved.low, moved.high) +
         ") against their level; " + allowed_text(verdict);
}

std::string verdict_text(const bisect::MeanVerdict& verdict, const Names& names) {
  switch (verdict.verdict) {
    case SuiteVerdict::first_night:
      return "no night before it has this mean";
    case SuiteVerdict::suspect_worse:
    case SuiteVerdict::suspect_better:
      return compared_text(verdict) + "; the next night tells whether it stays";
    case SuiteVerdict::worse:
    case SuiteVerdict::better:
      return compared_text(verdict) + "; the night before showed it, too";
    case SuiteVerdict::members_changed:
      return "the mean moved by " + change(verdict.moved) + " because its members changed; " +
             compared_text(verdict);
    case SuiteVerdict::same:
      break;
  }
  if (verdict.carried_by.empty()) return compared_text(verdict);
  return compared_text(verdict) + "; what moved the mean: " + names.list(verdict.carried_by);
}

std::string reason_of(const bisect::MeanVerdict& verdict, const Names& names) {
  std::string text = verdict_text(verdict, names);
  if (!verdict.came.empty()) text += "; came: " + names.list(verdict.came);
  if (!verdict.went.empty()) text += "; went: " + names.list(verdict.went);
  return text;
}

// Hashes the members' names and versions, which are the same on all machine classes and services.
Sha256 identity_of(const bisect::Members& values, const std::vector<SuiteMember>& members) {
  std::set<std::string> lines;
  for (const SuiteMember& member : members)
    if (values.contains(member.workload))
      lines.insert(member.name + "@" + std::to_string(member.version) + "\n");
  Digest digest;
  for (const std::string& line : lines) digest.add(line);
  return digest.hex();
}

std::optional<SuiteMean> judged_mean(SuiteMeasure measure, const std::vector<SuiteMember>& members,
                                     const std::vector<SummedSuite>& earlier, const Names& names) {
  const bisect::Members values = values_of(members, measure);
  if (values.empty()) return std::nullopt;
  const bisect::MeanPolicy policy = bisect::policy_of(measure);
  const bisect::MeanVerdict verdict =
      bisect::judge_mean(nights_of(earlier, measure), values, policy);
  SuiteMean mean{.measure = measure,
                 .value = bisect::mean_of(values, policy),
                 .members = static_cast<int>(values.size()),
                 .members_sha256 = identity_of(values, members),
                 .level = verdict.level,
                 .verdict = verdict.verdict,
                 .allowed = verdict.allowed,
                 .came = static_cast<int>(verdict.came.size()),
                 .went = static_cast<int>(verdict.went.size()),
                 .reason = reason_of(verdict, names)};
  if (verdict.change)
    mean.change = SuiteChange{verdict.change->ratio, verdict.change->low, verdict.change->high,
                              static_cast<int>(verdict.compared)};
  return mean;
}

SummedSuite summed_up(const Night& night, const SuiteKey& key, std::vector<SuiteMember> members,
                      const std::vector<SummedSuite>& earlier) {
  SummedSuite suite;
  suite.summary.night = night.id;
  suite.summary.build = *night.build;
  suite.summary.at = night.started_at;
  suite.summary.key = key;
  suite.summary.models = static_cast<int>(members.size());
  for (const SuiteMember& member : members) suite.summary.passed += member.passed;
  const Names names(members, earlier);
  for (const SuiteMeasure measure : all_of<SuiteMeasure>())
    if (auto mean = judged_mean(measure, members, earlier, names))
      suite.summary.means.push_back(*std::move(mean));
  suite.members = std::move(members);
  return suite;
}

bool sum_up(EngineContext& context, const Night& night) {
  const SumUp step = decide(load_suites(context, night));
  storage::write(context.db, [&](storage::Transaction& transaction) {
    storage::store_suites(transaction, night.id, step.suites);
  });
  return true;
}

}  // namespace

SuiteFacts load_suites(const EngineView& view, const Night& night) {
  SuiteFacts facts{night,
                   storage::find_build(view.db, night.build.value()).value().variant,
                   storage::suite_runs(view.db, night.id),
                   {}};
  for (const auto& [key, members] : suites_of(facts.runs, facts.variant))
    facts.earlier[key] =
        storage::suites_before(view.db, key, night.started_at, night.id, bisect::nights_of_mean);
  return facts;
}

SumUp decide(const SuiteFacts& facts) {
  SumUp step;
  for (auto& [key, members] : suites_of(facts.runs, facts.variant))
    step.suites.push_back(summed_up(facts.night, key, std::move(members), facts.earlier.at(key)));
  return step;
}

bool sum_up_nights(EngineContext& context) {
  std::vector<Night> nights;
  for (const NightId id : storage::nights_to_sum_up(context.db, at_once))
    nights.push_back(storage::find_night(context.db, id).value());
  return for_each_item(context, "suites of night", nights,
                       [&](const Night& night) { return sum_up(context, night); });
}

}  // namespace nightjar::service
