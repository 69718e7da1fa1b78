#include "bisect/evidence/verify.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "bisect/evidence/evidence.hpp"
#include "bisect/evidence/policy_json.hpp"
#include "storage/model/job.hpp"
#include "storage/model/json_io.hpp"
#include "storage/model/metric.hpp"
#include "storage/model/run_value.hpp"

namespace nightjar::evidence {
namespace {
using nlohmann::json;

// What makes a verdict differ, in words for a person.
struct Differs : std::runtime_error {
  using std::runtime_error::runtime_error;
};

bool same(double a, double b) {
  return std::abs(a - b) <= std::max(1e-12, 1e-6 * std::max(std::abs(a), std::abs(b)));
}

// The raw runs of a bundle, by id.
class RawRuns {
 public:
  explicit RawRuns(const json& bundle)
      : metric_(field<std::string>(bundle.at("regression"), "metric")),
        good_(field<BuildId>(bundle.at("regression"), "good")),
        bad_(field<BuildId>(bundle.at("regression"), "bad")) {
    for (const json& build : bundle.at("builds"))
      commits_[field<BuildId>(build, "id")] = field<std::optional<CommitSha>>(build, "commit");
    for (const json& run : bundle.at("runs"))
      runs_[field<RunId>(run, "id")] = {field<BuildId>(run, "build"),
                                        run.at("result").get<RunResult>()};
  }

  BuildId good() const { return good_; }
  BuildId bad() const { return bad_; }
  bool inverted() const {
    const Metric* metric = find_metric(metric_);
    return metric && metric->direction == Direction::higher_is_better;
  }
  std::optional<CommitSha> commit_of(RunId run) const { return commits_.at(find(run).build); }

  // Throws Differs unless the run is one of `build` and its samples give this value.
  void check(RunId run, std::optional<BuildId> build, double value) const {
    const Raw& raw = find(run);
    if (build && raw.build != *build)
      throw Differs("run " + std::to_string(run.value) + " is of another build");
    const std::optional<double> again = value_of(raw.result, metric_);
    if (!again || !same(*again, value))
      throw Differs("the samples of run " + std::to_string(run.value) + " give " +
                    (again ? json(*again).dump() : "no value") + ", the verdict used " +
                    json(value).dump());
  }

 private:
  struct Raw {
    BuildId build;
    RunResult result;
  };
  const Raw& find(RunId run) const {
    const auto found = runs_.find(run);
    if (found == runs_.end()) throw Differs("run " + std::to_string(run.value) + " is missing");
    return found->second;
  }

