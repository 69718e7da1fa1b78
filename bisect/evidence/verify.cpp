#include "bisect/evidence/verify.hpp"

#include <algorithm>
#include <set>
#include <stdexcept>

#include "bisect/detection.hpp"
#include "bisect/evidence/difference.hpp"
#include "bisect/evidence/earlier_history.hpp"
#include "bisect/evidence/evidence.hpp"
#include "bisect/evidence/policy_json.hpp"
#include "bisect/evidence/statement.hpp"
#include "storage/model/build.hpp"
#include "storage/model/job.hpp"
#include "storage/model/json_io.hpp"
#include "storage/model/metric.hpp"
#include "storage/model/run_value.hpp"

namespace nightjar::evidence {
namespace {
using nlohmann::json;

// Why a verdict differs, in words for a person.
struct Differs : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The raw runs of a bundle, by id.
class RawRuns {
 public:
  explicit RawRuns(const json& bundle)
      : is_better_(is_of_fix(bundle)),
        metric_(field<std::string>(subject_of(bundle), "metric")),
        good_(field<BuildId>(subject_of(bundle), "good")),
        bad_(field<BuildId>(subject_of(bundle), "bad")) {
    for (const json& build : bundle.at("builds"))
      builds_[field<BuildId>(build, "id")] = {
          field<std::optional<CommitSha>>(build, "commit"),
          field<std::optional<BuildId>>(build, "base"),
          build.contains("lock") ? field<std::optional<Sha256>>(build, "lock") : std::nullopt,
          build.contains("kind") ? std::optional(field<std::string>(build, "kind")) : std::nullopt};
    for (const json& run : bundle.at("runs"))
      runs_[field<RunId>(run, "id")] = {field<BuildId>(run, "build"),
                                        run.at("result").get<RunResult>()};
  }

  bool is_better() const { return is_better_; }  // it explains what got better
  BuildId good() const { return good_; }
  BuildId bad() const { return bad_; }
  std::optional<CommitSha> commit_of(RunId run) const { return commit_of(find(run).build); }
  std::optional<CommitSha> commit_of(BuildId build) const { return find_build(build).commit; }

  // The wheel of the run's build; the build itself, if it lies on none.
  BuildId wheel_of(RunId run) const {
    const BuildId build = find(run).build;
    return find_build(build).base.value_or(build);
  }
  // nullopt: the bundle does not have the build.
  std::optional<std::string> kind_of(BuildId build) const {
    const auto found = builds_.find(build);
    return found == builds_.end() ? std::nullopt : found->second.kind;
  }

  // Throws Differs unless the run is of the wheel of `base` with the packages of `other`.
  void check_crossed(RunId run, BuildId base, BuildId other) const {
    const Build& crossed = find_build(find(run).build);
    if (crossed.base != base || !crossed.lock || crossed.lock != find_build(other).lock)
      throw Differs("run " + std::to_string(run.value) + " has another wheel or other packages");
  }

  bool is_crossed(RunId run) const {
    const Build& build = find_build(find(run).build);
    return build.base && build.lock;
  }

  // Throws Differs unless the run is of the commit of `source`, laid over the wheel `wheel`.
  void check_laid(RunId run, BuildId source, BuildId wheel) const {
    const Build& laid = find_build(find(run).build);
    if (laid.base != wheel || !laid.commit || laid.commit != find_build(source).commit)
      throw Differs("run " + std::to_string(run.value) + " has another wheel or other files");
  }

  // Throws Differs unless the run is of the wheel of `base` with the packages of `lock`.
  void check_locked(RunId run, BuildId base, const std::optional<Sha256>& lock) const {
    const BuildId id = find(run).build;
    const Build& build = find_build(id);
    if ((id != base && build.base != base) || !lock || build.lock != lock)
      throw Differs("run " + std::to_string(run.value) + " has another wheel or other packages");
  }
  const std::optional<Sha256>& lock_of(BuildId build) const { return find_build(build).lock; }

