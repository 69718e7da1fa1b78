// Authors: their commits in searches, and those who may have repaired a regression.
#include <algorithm>
#include <set>

#include "service/api/references.hpp"
#include "service/api/routes.hpp"
#include "service/engine/outcome/repairs.hpp"
#include "storage/bisections.hpp"

namespace nightjar::service::api {
namespace {

constexpr std::size_t commits_of_author = 50;

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

const Row<Repair>& repair_row() {
  const auto shas = [](const Repair& repair) {
    std::vector<CommitSha> all;
    for (const ReportCommit& commit : repair.by.commits) all.push_back(commit.sha);
    return all;
  };
  const auto bisection_of = [](const Repair& repair, Rows& rows) {
    return repair.by.search ? rows.bisection_of(*repair.by.search) : std::nullopt;
  };
  static const Row<Repair> made(
      "Repair", "Who may have repaired a regression.",
      {{"regression", &Repair::regression},
       {"build", build_at(&Repair::build), build_ref(), "The first that was good again."},
       {"commits", shas, named_commit(),
        "What a search named, otherwise all that are new since the last bad build, oldest first. "
        "One: who did. Empty: not known."},
       {"bisection", bisection_of, "Id of the search that named them; null: none did."}});
  return made;
}

bool has_commit(const Repair& repair, const CommitSha& sha) {
  return std::any_of(repair.by.commits.begin(), repair.by.commits.end(),
                     [&](const ReportCommit& commit) { return commit.sha == sha; });
}

// A page may have fewer than were asked for: not each regression that recovered has a repair.
storage::Page<Repair> repairs(storage::Database& db, const Context& context,
                              const std::optional<CommitSha>& commit,
                              const storage::PageRequest& ask) {
  const EngineView view{db, context.commits, context.artifacts, context.config, context.clock};
  storage::RegressionFilter filter;
  filter.state = RegressionState::recovered;
  const auto recovered = storage::list_regressions(db, filter, ask);
  storage::Page<Repair> page;
  page.next = recovered.next;
  for (const Regression& regression : recovered.items)
    if (auto repair = repair_of(view, regression);
        repair && (!commit || has_commit(*repair, *commit)))
      page.items.push_back(*std::move(repair));
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
                        "/api/v1/authors needs 'name', that of an author.",
                        {{"", "is missing", "name"}});
        Rows rows(db, &context);
        return json_answer(author_row().write(author_of_name(db, context, *given), rows));
      });
  const auto commit = commit_name_query("commit", "Among the commits that may have done it.");
  routes.list(
      "repairs", "Who may have repaired each regression that recovered", repair_row(),
      [&context = routes.context, commit](storage::Database& db, const web::Request& request,
                                          const storage::PageRequest& page) {
        const auto given = commit(request);
        const auto sha =
            given ? std::optional(commit_called(db, context.commits, *given, commit.name))
                  : std::nullopt;
        return repairs(db, context, sha, page);
      },
      {commit});
}

}  // namespace nightjar::service::api
