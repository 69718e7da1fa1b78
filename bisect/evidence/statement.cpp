#include "bisect/evidence/statement.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "bisect/evidence/contributors.hpp"
#include "bisect/evidence/difference.hpp"
#include "storage/model/build.hpp"
#include "storage/model/job.hpp"
#include "storage/model/json_io.hpp"
#include "storage/model/metric.hpp"
#include "storage/model/regression.hpp"

namespace nightjar::evidence {
namespace {
using nlohmann::json;

// The grounds that a change to a state needs: "stage:verdict", or a field in place of a verdict.
using Grounds = std::map<std::string, std::set<std::string>>;
const Grounds& grounds_of_states() {
  static const Grounds all{
      {"suspected", {"screening:suspect_worse", "creep:suspect_worse", "reason"}},
      {"unconfirmed", {"reason"}},
      // Later ones: whether the source, the packages or the wheel did it, and which package.
      {"confirmed",
       {"confirmation:worse", "attribution:source", "attribution:environment", "attribution:both",
        "attribution:unknown", "wheels:source", "wheels:wheel", "wheels:source_and_wheel",
        "wheels:unknown", "packages:culprit", "packages:several_small", "packages:below_threshold",
        "packages:not_reproduced", "packages:inconclusive"}},
      {"bisecting", {"reason"}},
      {"blamed", {"bisection:culprit", "bisection:several_small"}},
      // Beside a range, the same search may name a culprit; and a search that goes on may find no
      // more.
      {"range",
       {"bisection:range", "bisection:culprit", "bisection:inconclusive",
        "bisection:below_threshold", "reason"}},
      {"unattributed", {"bisection:inconclusive", "bisection:wheel", "reason"}},
      // A reason: it joins another that nobody could be named for.
      {"merged", {"bisection:culprit", "bisection:several_small", "bisection:range", "reason"}},
      {"reported", {"title", "reason"}},  // a reason: a later night showed it again
      {"recovered", {"reason"}},
      {"dismissed",
       {"confirmation:same", "confirmation:better", "confirmation:inconclusive",
        "bisection:not_reproduced", "reason"}},
      {"historical", {"history:worse"}},
      {"inconclusive", {"bisection:inconclusive", "bisection:below_threshold", "reason"}},
  };
  return all;
}

// The same for the search of a fix, which has one change: its end.
const Grounds& grounds_of_fixes() {
  static const Grounds all{
      {"culprit", {"bisection:culprit", "bisection:several_small"}},
      {"range", {"bisection:range"}},
      {"not_reproduced", {"bisection:not_reproduced"}},
      {"inconclusive", {"bisection:inconclusive", "bisection:below_threshold", "reason"}},
  };
  return all;
}

std::string grounds_of(const json& evidence) {
  const std::string stage = text_in(evidence, "stage");
  if (!stage.empty())
    return stage + ":" + text_in(evidence, stage == "bisection" ? "outcome" : "verdict");
  for (const char* field : {"reason", "title"})
    if (evidence.contains(field)) return field;
  return "nothing";
}

Culprit step_in(const json& step) {
  return {field<std::vector<CommitSha>>(step, "commits"), field<double>(step, "probability"),
          field<double>(step, "ratio"), field<double>(step, "low"), field<double>(step, "high")};
}

// What a search names: its culprits, each named step by itself or all contributors together; or its
// ranges.
json accused_by(const json& search, bool is_range) {
  json named = json::array();
  for (const json& step : search.at("culprits"))
    if (step.value("range", false) == is_range) named.push_back(step);
  if (text_in(search, "outcome") != "several_small") return named;
  std::vector<Culprit> contributors;
  for (const json& step : named) contributors.push_back(step_in(step));
  const Culprit all = together(contributors);
  return json::array({{{"commits", all.commits},
                       {"probability", all.probability},
                       {"ratio", all.ratio},
                       {"low", all.low},
                       {"high", all.high}}});
}

// The steps that the wheels cannot have made. Before rules 11 nothing was said of that.
json isolated_in(const json& steps) {
  json isolated = json::array();
  for (const json& step : steps)
    if (step.value("isolated", true)) isolated.push_back(step);
  return isolated;
}

std::string at(const std::string& list, std::size_t index) {
  return "/" + list + "/" + std::to_string(index);
}

class Statement {
 public:
  explicit Statement(const json& bundle)
      : bundle_(bundle), is_fix_(is_of_fix(bundle)), subject_(subject_of(bundle)) {
    index(builds_, "builds");
    index(jobs_, "jobs");
    index(runs_, "runs");
  }