  // Throws Differs unless the run is one of `build` and its samples give this value.
  void check(RunId run, std::optional<BuildId> build, double value) const {
    const Raw& raw = find(run);
    if (build && raw.build != *build)
      throw Differs("run " + std::to_string(run.value) + " is of another build than the " +
                    (*build == good_ ? "good" : "bad") + " one");
    check_figure(run, value_of(raw.result, metric_), value);
  }

  // Throws Differs unless its samples give this cost to a search by `threshold`.
  void check_cost(RunId run, double cost, double threshold) const {
    auto again = value_of(find(run).result, metric_);
    if (again)
      again =
          bisect::searched_cost(*again, bisect::policy_of_metric(metric_, threshold), is_better_);
    check_figure(run, again, cost);
  }

 private:
  static void check_figure(RunId run, std::optional<double> again, double value) {
    if (!again || !same_figure(*again, value))
      throw Differs("the samples of run " + std::to_string(run.value) + " give " +
                    (again ? json(*again).dump() : "no value") + ", the verdict used " +
                    json(value).dump());
  }

  struct Raw {
    BuildId build;
    RunResult result;
  };
  struct Build {
    std::optional<CommitSha> commit;
    std::optional<BuildId> base;
    std::optional<Sha256> lock;
    std::optional<std::string> kind;
  };
  const Build& find_build(BuildId id) const {
    const auto found = builds_.find(id);
    if (found == builds_.end()) throw Differs("build " + std::to_string(id.value) + " is missing");
    return found->second;
  }
  const Raw& find(RunId run) const {
    const auto found = runs_.find(run);
    if (found == runs_.end()) throw Differs("run " + std::to_string(run.value) + " is missing");
    return found->second;
  }

