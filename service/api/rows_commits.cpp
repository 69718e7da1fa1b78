#include <algorithm>

#include "bisect/against_first.hpp"
#include "bisect/evidence/evidence.hpp"
#include "service/api/rows.hpp"
#include "service/builds/overlay.hpp"
#include "service/engine/search/search_log.hpp"
#include "storage/bisections.hpp"
#include "storage/builds.hpp"
#include "storage/fixes.hpp"
#include "storage/source_builds.hpp"
#include "storage/widening.hpp"

namespace nightjar::service::api {
using nlohmann::json;

// What a search measured so far, by position of the commit.
struct Searched {
  SearchRuns log;
  std::vector<std::vector<double>> values;
  std::vector<std::optional<bisect::Ratio>> changes;  // against the good end
  std::map<int, Untestable> untestable;
};

const Searched& Rows::searched(const Bisection& bisection) {
  if (searched_ && searched_of_ == bisection.id) return *searched_;
  Searched out;
  out.log = load_runs(db, bisection, searched_change(bisection), series_of(bisection.series));
  out.values.resize(bisection.commits.size());
  for (const bisect::SearchRun& run : out.log.log.runs)
    out.values[static_cast<std::size_t>(run.commit)].push_back(run.value);
  out.changes = bisect::against_first(out.values, .95);
  for (const Untestable& commit : storage::untestable_of(db, bisection.id))
    out.untestable[commit.commit] = commit;
  searched_ = std::make_shared<const Searched>(std::move(out));
  searched_of_ = bisection.id;
  return *searched_;
}

SearchedChange Rows::searched_change(const Bisection& bisection) {
  if (bisection.fix)
    if (const auto fix = storage::find_fix_search(db, *bisection.fix)) return *fix;
  if (bisection.regression)
    if (const auto regression = storage::find_regression(db, *bisection.regression))
      return *regression;
  throw std::runtime_error("a bisection without what it explains");
}

std::optional<git::Commit> Rows::commit_of(const CommitSha& sha) const {
  return context ? context->commits.find(sha) : std::nullopt;
}

namespace {

constexpr int most_searches = 20;  // on the page of a commit

// A commit in the range of a search.
struct InRange {
  std::shared_ptr<const Bisection> bisection;
  std::size_t index = 0;
};

// What a commit's level was known to be.
struct KnownLevel {
  int commit = 0;  // position
  std::size_t runs = 0;
  std::optional<bisect::Ratio> change;  // against the good end
};

struct SearchSession {
  int session = 0;
  std::vector<LogPart> jobs;
  std::vector<KnownLevel> levels;  // by all sessions up to this one
};

std::optional<std::string> subject_of(const CommitSha& sha, Rows& rows) {
  const auto known = rows.commit_of(sha);
  return known ? std::optional(known->subject) : std::nullopt;
}

std::optional<std::string> author_of(const CommitSha& sha, Rows& rows) {
  const auto known = rows.commit_of(sha);
  return known ? std::optional(known->author_name) : std::nullopt;
}

std::optional<Time> committed_at(const CommitSha& sha, Rows& rows) {
  const auto known = rows.commit_of(sha);
  return known ? std::optional(known->committed_at) : std::nullopt;
}

CommitSha sha_of(const InRange& at) {
  return at.bisection->commits[at.index];
}

const std::vector<double>& values_of(const InRange& at, Rows& rows) {
  return rows.searched(*at.bisection).values[at.index];
}

std::optional<Untestable> untestable_at(const InRange& at, Rows& rows) {
  const auto& untestable = rows.searched(*at.bisection).untestable;
  const auto found = untestable.find(static_cast<int>(at.index));
  return found == untestable.end() ? std::nullopt : std::optional(found->second);
}

std::optional<std::string> why_untestable(const InRange& at, Rows& rows) {
  const auto found = untestable_at(at, rows);
  return found ? std::optional(found->reason) : std::nullopt;
}

std::optional<UntestableCause> cause_untestable(const InRange& at, Rows& rows) {
  const auto found = untestable_at(at, rows);
  return found ? std::optional(found->cause) : std::nullopt;
}

std::optional<std::string> build_log_of(const InRange& at, Rows& rows) {
  const auto job = storage::build_job_of_commit(rows.db, sha_of(at));
  return job ? rows.log_of_build(*job) : std::nullopt;
}

std::optional<double> level_of(const InRange& at, Rows& rows) {
  const auto& values = values_of(at, rows);
  return values.empty() ? std::nullopt : std::optional(bisect::hodges_lehmann(values));
}

std::size_t runs_of(const InRange& at, Rows& rows) {
  return values_of(at, rows).size();
}

const Described<bisect::Ratio>& ratio_row() {
  static const Described<bisect::Ratio> made(
      "", "",
      {{"ratio", &bisect::Ratio::ratio, "level / the good end's"},
       {"low", &bisect::Ratio::low,
        "Low end of its 95 % interval; the runs' noise is learned from all commits."},
       {"high", &bisect::Ratio::high}});
  return made;
}

Field<InRange, Rows> change_field() {
  const auto change = [](const InRange& at, Rows& rows) {
    return write_with(ratio_row(), rows.searched(*at.bisection).changes[at.index]);
  };
  return {"change", change, "",
          named("ChangeOfLevel", nullable(ratio_row().schema())
                                     .with({{"description",
                                             "Against the good end's level; null for the good end "
                                             "itself, and while too little is measured."}}))};
}

Schema subject_schema() {
  return named("Subject", schema_of<std::optional<std::string>>().with(
                              {{"description",
                                "First line of the commit's message; null: the copy "
                                "of the repository lacks it."}}));
}

const Row<InRange>& bisection_commit() {
  const auto subject = [](const InRange& at, Rows& rows) { return subject_of(sha_of(at), rows); };
  const auto author = [](const InRange& at, Rows& rows) { return author_of(sha_of(at), rows); };
  static const Row<InRange> made(
      "BisectionCommit", "One commit of the range.",
      {{"index", &InRange::index, "0: the good end."},
       {"sha", sha_of},
       {"subject", subject, "", subject_schema()},
       {"author", author},
       {"untestable", why_untestable, "Why it cannot be measured."},
       {"untestable_cause", cause_untestable,
        "With no_build_here and infrastructure nothing is known about the commit; the others are "
        "what came of trying it."},
       {"build_log", build_log_of, "The log of the newest build from source of its native group."},
       {"runs", runs_of, "Runs measured on it."},
       {"level", level_of, "Hodges-Lehmann location of its runs."},
       change_field()});
  return made;
}

const Row<InRange>& measured_commit() {
  const auto of_search = [](auto get) {
    return [get](const InRange& at) { return std::invoke(get, *at.bisection); };
  };
  const auto of_its_series = [](auto get) {
    return [get](const InRange& at, Rows& rows) {
      return of_series(&Bisection::series, get)(*at.bisection, rows);
    };
  };
  static const Row<InRange> made(
      "MeasuredCommit", "A commit in one search's range.",
      {{"bisection", of_search(&Bisection::id)},
       {"series", of_search(&Bisection::series)},
       {"workload", of_its_series(&Series::workload_name)},
       {"metric", of_its_series(&Series::metric)},
       {"unit", of_its_series(unit_of)},
       {"commit_count", [](const InRange& at) { return at.bisection->commits.size(); },
        "Commits in the range, the good end's included."},
       {"index", &InRange::index, "Its place; 0: the good end."},
       {"untestable", why_untestable, "Why it cannot be measured."},
       {"untestable_cause", cause_untestable,
        "With no_build_here and infrastructure nothing is known about the commit; the others are "
        "what came of trying it."},
       {"runs", runs_of},
       {"level", level_of},
       change_field()});
  return made;
}

const Row<LogPart>& job_of_session() {
  static const Row<LogPart> made("BisectionJob", "A job of a session.",
                                 {{"job", [](const LogPart& part) { return part.job.id; }},
                                  {"kind",
                                   [](const LogPart& part) { return part.job.spec.kind; },
                                   "confirm: of the confirmation before.",
                                   {{"enum", {"confirm", "bisect"}}}},
                                  {"state", [](const LogPart& part) { return part.job.state; }},
                                  {"runner", [](const LogPart& part) { return part.job.runner; }},
                                  {"runs", &LogPart::runs}});
  return made;
}

const Row<KnownLevel>& known_level() {
  static const Row<KnownLevel> made(
      "KnownLevel", "A commit's level against the good end's.",
      {{"index", &KnownLevel::commit},
       {"runs", &KnownLevel::runs},
       {"change", &KnownLevel::change, ratio_row(), "null for the good end itself."}});
  return made;
}

const Row<SearchSession>& session_row() {
  static const Row<SearchSession> made(
      "BisectionSession", "A session whose runs the search uses; the confirmation's come first.",
      {{"session", &SearchSession::session},
       {"jobs", &SearchSession::jobs, job_of_session()},
       {"levels", &SearchSession::levels, known_level(),
        "The level of each commit that was measured up to this session: how the search "
        "narrowed."}});
  return made;
}

const Row<Culprit>& belief_row() {
  static const Row<Culprit> made(
      "Belief", "Commits that cannot be told apart, and the probability that the step is theirs.",
      {{"commits", &Culprit::commits}, {"probability", &Culprit::probability}});
  return made;
}

const Row<storage::Widening>& widening_row() {
  using storage::Widening;
  const auto posterior = [](const Widening& widening) {
    return parsed_or(widening.posterior, json::array());
  };
  static const Row<Widening> made(
      "Widening", "A search that had ended is taken up again, because a person asked for it.",
      {{"at", &Widening::at},
       {"actor", &Widening::actor},
       {"reason", &Widening::reason},
       {"outcome", &Widening::outcome, "What it had come to; as are the fields that follow."},
       {"good", build_at(&Widening::good), build_ref(), "The good end until then."},
       {"posterior", posterior, "", list_of(belief_row().schema())},
       {"runs", &Widening::runs},
       {"session_count", &Widening::sessions},
       {"spent_seconds", &Widening::spent_seconds},
       {"finished_at", &Widening::finished_at},
       {"max_runs", &Widening::max_runs, "That it may have from then on, these included."},
       {"max_minutes", &Widening::max_minutes},
       {"threshold", &Widening::threshold, "null: the configured one."}});
  return made;
}

std::vector<InRange> commits_of(const Bisection& bisection) {
  const auto shared = std::make_shared<const Bisection>(bisection);
  std::vector<InRange> commits;
  for (std::size_t i = 0; i < bisection.commits.size(); ++i) commits.push_back({shared, i});
  return commits;
}

std::vector<KnownLevel> levels_up_to(int session, const Searched& searched) {
  std::vector<std::vector<double>> values(searched.values.size());
  for (const bisect::SearchRun& run : searched.log.log.runs)
    if (run.session <= session) values[static_cast<std::size_t>(run.commit)].push_back(run.value);
  const auto changes = bisect::against_first(values, .95);
  std::vector<KnownLevel> levels;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!values[i].empty()) levels.push_back({static_cast<int>(i), values[i].size(), changes[i]});
  return levels;
}

std::vector<SearchSession> sessions_of(const Bisection& bisection, Rows& rows) {
  std::map<int, SearchSession> by_number;
  for (const LogPart& part : rows.searched(bisection).log.parts) {
    by_number[part.session].session = part.session;
    by_number[part.session].jobs.push_back(part);
  }
  std::vector<SearchSession> sessions;
  for (auto& [number, session] : by_number) {
    session.levels = levels_up_to(number, rows.searched(bisection));
    sessions.push_back(std::move(session));
  }
  return sessions;
}

std::int64_t tested_commits(const Bisection& bisection, Rows& rows) {
  const auto& values = rows.searched(bisection).values;
  return std::count_if(values.begin(), values.end(), [](const auto& of) { return !of.empty(); });
}

int own_runs(const Bisection& bisection, Rows& rows) {
  int runs = 0;
  for (const LogPart& part : rows.searched(bisection).log.parts) runs += part.own ? part.runs : 0;
  return runs;
}

std::vector<InRange> searches_of(const CommitSha& sha, Rows& rows) {
  std::vector<InRange> all;
  for (const Bisection& search : storage::bisections_of_commit(rows.db, sha, most_searches)) {
    const auto at = std::find(search.commits.begin(), search.commits.end(), sha);
    all.push_back({std::make_shared<const Bisection>(search),
                   static_cast<std::size_t>(at - search.commits.begin())});
  }
  return all;
}

std::optional<FixSearch> fix_of(const Bisection& bisection, Rows& rows) {
  return bisection.fix ? storage::find_fix_search(rows.db, *bisection.fix) : std::nullopt;
}

}  // namespace