  std::vector<std::string> check() {
    check_changes();
    check_wheels();
    is_fix_ ? check_causes() : check_culprit();
    for (std::size_t i = 0; i < bundle_.at("jobs").size(); ++i) check_job(i);
    for (std::size_t i = 0; i < bundle_.at("runs").size(); ++i) check_run(i);
    check_ends();
    return std::move(wrong_);
  }

 private:
  void index(std::map<std::int64_t, const json*>& into, const char* list) {
    for (const json& one : bundle_.at(list)) into[field<std::int64_t>(one, "id")] = &one;
  }

  // Notes a contradiction unless `said`, the field at `path`, equals what `from` implies.
  void expect(const std::string& path, const json& said, const json& derived,
              const std::string& from) {
    if (!first_difference(said, derived, "").empty())
      wrong_.push_back(path + " is " + said.dump() + "; by " + from + " it is " + derived.dump());
  }

  void check_changes() {
    const json& changes = bundle_.at("changes");
    std::optional<RegressionState> before;
    bool was_confirmed = false;
    std::optional<Time> last;
    for (std::size_t i = 0; i < changes.size(); ++i) {
      const auto time = field<Time>(changes[i], "at");
      if (last && time < *last)
        wrong_.push_back(at("changes", i) + "/at is before the change that it follows");
      last = time;
      const auto name = field<std::string>(changes[i], "state");
      const std::string grounds = grounds_of(changes[i].at("evidence"));
      check_grounds(i, name, grounds);
      if (is_fix_) continue;
      const auto state = enum_from<RegressionState>(name);
      if (!state) continue;
      check_order(i, before, *state);
      if (*state == RegressionState::confirmed && !was_confirmed && grounds != "confirmation:worse")
        wrong_.push_back(at("changes", i) + "/state is confirmed without a confirmation before it");
      was_confirmed |= *state == RegressionState::confirmed;
      before = state;
    }
    if (!changes.empty())
      expect(path_ + "/state", subject_.at("state"), changes.back().at("state"), "the last change");
  }

  void check_grounds(std::size_t i, const std::string& state, const std::string& said) {
    const Grounds& all = is_fix_ ? grounds_of_fixes() : grounds_of_states();
    const auto found = all.find(state);
    if (found == all.end())
      wrong_.push_back(at("changes", i) + "/state is " + state + ", which is no state");
    else if (!found->second.count(said))
      wrong_.push_back(at("changes", i) + "/evidence does not carry the state " + state +
                       ": it says " + said);
  }

  void check_order(std::size_t i, std::optional<RegressionState> before, RegressionState state) {
    if (before ? !may_follow(*before, state) : !lifecycle_of(state).may_begin)
      wrong_.push_back(at("changes", i) + "/state is " + std::string(name_of(state)) +
                       ", which cannot follow " +
                       (before ? std::string(name_of(*before)) : "nothing"));
  }

  // A search that ends at the bad commit's files over the good wheel rests on a verdict that the
  // source did it.
  void check_wheels() {
    if (is_fix_) return;
    bool ends_on_good_wheel = false, source_did_it = false;
    for (const json& change : bundle_.at("changes")) {
      const json& evidence = change.at("evidence");
      const std::string grounds = grounds_of(evidence);
      source_did_it |= grounds == "wheels:source" || grounds == "wheels:source_and_wheel";
      if (text_in(evidence, "stage") != "bisection") continue;
      const auto last = static_cast<int>(evidence.at("commits").size()) - 1;
      for (const json& run : evidence.at("runs"))
        ends_on_good_wheel |= field<int>(run, "commit") == last &&
                              base_of_run(field<std::int64_t>(run, "run")) == subject_.at("good");
    }
    if (ends_on_good_wheel && !source_did_it)
      wrong_.push_back("/changes lack the verdict on the wheels that the search rests on");
  }