  bool is_better_;
  std::string metric_;
  BuildId good_, bad_;
  std::map<BuildId, Build> builds_;
  std::map<RunId, Raw> runs_;
};

Values values_in(const json& said, const char* values, const char* runs, const RawRuns& raw,
                 BuildId build) {
  Values out{field<std::vector<double>>(said, values), field<std::vector<RunId>>(said, runs)};
  if (out.values.size() != out.runs.size()) throw Differs("not every value names its run");
  for (std::size_t i = 0; i < out.runs.size(); ++i) raw.check(out.runs[i], build, out.values[i]);
  return out;
}

Evidence screen_again(const json& said, const RawRuns& raw) {
  const Values tonight = values_in(said, "tonight", "tonight_runs", raw, raw.bad());
  const auto levels = field<std::vector<double>>(said, "levels");
  const auto policy = detection_policy(said.at("policy"));
  const auto controls = control_readings(said);
  return of_screening(bisect::screen(levels, tonight.values, policy, controls), tonight, levels,
                      policy, controls);
}

Evidence creep_again(const json& said, const RawRuns& raw) {
  const Values tonight = values_in(said, "tonight", "tonight_runs", raw, raw.bad());
  const auto levels = field<std::vector<double>>(said, "levels");
  const auto policy = detection_policy(said.at("policy"));
  if (levels.empty() || !same_figure(levels.front(), bisect::hodges_lehmann(tonight.values)))
    throw Differs("tonight's level is not that of its runs");
  const auto creep = bisect::creep(levels, policy);
  if (!creep) throw Differs("these levels do not creep");
  return of_creep(*creep, tonight, levels, policy);
}

// Runs of the wheel of `base` with the packages of `other`.
Values crossed_in(const json& said, const char* values, const char* runs, const RawRuns& raw,
                  BuildId base, BuildId other) {
  Values out{field<std::vector<double>>(said, values), field<std::vector<RunId>>(said, runs)};
  if (out.values.size() != out.runs.size()) throw Differs("not every value names its run");
  for (std::size_t i = 0; i < out.runs.size(); ++i) {
    raw.check_crossed(out.runs[i], base, other);
    raw.check(out.runs[i], std::nullopt, out.values[i]);
  }
  return out;
}

Evidence attribute_again(const json& said, const RawRuns& raw) {
  CellValues cells;
  cells.good = values_in(said, "good", "good_runs", raw, raw.good());
  cells.bad = values_in(said, "bad", "bad_runs", raw, raw.bad());
  cells.source = crossed_in(said, "source_only", "source_only_runs", raw, raw.bad(), raw.good());
  cells.other =
      crossed_in(said, "environment_only", "environment_only_runs", raw, raw.good(), raw.bad());
  const auto policy = detection_policy(said.at("policy"));
  const bool of_failure = said.value("of_failure", false);
  return of_attribution(of_failure ? bisect::attribute_failure(cells.cells(), policy)
                                   : bisect::attribute(cells.cells(), policy),
                        cells, policy);
}

// Runs of the commit of `source` laid over the wheel of `wheel`.
Values laid_in(const json& said, const char* values, const char* runs, const RawRuns& raw,
               BuildId source, BuildId wheel) {
  Values out{field<std::vector<double>>(said, values), field<std::vector<RunId>>(said, runs)};
  if (out.values.size() != out.runs.size()) throw Differs("not every value names its run");
  for (std::size_t i = 0; i < out.runs.size(); ++i) {
    raw.check_laid(out.runs[i], source, wheel);
    raw.check(out.runs[i], std::nullopt, out.values[i]);
  }
  return out;
}

// The bad end is the bad wheel as it is or, where the packages differ too, with the good end's.
Values far_end_in(const json& said, const RawRuns& raw) {
  const auto runs = field<std::vector<RunId>>(said, "bad_runs");
  const bool is_crossed =
      std::any_of(runs.begin(), runs.end(), [&](RunId run) { return raw.is_crossed(run); });
  return is_crossed ? crossed_in(said, "bad", "bad_runs", raw, raw.bad(), raw.good())
                    : values_in(said, "bad", "bad_runs", raw, raw.bad());
}

Evidence wheels_again(const json& said, const RawRuns& raw) {
  CellValues cells;
  cells.good = values_in(said, "good", "good_runs", raw, raw.good());
  cells.bad = far_end_in(said, raw);
  cells.source = laid_in(said, "source_only", "source_only_runs", raw, raw.bad(), raw.good());
  cells.other = laid_in(said, "wheel_only", "wheel_only_runs", raw, raw.good(), raw.bad());
  const auto policy = detection_policy(said.at("policy"));
  const auto wheel = bisect::OtherFactor::wheel;
  if (said.value("same_source", false))
    return of_attribution(bisect::attribute_to_wheel(cells.good.values, cells.bad.values), cells,
                          policy);
  return of_attribution(said.value("of_failure", false)
                            ? bisect::attribute_failure(cells.cells(), policy, wheel)
                            : bisect::attribute(cells.cells(), policy, wheel),
                        cells, policy);
}

// The medians stand in the verdict: what was imported has no sessions to be read again.
Evidence history_again(const json& said, const RawRuns& raw) {
  const HistoryMedians history{field<std::vector<BuildId>>(said, "builds"),
                               field<std::vector<double>>(said, "medians")};
  const auto policy = detection_policy(said.at("policy"));
  const auto position = field<long long>(said, "position");
  const auto until = said.contains("until") ? field<long long>(said, "until") : position;
  if (history.builds.size() != history.medians.size())
    throw Differs("not every median names its build");
  if (position < 1 || until < position || until >= static_cast<long long>(history.builds.size()) ||
      history.builds[static_cast<std::size_t>(until)] != raw.bad() ||
      history.builds[static_cast<std::size_t>(position - 1)] != raw.good())
    throw Differs("the builds at its position are not the regression's");
  if (field<int>(said, "rules") < by_levels) {
    auto again =
        json::parse(of_history(earlier_history_step(said, history, policy), history, policy).text);
    again.erase("until");  // each change was one step
    again.erase("steps");
    return {again.dump()};
  }
  const auto positions = bisect::positions_of(history.medians);
  for (const bisect::Change& change : bisect::change_points(positions, policy))
    if (change.position == position) return of_history(change, history, policy);
  throw Differs("no step is found at position " + std::to_string(position));
}

Evidence confirm_again(const json& said, const RawRuns& raw) {
  const Values good = values_in(said, "good", "good_runs", raw, raw.good());
  const Values bad = values_in(said, "bad", "bad_runs", raw, raw.bad());
  const auto policy = detection_policy(said.at("policy"));
  if (!said.contains("night"))
    return of_confirmation({bisect::confirm(good.values, bad.values, policy)}, good, bad, policy,
                           {});
  const json& night = said.at("night");
  const bisect::NightBar bar{field<double>(night, "false_share"), field<int>(night, "suspects"),
                             field<int>(night, "confirmed")};
  return of_confirmation(bisect::confirm(good.values, bad.values, policy, bar), good, bad, policy,
                         bar);
}

// nullopt: a verdict from before culprits and ranges were told apart.
std::optional<Naming> naming_in(const json& said, const std::vector<int>& untestable) {
  if (!said.contains("max_named")) return std::nullopt;
  Naming naming;
  naming.max_named = field<int>(said, "max_named");
  const auto causes = field<std::vector<std::string>>(said, "untestable_causes");
  for (std::size_t i = 0; i < untestable.size(); ++i) {
    const auto cause = enum_from<UntestableCause>(causes.at(i));
    if (!cause) throw Differs("/untestable_causes has the unknown cause " + causes[i]);
    naming.causes[untestable[i]] = *cause;
  }
  for (const json& one : said.at("libraries"))
    naming.libraries.emplace(field<int>(one, "commit"),
                             Libraries{field<Sha256>(one, "native_state"), field<int>(one, "first"),
                                       field<int>(one, "last")});
  return naming;
}

// A search as a verdict says it, over `commits` of something after the good end.
struct ToldSearch {
  bisect::SearchPolicy policy;
  bisect::SearchLog log;
  std::vector<RunId> runs;
};

// `position`: the name of a run's place; `check` throws Differs unless the run is of that place.
template <class Check>
ToldSearch told_search(const json& said, std::size_t commits, const char* position,
                       const RawRuns& raw, Check check) {
  ToldSearch told{search_policy(said.at("policy")), {}, {}};
  told.log.commits = static_cast<int>(commits);
  told.log.prior = field<std::vector<double>>(said, "prior");
  told.log.untestable = field<std::vector<int>>(said, "untestable");
  told.log.built = field<std::vector<int>>(said, "built");
  for (const json& run : said.at("runs")) {
    const bisect::SearchRun& last = told.log.runs.emplace_back(bisect::SearchRun{
        field<int>(run, "session"), field<int>(run, position), field<double>(run, "value"),
        run.contains("wheel") ? field<int>(run, "wheel") : -1});
    told.runs.push_back(field<RunId>(run, "run"));
    check(told.runs.back(), static_cast<std::size_t>(last.commit));
    raw.check_cost(told.runs.back(), last.value, told.policy.threshold);
  }
  return told;
}

// Throws Differs unless its runs suffice for an answer.
std::pair<bisect::Answer, bisect::Belief> answer_of(const ToldSearch& told) {
  bisect::NextStep next = bisect::next_step(told.log, told.policy);
  const auto* answer = std::get_if<bisect::Answer>(&next.step);
  if (!answer) throw Differs("these runs do not suffice for an answer");
  return {*answer, std::move(next.belief)};
}

// Verdicts by these rules, or later ones, tell wheels from commits.
constexpr int by_wheels = 11;

// Sets the origins of the log's wheels, and returns the wheels. Throws Differs unless each run was
// on the wheel that it says, and origins are of one kind: two nightlies are never one.
std::vector<BuildId> wheels_in(const json& said, const RawRuns& raw, ToldSearch& told) {
  std::vector<BuildId> wheels;
  if (!said.contains("wheels")) {
    std::set<BuildId> used;
    for (const RunId run : told.runs) used.insert(raw.wheel_of(run));
    if (field<int>(said, "rules") >= by_wheels && used.size() > 1)
      throw Differs("/wheels is missing, although its runs are on several wheels");
    return wheels;
  }
  std::map<int, std::string> kinds;
  for (const json& one : said.at("wheels")) {
    wheels.push_back(field<BuildId>(one, "build"));
    const int origin = told.log.origins.emplace_back(field<int>(one, "origin"));
    const auto kind = raw.kind_of(wheels.back());
    if (!kind) continue;  // no run of it is in the verdict
    const auto [known, is_new] = kinds.emplace(origin, *kind);
    if (!is_new && (known->second != *kind || *kind == name_of(BuildKind::nightly)))
      throw Differs("/wheels gives one origin to wheels of different making");
  }
  for (std::size_t i = 0; i < told.runs.size(); ++i) {
    const auto wheel = static_cast<std::size_t>(told.log.runs[i].wheel);
    if (wheel >= wheels.size() || raw.wheel_of(told.runs[i]) != wheels[wheel])
      throw Differs("run " + std::to_string(told.runs[i].value) + " is on another wheel");
  }
  return wheels;
}

Evidence search_again(const json& said, const RawRuns& raw) {
  const auto commits = field<std::vector<CommitSha>>(said, "commits");
  // A search that was widened begins before the good build.
  const auto begin = said.contains("good_end") ? field<BuildId>(said, "good_end") : raw.good();
  const bool holds_good =
      std::find(commits.begin(), commits.end(), raw.commit_of(raw.good())) != commits.end();
  if (!holds_good || commits.front() != raw.commit_of(begin) ||
      commits.back() != raw.commit_of(raw.bad()))
    throw Differs("/commits does not begin at the good build's commit and end at the bad one's");
  const auto check = [&](RunId run, std::size_t commit) {
    if (raw.commit_of(run) != commits.at(commit))
      throw Differs("run " + std::to_string(run.value) + " is of another commit");
  };
  ToldSearch told = told_search(said, commits.size() - 1, "commit", raw, check);
  const std::vector<BuildId> wheels = wheels_in(said, raw, told);
  const auto [answer, belief] = answer_of(told);
  const auto naming = naming_in(said, told.log.untestable);
  return of_search(
      answer, belief,
      {told.log, told.policy, told.runs, commits, naming ? &*naming : nullptr,
       said.contains("good_end") ? std::optional(begin) : std::nullopt, raw.is_better(), wheels});
}

// As the verdict says it; `id` is not needed.
PackageSearch package_search_in(const json& said) {
  PackageSearch search;
  search.question = require_enum<PackageQuestion>(field<std::string>(said, "question"));
  search.wheel = field<BuildId>(said, "wheel");
  const auto package = [](const json& one) {
    return LockedPackage{field<std::string>(one, "package"), field<std::string>(one, "version")};
  };
  if (!said.at("held").is_null()) search.held = package(said.at("held"));
  for (const json& one : said.at("mixes"))
    search.mixes.push_back({package(one),
                            require_enum<MixState>(field<std::string>(one, "state")),
                            field<std::optional<Sha256>>(one, "lock"),
                            {}});
  return search;
}

// The first environment has the good end's packages, unless one is held; the last one of the whole
// chain has the bad end's.
void check_ends(const PackageSearch& search, const RawRuns& raw) {
  if (search.wheel != raw.good() && search.wheel != raw.bad())
    throw Differs("/wheel is neither end's");
  if (search.mixes.size() < 2) throw Differs("/mixes has no two environments");
  if (!search.held && search.mixes.front().lock != raw.lock_of(raw.good()))
    throw Differs("/mixes does not begin with the good end's packages");
  if (search.question == PackageQuestion::packages &&
      search.mixes.back().lock != raw.lock_of(raw.bad()))
    throw Differs("/mixes does not end with the bad end's packages");
}

Evidence packages_again(const json& said, const RawRuns& raw) {
  const PackageSearch search = package_search_in(said);
  check_ends(search, raw);
  const auto check = [&](RunId run, std::size_t position) {
    raw.check_locked(run, search.wheel, search.mixes.at(position).lock);
  };
  const ToldSearch told = told_search(said, search.mixes.size() - 1, "position", raw, check);
  const auto [answer, belief] = answer_of(told);
  return of_packages(answer, belief, {search, told.log, told.policy, told.runs});
}

// Verdicts by rules before these cannot be read.
constexpr int oldest_rules = 5;
// An answer by earlier rules is the same if its figures differ by no more than this share.
constexpr double same_answer = .01;

// How a stage is judged again. Verdicts by the rules `alike_since`, or later ones, must agree in
// every figure, earlier verdicts in their answer only.
struct Stage {
  Evidence (*judge)(const json& said, const RawRuns& raw);
  int alike_since;
};
const std::map<std::string, Stage>& stages() {
  static const std::map<std::string, Stage> all{
      {"screening", {screen_again, 5}},      {"creep", {creep_again, 5}},
      {"history", {history_again, 7}},       {"confirmation", {confirm_again, 5}},
      {"attribution", {attribute_again, 7}}, {"wheels", {wheels_again, 10}},
      {"bisection", {search_again, 6}},      {"packages", {packages_again, 8}}};
  return all;
}

// Drops empty lists that `said` lacks: earlier versions did not have these fields.
json without_later_fields(json again, const json& said) {
  for (auto field = again.begin(); field != again.end();)
    field = field->is_array() && field->empty() && !said.contains(field.key()) ? again.erase(field)
                                                                               : std::next(field);
  return again;
}

// Empty, or the field in which the answers of two searches differ: the outcome or the culprits.
std::string other_answer(const json& said, const json& again) {
  const auto answer_of = [](const json& search) {
    return json{{"outcome", search.at("outcome")}, {"culprits", search.at("culprits")}};
  };
  return first_difference(answer_of(said), answer_of(again), "", same_answer);
}

// One sentence on what agrees. Throws Differs if something does not.
std::string compare(const json& said, json again, int alike_since) {
  const int made_by = field<int>(said, "rules");
  again["rules"] = made_by;
  const bool alike = made_by >= alike_since;
  const std::string difference =
      alike ? first_difference(said, again, "") : other_answer(said, again);
  const std::string earlier = "made by rules " + std::to_string(made_by) + "; by rules " +
                              std::to_string(rules) + ", judged again, ";
  if (!difference.empty()) throw Differs(alike ? difference : earlier + difference);
  return alike ? text_in(said, "rule") : earlier + "the answer is the same";
}

Finding judge(const json& said, const RawRuns& raw) {
  Finding out;
  out.stage = field<std::string>(said, "stage");
  const auto stage = stages().find(out.stage);
  if (stage == stages().end()) {
    out.why = "there is no stage '" + out.stage + "'";
    return out;
  }
  const bool search = out.stage == "bisection";
  out.verdict = field<std::string>(said, search ? "outcome" : "verdict");
  try {
    const int made_by = field<int>(said, "rules");
    if (made_by < oldest_rules || made_by > rules)
      throw Differs("made by rules " + std::to_string(made_by) + "; this program judges by rules " +
                    std::to_string(oldest_rules) + " to " + std::to_string(rules));
    const json again = json::parse(stage->second.judge(said, raw).text);
    out.why = compare(said, without_later_fields(again, said), stage->second.alike_since);
    out.agrees = true;
  } catch (const Differs& differs) {
    out.why = differs.what();
  } catch (const std::logic_error& refused) {  // a log that cannot be, a position out of range
    out.why = refused.what();
  }
  return out;
}

Seal check_seal(const json& bundle, Hash hash) {
  Seal seal;
  seal.present = bundle.contains("seal");
  if (seal.present)
    seal.edited = edited_fields(bundle, hash);
  else if (field_or(bundle, "format_version", 1) >= sealed_format)
    seal.edited = {"/seal was removed"};
  return seal;
}

}  // namespace

bool Verification::agrees() const {
  return seal.edited.empty() && contradictions.empty() &&
         std::all_of(verdicts.begin(), verdicts.end(), [](const Finding& f) { return f.agrees; });
}

Verification verify_bundle(const json& bundle, Hash hash) {
  if (text_in(bundle, "format") != "nightjar-evidence")
    reject_json("this is no evidence bundle: its 'format' says otherwise");
  Verification out;
  out.seal = check_seal(bundle, hash);
  const RawRuns raw(bundle);
  for (const json& change : bundle.at("changes")) {
    const json& said = change.at("evidence");
    if (said.contains("stage")) out.verdicts.push_back(judge(said, raw));
  }
  out.contradictions = contradictions(bundle);
  return out;
}

}  // namespace nightjar::evidence