const Row<Bisection>& bisection_row() {
  const auto posterior = [](const Bisection& bisection) {
    std::vector<Culprit> beliefs;
    for (const CellMass& cell : bisection.posterior)
      beliefs.push_back(
          {evidence::cell_commits(cell.first, cell.last, bisection.commits), cell.probability});
    return beliefs;
  };
  const auto untestable = [](const Bisection& bisection, Rows& rows) {
    return rows.searched(bisection).untestable.size();
  };
  const auto builds = [](const Bisection& bisection, Rows& rows) {
    const bool open = bisection.state == BisectionState::open;
    return open ? storage::builds_for_search(rows.db, bisection.id) : 0;
  };
  const auto improvement = [](const Bisection& bisection,
                              Rows& rows) -> std::optional<std::int64_t> {
    const auto fix = fix_of(bisection, rows);
    if (!fix) return std::nullopt;
    for (const storage::Improvement& one : storage::improvements_of(rows.db, fix->series))
      if (one.build == fix->build && one.night == fix->night) return one.id;
    return std::nullopt;
  };
  static const Row<Bisection> made(
      "Bisection",
      "The search for the commit that made a series worse between the last good and the first bad "
      "build, or that made it better between the build before and the first better one.",
      {{"id", &Bisection::id},
       {"regression", &Bisection::regression, "null: it is the search of a fix."},
       {"improvement",
        improvement,
        "Id of the improvement that it explains; null: it is the search of a regression.",
        {{"type", {"integer", "null"}}}},
       {"series", &Bisection::series},
       {"workload", of_series(&Bisection::series, &Series::workload_name)},
       {"metric", of_series(&Bisection::series, &Series::metric)},
       {"unit", of_series(&Bisection::series, unit_of)},
       {"state", &Bisection::state},
       {"good", build_at(&Bisection::good), build_ref()},
       {"bad", build_at(&Bisection::bad), build_ref()},
       {"commit_count", [](const Bisection& bisection) { return bisection.commits.size(); },
        "Commits in the range, the good end's included."},
       {"tested_commits", tested_commits},
       {"untestable_commits", untestable},
       {"builds_under_way", builds, "Wheels that builders are asked for and that serve it."},
       {"session_count", &Bisection::sessions,
        "Sessions that the posterior rests on, the confirmation's included."},
       {"runs", &Bisection::runs, "Their runs."},
       {"own_runs", own_runs, "Runs of the search's own sessions, which `spent_seconds` counts."},
       {"posterior", posterior, belief_row(), "The likeliest first."},
       {"outcome", &Bisection::outcome, "null: it goes on, or was given up."},
       {"spent_seconds", &Bisection::spent_seconds,
        "Time of measuring, including the set-up of environments."},
       {"expected_runs", &Bisection::expected_runs, "A rough guess of the rest until an answer."},
       {"started_at", &Bisection::started_at},
       {"finished_at", &Bisection::finished_at}});
  return made;
}