  // The build that a run's build lies on; null: none, or the run is not there.
  json base_of_run(std::int64_t id) const {
    const auto run = runs_.find(id);
    if (run == runs_.end()) return nullptr;
    const auto build = builds_.find(field<std::int64_t>(*run->second, "build"));
    return build == builds_.end() ? json() : build->second->value("base", json());
  }

  // The culprit or range and its probability must be those of the search.
  void check_culprit() {
    const json nothing;
    const json& culprit = subject_.at("culprit");
    const json& range = subject_.contains("range") ? subject_.at("range") : nothing;
    for (const auto& [name, said] : {std::pair{"culprit", &culprit}, {"range", &range}})
      if (!said->is_null() && !said->is_object())
        reject_json(std::string("in '") + name + "': an object is wanted");
    const json* search = nullptr;
    for (const json& change : bundle_.at("changes")) {
      const json& evidence = change.at("evidence");
      if (text_in(evidence, "stage") != "bisection") continue;
      const bool found_no_more = evidence.at("culprits").empty() && change.at("state") == "range";
      if (!search || !found_no_more) search = &evidence;
    }
    if (!culprit.is_null()) check_accused("/regression/culprit", culprit, search, false);
    if (!range.is_null()) check_accused("/regression/range", range, search, true);
    if (culprit.is_null() && range.is_null() && search && !search->at("culprits").empty())
      wrong_.push_back("/regression/culprit is missing; the search names one");
  }

  // The causes of a fix must be those of its search, in their order.
  void check_causes() {
    json named = json::array();
    for (const json& change : bundle_.at("changes"))
      if (text_in(change.at("evidence"), "stage") == "bisection")
        named = isolated_in(change.at("evidence").at("culprits"));
    const json& causes = subject_.at("causes");
    if (causes.size() != named.size()) {
      wrong_.push_back(path_ + "/causes are " + std::to_string(causes.size()) +
                       "; the search names " + std::to_string(named.size()));
      return;
    }
    for (std::size_t i = 0; i < causes.size(); ++i)
      for (const auto& [key, value] : causes[i].items())
        expect(path_ + "/causes/" + std::to_string(i) + "/" + key, value,
               key == "range" ? json(named[i].value("range", false)) : named[i].value(key, json()),
               "the search");
  }

  void check_accused(const std::string& path, const json& accused, const json* search,
                     bool is_range) {
    if (!search) {
      wrong_.push_back(path + " accuses " + accused.at("commits").dump() + "; no search says so");
      return;
    }
    const json named = accused_by(*search, is_range);
    const auto ours = std::find_if(named.begin(), named.end(), [&](const json& step) {
      return step.at("commits") == accused.at("commits");
    });
    if (ours != named.end())
      expect_all(path, accused, *ours);
    else if (named.empty())
      wrong_.push_back(path + " accuses " + accused.at("commits").dump() +
                       "; the search names nobody");
    else
      expect(path + "/commits", accused.at("commits"), named.front().at("commits"), "the search");
  }

  void expect_all(const std::string& path, const json& said, const json& derived) {
    for (const auto& [key, value] : said.items())
      expect(path + "/" + key, value, derived.value(key, json()), "the search");
  }

  // A session's summary must follow from its order of runs, its environments from the listed
  // builds.
  void check_job(std::size_t i) {
    const json& job = bundle_.at("jobs")[i];
    const auto spec = job.at("spec").get<JobSpec>();
    json environments = json::array(), workloads = json::array();
    for (const EnvironmentSpec& environment : spec.environments)
      environments.push_back({{"build", environment.build}, {"version", environment.version}});
    for (const Workload& workload : spec.workloads) workloads.push_back(workload.name);
    const std::string path = at("jobs", i), from = "its order of runs";
    expect(path + "/environments", job.at("environments"), environments, from);
    expect(path + "/workloads", job.at("workloads"), workloads, from);
    expect(path + "/runs", job.at("runs"), spec.order.size(), from);
    expect(path + "/kind", job.at("kind"), spec.kind, from);
    expect(path + "/machine", job.at("machine"), bundle_.at("machine").at("id"),
           "the machine class");
    for (const EnvironmentSpec& environment : spec.environments)
      check_environment(path, environment);
  }