  std::string metric_;
  BuildId good_, bad_;
  std::map<BuildId, std::optional<CommitSha>> commits_;
  std::map<RunId, Raw> runs_;
};

Values values_in(const json& said, const char* values, const char* runs, const RawRuns& raw,
                 BuildId build) {
  Values out{field<std::vector<double>>(said, values), field<std::vector<RunId>>(said, runs)};
  if (out.values.size() != out.runs.size()) throw Differs("not every value names its run");
  for (std::size_t i = 0; i < out.runs.size(); ++i) raw.check(out.runs[i], build, out.values[i]);
  return out;
}

std::string screen_again(const json& said, const RawRuns& raw) {
  const Values tonight = values_in(said, "tonight", "tonight_runs", raw, raw.bad());
  const auto levels = field<std::vector<double>>(said, "levels");
  const auto policy = detection_policy(said.at("policy"));
  return of_screening(bisect::screen(levels, tonight.values, policy), tonight, levels, policy);
}

std::string creep_again(const json& said, const RawRuns& raw) {
  const Values tonight = values_in(said, "tonight", "tonight_runs", raw, raw.bad());
  const auto levels = field<std::vector<double>>(said, "levels");
  const auto policy = detection_policy(said.at("policy"));
  if (levels.empty() || !same(levels.front(), bisect::hodges_lehmann(tonight.values)))
    throw Differs("tonight's level is not that of its runs");
  const auto creep = bisect::creep(levels, policy);
  if (!creep) throw Differs("these levels do not creep");
  return of_creep(*creep, tonight, levels, policy);
}

std::string confirm_again(const json& said, const RawRuns& raw) {
  const Values good = values_in(said, "good", "good_runs", raw, raw.good());
  const Values bad = values_in(said, "bad", "bad_runs", raw, raw.bad());
  const auto policy = detection_policy(said.at("policy"));
  return of_confirmation(bisect::confirm(good.values, bad.values, policy), good, bad, policy);
}

std::string search_again(const json& said, const RawRuns& raw) {
  const auto commits = field<std::vector<CommitSha>>(said, "commits");
  const auto policy = search_policy(said.at("policy"));
  bisect::SearchLog log;
  log.commits = static_cast<int>(commits.size()) - 1;
  log.prior = field<std::vector<double>>(said, "prior");
  log.untestable = field<std::vector<int>>(said, "untestable");
  log.built = field<std::vector<int>>(said, "built");
  std::vector<RunId> runs;
  for (const json& run : said.at("runs")) {
    log.runs.push_back({field<int>(run, "session"), field<int>(run, "commit"),
                        field<double>(run, "value")});
    runs.push_back(field<RunId>(run, "run"));
    const bisect::SearchRun& last = log.runs.back();
    if (raw.commit_of(runs.back()) != commits.at(static_cast<std::size_t>(last.commit)))
      throw Differs("run " + std::to_string(runs.back().value) + " is of another commit");
    raw.check(runs.back(), std::nullopt, raw.inverted() ? 1 / last.value : last.value);
  }
  const bisect::NextStep next = bisect::next_step(log, policy);
  const auto* answer = std::get_if<bisect::Answer>(&next.step);
  if (!answer) throw Differs("these runs do not suffice for an answer");
  return of_search(*answer, next.belief, {log, policy, runs, commits});
}

// By stage: the evidence as it is when judged again.
using Judge = std::string (*)(const json& said, const RawRuns& raw);
const std::map<std::string, Judge>& judges() {
  static const std::map<std::string, Judge> all{{"screening", screen_again},
                                                {"creep", creep_again},
                                                {"confirmation", confirm_again},
                                                {"bisection", search_again}};
  return all;
}

// Empty, or where the two differ first.
std::string first_difference(const json& said, const json& again, const std::string& where) {
  if (said.is_number() && again.is_number()) {
    if (same(said.get<double>(), again.get<double>())) return {};
  } else if (said.is_structured() && said.type() == again.type() && said.size() == again.size()) {
    for (const auto& [key, value] : said.items()) {
      const json::json_pointer step("/" + key);
      if (!again.contains(step)) return where + "/" + key + " is new";
      const std::string deeper = first_difference(value, again.at(step), where + "/" + key);
      if (!deeper.empty()) return deeper;
    }
    return {};
  } else if (said == again) {
    return {};
  }
  return where + " was " + said.dump() + ", is " + again.dump();
}

Finding judge(const json& said, const RawRuns& raw) {
  Finding out;
  out.stage = field<std::string>(said, "stage");
  const bool search = out.stage == "bisection";
  out.verdict = field<std::string>(said, search ? "outcome" : "verdict");
  try {
    if (const int made_by = field<int>(said, "rules"); made_by != rules)
      throw Differs("made by rules " + std::to_string(made_by) + "; this program judges by rules " +
                    std::to_string(rules));
    const auto judge_again = judges().find(out.stage);
    if (judge_again == judges().end()) throw Differs("there is no stage '" + out.stage + "'");
    const std::string again = judge_again->second(said, raw);
    const std::string difference = first_difference(said, json::parse(again), "");
    if (!difference.empty()) throw Differs(difference);
    out.agrees = true;
    out.why = text_in(said, "rule");
  } catch (const Differs& differs) {
    out.why = differs.what();
  } catch (const std::invalid_argument& refused) {
    out.why = refused.what();
  }
  return out;
}

}  // namespace

std::vector<Finding> verify_bundle(const json& bundle) {
  if (text_in(bundle, "format") != "nightjar-evidence")
    throw json::type_error::create(302, "this is no evidence bundle", nullptr);
  const RawRuns raw(bundle);
  std::vector<Finding> out;
  for (const json& change : bundle.at("changes")) {
    const json& said = change.at("evidence");
    if (said.contains("stage")) out.push_back(judge(said, raw));
  }
  return out;
}

}  // namespace nightjar::evidence
