#include "service/builds/ci/ci_plan.hpp"

#include <algorithm>
#include <map>

#include "storage/bisections.hpp"
#include "storage/builds.hpp"
#include "storage/ci_lookups.hpp"

namespace nightjar::service::ci {

namespace {

bool under_way(const CiLookup& lookup) {
  using enum CiLookupState;
  return lookup.state == wanted || lookup.state == found || lookup.retry_at.has_value();
}

// The commit of one native group to ask for; nullptr: none, now or ever.
const Served* choice_of(const std::vector<const Served*>& group, bool fetch, bool urgent) {
  for (const Served* one : group) {
    const bool fetched = one->lookup && one->lookup->state == CiLookupState::fetched;
    if (one->has_wheel || fetched) return nullptr;
  }
  for (const Served* one : group)
    if (one->lookup && under_way(*one->lookup))
      return fetch > one->lookup->fetch || urgent > one->lookup->urgent ? one : nullptr;
  const auto fresh =
      std::find_if(group.rbegin(), group.rend(), [](const Served* one) { return !one->lookup; });
  return fresh == group.rend() ? nullptr : *fresh;
}

struct Loader {
  const storage::Database& db;
  const git::CommitGraph& graph;
  const Config& config;
  const Config::Source& source;
  const NativeStateOf& native_state;

  // `bridges`: a nightly is not enough.
  std::vector<Served> served(std::span<const CommitSha> commits, bool bridges = false) const {
    const std::string& variant = source.variant;
    std::vector<Served> all;
    for (const CommitSha& commit : commits) {
      const auto builds = storage::builds_of_commit(db, commit);
      const bool has_wheel = std::any_of(builds.begin(), builds.end(), [&](const Build& build) {
        return build.state == BuildState::proved && build.kind != BuildKind::overlay &&
               build.variant == variant && !(bridges && build.kind == BuildKind::nightly);
      });
      all.push_back(
          {commit, native_state(commit), has_wheel, storage::find_ci_lookup(db, commit, variant)});
    }
    return all;
  }

  // Commits of main since the oldest nightly of the last `days` days.
  std::vector<CommitSha> recent(int days, Time now) const {
    const std::string oldest = to_date(now - std::chrono::days(days));
    std::optional<Build> from;
    for (const Build& build : storage::builds_in_state(db, BuildState::proved))
      if (build.kind == BuildKind::nightly && build.commit && build.date >= oldest &&
          build.variant == source.variant && (!from || build.date < from->date))
        from = build;
    const auto tip = graph.resolve(config.repository.main);
    std::vector<CommitSha> commits;
    if (!from || !tip) return commits;
    for (const git::Commit& commit :
         graph.range(*from->commit, *tip).value_or(std::vector<git::Commit>{}))
      commits.push_back(commit.sha);
    return commits;
  }
};

std::vector<CommitSha> without_build(const storage::Database& db, const Bisection& search) {
  std::vector<CommitSha> commits;
  for (const Untestable& one : storage::untestable_of(db, search.id))
    commits.push_back(search.commits.at(static_cast<std::size_t>(one.commit)));
  return commits;
}

// Whether native commits lie between the ends. Then a wheel of CI for each end's group shows how
// nightlies differ from CI's wheels. Otherwise one wheel serves the whole search.
bool needs_bridges(const Bisection& search, const NativeStateOf& native_state) {
  const auto good = native_state(search.commits.front()), bad = native_state(search.commits.back());
  return !good || !bad || *good != *bad;
}

struct How {
  bool fetch = false, urgent = false;
};

// In a transaction of its own; true if there was something to store.
bool store(storage::Database& db, std::span<const Served> commits, How how,
           const std::string& variant, const Clock& clock) {
  const auto asked = commits_to_ask(commits, how.fetch, how.urgent);
  if (asked.empty()) return false;
  storage::write(db, [&](storage::Transaction& transaction) {
    for (const Served& one : asked) {
      CiLookup lookup{.commit = one.commit, .variant = variant};
      lookup.native_state = one.native_state;
      lookup.fetch = how.fetch;
      lookup.urgent = how.urgent;
      lookup.wanted_at = clock.now();
      storage::want_ci_wheel(transaction, lookup);
    }
  });
  return true;
}

}  // namespace

std::vector<Served> commits_to_ask(std::span<const Served> commits, bool fetch, bool urgent) {
  std::map<std::string, std::vector<const Served*>> groups;
  for (const Served& one : commits)
    groups[one.native_state ? one.native_state->str() : one.commit.str()].push_back(&one);
  std::vector<Served> asked;
  for (const Served& one : commits)  // in their order, each group once
    if (const auto group =
            groups.extract(one.native_state ? one.native_state->str() : one.commit.str()))
      if (const Served* choice = choice_of(group.mapped(), fetch, urgent)) asked.push_back(*choice);
  return asked;
}

bool plan_for_searches(storage::Database& db, const git::CommitGraph& graph, const Config& config,
                       const Config::Source& source, const NativeStateOf& native_state,
                       const Clock& clock) {
  const Loader load{db, graph, config, source, native_state};
  const bool fetch = source.ci.mirror.mode != MirrorMode::off;
  bool changed = false;
  for (const Bisection& search : storage::open_bisections(db)) {
    const auto good = storage::find_build(db, search.good);
    if (!good || good->variant != source.variant) continue;
    const auto asked = load.served(without_build(db, search));
    changed |= store(db, asked, {.fetch = true, .urgent = true}, source.variant, clock);
    const auto all = load.served(search.commits, needs_bridges(search, native_state));
    changed |= store(db, all, {.fetch = fetch, .urgent = true}, source.variant, clock);
  }
  return changed;
}

bool plan_for_mirror(storage::Database& db, const git::CommitGraph& graph, const Config& config,
                     const Config::Source& source, const NativeStateOf& native_state,
                     const Clock& clock) {
  const MirrorPolicy& mirror = source.ci.mirror;
  if (mirror.mode != MirrorMode::days) return false;
  const Loader load{db, graph, config, source, native_state};
  const auto recent = load.served(load.recent(mirror.days, clock.now()));
  return store(db, recent, {.fetch = true, .urgent = false}, source.variant, clock);
}

std::optional<Build> apply(storage::Transaction& transaction, const Finding& finding) {
  CiLookup lookup = finding.lookup;
  std::optional<Build> stored;
  if (finding.build) {
    stored = storage::add_build(transaction, *finding.build);
    lookup.build = stored->id;
  }
  storage::note_ci_look(transaction, lookup);
  return stored;
}

}  // namespace nightjar::service::ci