  void check_environment(const std::string& path, const EnvironmentSpec& environment) {
    const auto build = builds_.find(environment.build.value);
    if (build == builds_.end()) return;  // no run of it is in a verdict
    const json& row = *build->second;
    const std::string of = "/builds: build " + std::to_string(environment.build.value) + ": ";
    const std::string from = "the session " + path;
    if (environment.overlay) {
      expect(of + "sha256", row.at("sha256"), environment.overlay->sha256, from);
      return;
    }
    expect(of + "sha256", row.at("sha256"), environment.wheel_sha256, from);
    if (text_in(row, "kind") == name_of(BuildKind::crossed)) {
      expect(of + "lock", row.at("lock"),
             environment.lock ? json(environment.lock->sha256) : json(), from);
      return;
    }
    expect(of + "version", row.at("version"), environment.version, from);
    if (!environment.git_version.empty())
      expect(of + "nightly_commit", row.at("nightly_commit"), environment.git_version, from);
  }

  // A run is of the accused workload, and of the build that its session gave it.
  void check_run(std::size_t i) {
    const json& run = bundle_.at("runs")[i];
    const std::string path = at("runs", i);
    const auto job = jobs_.find(field<std::int64_t>(run, "job"));
    if (job == jobs_.end()) {
      wrong_.push_back(path + "/job is " + run.at("job").dump() + ", a session that is not here");
      return;
    }
    const auto spec = job->second->at("spec").get<JobSpec>();
    const auto order = field<std::size_t>(run.at("result"), "order");
    if (order >= spec.order.size() || spec.order[order].is_control()) {
      wrong_.push_back(path + "/result/order is no measuring run of its session");
      return;
    }
    const PlannedRun& planned = spec.order[order];
    const auto& workload = spec.workloads.at(static_cast<std::size_t>(planned.workload));
    const auto& environment = spec.environments.at(static_cast<std::size_t>(planned.environment));
    expect(path_ + "/workload", subject_.at("workload"), workload.name, "the sessions of its runs");
    expect(path + "/build", run.at("build"), environment.build, "its session");
  }

  void check_ends() {
    for (const char* end : {"good", "bad"})
      if (!builds_.count(field<std::int64_t>(subject_, end)))
        wrong_.push_back(path_ + "/" + end + " is a build that is not here");
    const Metric* metric = find_metric(field<std::string>(subject_, "metric"));
    expect(path_ + "/unit", subject_.at("unit"), metric ? std::string(metric->unit) : "",
           "the metric");
    for (const json& change : bundle_.at("changes")) check_night(change.at("evidence"));
  }

  void check_night(const json& evidence) {
    if (!evidence.contains("tonight_runs")) return;
    for (const auto run : field<std::vector<std::int64_t>>(evidence, "tonight_runs")) {
      const auto found = runs_.find(run);
      if (found == runs_.end()) continue;  // the verdict itself misses it
      const auto job = jobs_.find(field<std::int64_t>(*found->second, "job"));
      if (job != jobs_.end())
        expect(path_ + "/night", subject_.at("night"), job->second->at("night"),
               "tonight's session");
    }
  }

  const json& bundle_;
  bool is_fix_;
  const std::string path_ = is_fix_ ? "/fix" : "/regression";
  const json& subject_;  // the regression or fix
  std::map<std::int64_t, const json*> builds_, jobs_, runs_;
  std::vector<std::string> wrong_;
};

}  // namespace

bool is_of_fix(const json& bundle) {
  const json fix = bundle.value("fix", json());  // earlier versions have no such field
  if (fix.is_null()) return false;
  if (!fix.is_object()) reject_json("fix: an object or null is wanted, not " + fix.dump());
  const json& regression = bundle.at("regression");
  if (!regression.is_null())
    reject_json("regression: null is wanted beside a fix, not " + regression.dump());
  return true;
}

const json& subject_of(const json& bundle) {
  return bundle.at(is_of_fix(bundle) ? "fix" : "regression");
}

std::vector<std::string> contradictions(const json& bundle) {
  std::vector<std::string> found = Statement(bundle).check();
  std::vector<std::string> once;  // many runs may contradict one field
  for (std::string& one : found)
    if (std::find(once.begin(), once.end(), one) == once.end()) once.push_back(std::move(one));
  return once;
}

}  // namespace nightjar::evidence
