// Who is concerned: an author's commits in searches, and who may have repaired a regression.
#include <algorithm>
#include <set>

#include "service/api/routes.hpp"
#include "service/engine/outcome/follow_up.hpp"
#include "service/engine/outcome/report_facts.hpp"
#include "service/engine/policy.hpp"
#include "service/engine/verdict/levels.hpp"
#include "storage/bisections.hpp"

namespace nightjar::service::api {
namespace {

constexpr std::size_t commits_of_author = 50;
constexpr int levels_looked_at = 400;
constexpr NightId after_all{1ll << 60};

struct Author {
  std::string name;
  std::vector<CommitSha> commits;  // newest first
};

const Row<Author>& author_row() {
  static const Row<Author> made(
      "Author", "An author's newest commits that lie in the range of a search.",
      {{"name", &Author::name}, {"commits", &Author::commits, commit_detail(), "Newest first."}});
  return made;
}

Author author_of_name(storage::Database& db, const Context& context, const std::string& name) {
  std::set<CommitSha> seen;
  std::vector<std::pair<Time, CommitSha>> own;
  storage::PageRequest ask{500, {}};
  do {
    const auto page = storage::list_bisections(db, ask);
    for (const Bisection& search : page.items)
      for (const CommitSha& sha : search.commits)
        if (seen.insert(sha).second)
          if (const auto commit = context.commits.find(sha); commit && commit->author_name == name)
            own.emplace_back(commit->committed_at, sha);
    ask.before = page.next;
  } while (ask.before);
  std::sort(own.rbegin(), own.rend());
  Author author{name, {}};
  for (const auto& [at, sha] : own)
    if (author.commits.size() < commits_of_author) author.commits.push_back(sha);
  return author;
}

struct Repair {
  RegressionId id;
  BuildId build;
  std::vector<CommitSha> commits;  // oldest first
};

const Row<Repair>& repair_row() {
  static const Row<Repair> made(
      "Repair", "Who may have repaired a regression.",
      {{"regression", &Repair::id},
       {"build", build_at(&Repair::build), build_ref(), "The first that was good again."},
       {"commits", &Repair::commits, named_commit(),
        "Between the last bad build and that one, oldest first; one: who did. Empty: not "
        "known."}});
  return made;
}

// The first accepted level after the regression at which its lead series was back.
std::optional<Repair> repair_of(const EngineView& view, const Regression& regression) {
  const AffectedSeries& lead = regression.series.front();
  const auto series = storage::find_series(view.db, lead.series);
  if (!series) return std::nullopt;
  const double threshold = policy_of(*series, view.config).threshold;
  auto levels = storage::levels_before(view.db, lead.series, after_all, levels_looked_at);
  std::reverse(levels.begin(), levels.end());
  const auto back = std::find_if(levels.begin(), levels.end(), [&](const Level& level) {
    return regression.night < level.night &&
           is_back(worsening(*series, lead.before, level.value), threshold);
  });
  if (back == levels.end()) return std::nullopt;
  const bool was_bad = back != levels.begin() && regression.night < std::prev(back)->night;
  const BuildId last_bad = was_bad ? std::prev(back)->build : regression.bad;
  Repair repair{regression.id, back->build, {}};
  const auto build = storage::find_build(view.db, back->build);
  for (const ReportCommit& commit : commits_that_may_have_repaired(view, last_bad, build->commit))
    repair.commits.push_back(commit.sha);
  return repair;
}

storage::Page<Repair> repairs(storage::Database& db, const Context& context,
                              const storage::PageRequest& ask) {
  const EngineView view{db, context.commits, context.artifacts, context.config, context.clock};
  storage::RegressionFilter filter;
  filter.state = RegressionState::recovered;
  const auto recovered = storage::list_regressions(db, filter, ask);
  storage::Page<Repair> page;
  page.next = recovered.next;
  for (const Regression& regression : recovered.items)
    if (auto repair = repair_of(view, regression)) page.items.push_back(*std::move(repair));
  return page;
}

}  // namespace

void add_author_routes(Routes& routes) {
  Query<std::string> name{"name", "As the author's commits have it.", schema_of<std::string>(),
                          "a name", [](const std::string& given) { return std::optional(given); }};
  name.required = true;
  routes.read(
      {.path = "/api/v1/authors",
       .id = "get_author",
       .summary = "An author's commits in searches, and what was measured of each",
       .parameters = {name},
       .answers = {{.schema = author_row().schema()}}},
      [&context = routes.context, name](storage::Database& db, const web::Request& request) {
        const auto given = name(request);
        if (!given)
          throw Refused(400, "Missing query parameter",
                        "/api/v1/authors needs 'name', that of an author.");
        Rows rows(db, &context);
        return json_answer(author_row().write(author_of_name(db, context, *given), rows));
      });
  routes.list("repairs", "Who may have repaired each regression that recovered", repair_row(),
              [&context = routes.context](storage::Database& db, const web::Request&,
                                          const storage::PageRequest& page) {
                return repairs(db, context, page);
              });
}

}  // namespace nightjar::service::api