const Row<Bisection>& bisection_detail() {
  const auto widened = [](const Bisection& bisection, Rows& rows) {
    return storage::widening_history(rows.db, bisection.id);
  };
  const auto made_better = [](const Bisection& bisection, Rows& rows) {
    const auto fix = fix_of(bisection, rows);
    return fix ? fix->causes : std::vector<NamedCause>();
  };
  static const Row<Bisection> made(
      "BisectionDetail", "A bisection with its commits and sessions.", bisection_row(),
      {{"commits", commits_of, bisection_commit()},
       {"made_better", made_better, named_cause_row(),
        "What the search of a fix named; of a regression see there."},
       {"sessions", sessions_of, session_row()},
       {"widened", widened, widening_row(),
        "Each time that a person had it taken up again, the oldest first."}});
  return made;
}

const Row<CommitSha>& named_commit() {
  static const Row<CommitSha> made("NamedCommit", "A commit, named for people.",
                                   {{"sha", std::identity()},
                                    {"subject", subject_of, "", subject_schema()},
                                    {"author", author_of}});
  return made;
}

const Row<CommitSha>& commit_detail() {
  const auto state_of = [](auto get) {
    return [get](const CommitSha& sha, Rows& rows) -> std::optional<Sha256> {
      static const Project pytorch;  // named: g++ 12 fails on a temporary here
      const Project& project = rows.context ? rows.context->config.project : pytorch;
      const auto state = storage::find_commit_state(rows.db, sha, path_rules(project));
      return state ? std::optional(std::invoke(get, *state)) : std::nullopt;
    };
  };
  const auto builds = [](const CommitSha& sha, Rows& rows) {
    return storage::builds_of_commit(rows.db, sha);
  };
  static const Row<CommitSha> made(
      "CommitDetail", "A commit, its builds, and the newest searches in whose range it lies.",
      named_commit(),
      {{"committed_at", committed_at},
       {"native_state", state_of(&CommitState::native),
        "Commits with the same one can share a wheel; null: not computed yet."},
       {"library_state", state_of(&CommitState::library),
        "The same without headers that only programs compiled against PyTorch include."},
       {"builds", builds, build_row()},
       {"measured", searches_of, measured_commit()}});
  return made;
}

}  // namespace nightjar::service::api
