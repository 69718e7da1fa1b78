#include "service/builds/discovery.hpp"

#include <algorithm>
#include <stdexcept>
#include <system_error>

#include "service/builds/lock.hpp"
#include "service/builds/needs.hpp"
#include "service/builds/proof.hpp"
#include "service/builds/wheel.hpp"
#include "service/builds/wheel_name.hpp"
#include "storage/locks.hpp"
#include "storage/nights.hpp"

namespace nightjar::service {

namespace {

std::string note_name(const Config::Source& source) {
  return "discovery-from/" + source.variant;
}

Build build_of(const ListedWheel& wheel, Time found_at) {
  Build build;
  build.version = wheel.version;
  build.variant = wheel.variant;
  build.date = wheel.date;
  build.url = wheel.url;
  build.sha256 = wheel.sha256;  // a claim, until the build is proved
  build.found_at = found_at;
  return build;
}

// The row as it was before its build was looked at.
Build found_row(Build build) {
  build.state = BuildState::found;
  build.reason.clear();
  build.commit.reset();
  build.nightly_commit.reset();
  return build;
}

ListedWheel wheel_of(const Build& build) {
  return {file_name_of(build.url), build.url,  build.version,
          build.variant,           build.date, build.sha256};
}

// By file name, not by URL: an index that moves to another host lists no new builds.
std::map<std::string, const Build*> by_file_name(const std::vector<Build>& builds) {
  std::map<std::string, const Build*> all;
  for (const Build& build : builds) all.emplace(file_name_of(build.url), &build);
  return all;
}

// An honest index has one a day. Each that is found is downloaded.
constexpr std::size_t most_listed = 5'000;

// Takes out what nobody can have built yet, so that a source has no more builds than there were
// days, and none can take an honest one's place. Returns a line that says so; empty: all stays.
std::string drop_days_to_come(std::vector<ListedWheel>& listed, Time now) {
  const std::string tomorrow = to_date(now + clocks_differ);
  const auto dropped =
      std::erase_if(listed, [&](const ListedWheel& wheel) { return wheel.date > tomorrow; });
  if (dropped == 0) return {};
  return std::to_string(dropped) + " of its wheels have a date after " + tomorrow +
         " and are left out";
}

// Removes a download that was not taken over.
struct Download {
  std::filesystem::path path;
  ~Download() {
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
  }
};

}  // namespace

Discovery::Discovery(BuildSource& source, git::CommitGraph& graph, Artifacts& artifacts,
                     const Config& config, const Clock& clock, const Config::Source* place,
                     std::stop_token stop)
    : source_(source),
      graph_(graph),
      artifacts_(artifacts),
      config_(config),
      place_(place ? *place : config.source),
      clock_(clock),
      stop_(std::move(stop)) {}

Known Discovery::known(storage::Database& db) const {
  Known known;
  known.prove_from = storage::get_note(db, note_name(place_));
  for (const BuildState state :
       {BuildState::found, BuildState::proved, BuildState::unproved, BuildState::unusable})
    for (Build& build : storage::builds_in_state(db, state))
      if (build.kind == BuildKind::nightly && build.variant == place_.variant)
        known.nightlies.push_back(std::move(build));
  return known;
}

void Discovery::take_listing(const Known& known, const std::vector<ListedWheel>& listed,
                             Survey& survey) const {
  std::string from = known.prove_from.value_or("");
  if (!known.prove_from && !listed.empty()) {
    const auto count = static_cast<int>(listed.size());
    const std::string oldest = to_date(clock_.now() - std::chrono::days(place_.keep_days));
    const auto prove = static_cast<std::size_t>(std::max(0, count - place_.first_nightlies));
    survey.prove_from = listed[prove].date;
    from = std::min({oldest, listed[static_cast<std::size_t>(std::max(0, count - 2))].date,
                     *survey.prove_from});
  }
  const auto rows = by_file_name(known.nightlies);
  for (const ListedWheel& wheel : listed) {
    const auto found = rows.find(wheel.file_name);
    const Build* row = found == rows.end() ? nullptr : found->second;
    if (!row && wheel.date >= from) {
      survey.found.push_back(build_of(wheel, clock_.now()));
      if (survey.prove_from && wheel.date < *survey.prove_from)
        survey.found.back().reason = "it is older than what the first start was to measure";
    }
    if (!row || !wheel.sha256 || !row->sha256 || row->sha256 == wheel.sha256) continue;
    if (row->state == BuildState::proved) {
      survey.problems.push_back(wheel.url +
                                ": its SHA-256 is no longer what it was when it was proved");
    } else if (row->state != BuildState::found) {
      Build again = found_row(*row);
      again.url = wheel.url;
      again.sha256 = wheel.sha256;
      survey.reopened.push_back(std::move(again));
    }
  }
}

std::vector<Build> Discovery::waiting_since(const std::string& date, const Known& known,
                                            const Survey& survey) const {
  std::vector<Build> waiting;
  const auto take = [&](const Build& build) {
    const auto backoff = backoff_.find(build.url);
    const bool too_early = backoff != backoff_.end() && clock_.now() < backoff->second.not_before;
    if (build.state == BuildState::found && build.date >= date && !too_early)
      waiting.push_back(build);
  };
  std::for_each(known.nightlies.begin(), known.nightlies.end(), take);
  std::for_each(survey.found.begin(), survey.found.end(), take);
  std::stable_sort(waiting.begin(), waiting.end(),
                   [](const Build& a, const Build& b) { return a.date < b.date; });
  return waiting;
}

Survey Discovery::survey(const Known& known) {
  Survey survey = look_once(known);
  survey.repository_failure = repository_failure_;
  return survey;
}

Survey Discovery::look_once(const Known& known) {
  Survey survey;
  std::vector<ListedWheel> listed;
  bool is_listed = true;  // what could not be listed may still be there
  try {
    listed = source_.list();
    survey.problems = source_.problems();
    if (listed.size() > most_listed)
      throw std::runtime_error("cannot list builds: the source lists " +
                               std::to_string(listed.size()) + " wheels; at most " +
                               std::to_string(most_listed) + " are read");
    if (std::string said = drop_days_to_come(listed, clock_.now()); !said.empty())
      survey.problems.push_back(std::move(said));
    if (listed.empty()) survey.source_failure = nothing_listed(place_, config_.project);
  } catch (const std::exception& error) {
    is_listed = false;
    listed.clear();
    survey.source_failure = error.what();
  }
  take_listing(known, listed, survey);
  const auto from = survey.prove_from ? survey.prove_from : known.prove_from;
  if (!from) return survey;

  const std::vector<Build> waiting = waiting_since(*from, known, survey);
  survey.more = !survey.reopened.empty();
  if (waiting.empty()) return survey;
  survey.more |= waiting.size() > 1;
  const Build& next = waiting.front();
  const auto fresh = std::find_if(listed.begin(), listed.end(), [&](const ListedWheel& wheel) {
    return wheel.file_name == file_name_of(next.url);
  });
  const bool gone = is_listed && fresh == listed.end();
  prove_or_postpone(next, fresh == listed.end() ? wheel_of(next) : *fresh, gone, survey);
  return survey;
}

void Discovery::fetch_commits() {
  try {
    graph_.fetch();
    if (!graph_.resolve(config_.repository.main))
      throw std::runtime_error(config_.repository.url + " has no branch " +
                               config_.repository.main);
    repository_failure_.clear();
  } catch (const std::exception& error) {
    repository_failure_ = error.what();
    throw;
  }
}

void Discovery::prove_or_postpone(Build build, const ListedWheel& wheel, bool gone,
                                  Survey& survey) {
  const Download download{artifacts_.temporary()};
  if (wheel.sha256) build.sha256 = wheel.sha256;
  try {
    fetch_commits();  // first: without them the download would be in vain
    const std::optional<Sha256> sha256 = bring(wheel, gone, download.path, build);
    if (sha256) judge(build, *sha256, download.path, survey);
    backoff_.erase(build.url);
    survey.settled = std::move(build);
  } catch (const std::exception& error) {
    postpone(std::move(build), error.what(), survey);
  }
}

// Downloads the wheel. nullopt if it is lost for good, by both the list and its place; `build` then
// has the reason. Throws if it may work later.
std::optional<Sha256> Discovery::bring(const ListedWheel& wheel, bool gone,
                                       const std::filesystem::path& to, Build& build) {
  try {
    return source_.fetch(wheel, to);
  } catch (const WheelGone& error) {
    if (!gone) throw;
    build.state = BuildState::unproved;
    build.reason = std::string("its source lists it no longer, and ") + error.what();
    return std::nullopt;
  }
}

// Throws if an index cannot be asked now.
void Discovery::lock(Build& build, const WheelFacts& facts, Survey& survey) const {
  if (config_.environment.indexes.empty()) return;
  if (!facts.unreadable.empty()) {
    build.state = BuildState::unusable;
    build.reason = facts.unreadable;
    return;
  }
  try {
    survey.lock = resolve(facts.requires_dist, build.needs, config_.environment, stop_);
    build.lock = survey.lock->sha256;
  } catch (const Unresolvable& error) {
    build.state = BuildState::unusable;
    build.reason = error.what();
  }
}

void Discovery::judge(Build& build, const Sha256& sha256, const std::filesystem::path& file,
                      Survey& survey) {
  try {
    const WheelFacts facts = read_wheel(file, config_.project.version_file, false, stop_);
    const auto verdict = prove(build, sha256, facts, graph_, config_.repository, config_.project);
    if (const auto* unproved = std::get_if<Unproved>(&verdict)) {
      build.state = unproved->state;
      build.reason = unproved->reason;
    } else {
      const Proved& proved = std::get<Proved>(verdict);
      build.commit = proved.commit;
      build.nightly_commit = proved.git_version;
      if (const auto name = parse_wheel_name(file_name_of(build.url)))
        build.needs = needs_of(file, *name, facts);
      build.state = BuildState::proved;
      build.reason.clear();
      lock(build, facts, survey);
      if (build.state == BuildState::proved) artifacts_.add(file);
    }
  } catch (const BadWheel& bad) {
    build.state = BuildState::unusable;
    build.reason = bad.what();
  }
  // Where the index claimed another hash, the claim stays: once it is corrected, the wheel is
  // looked at again.
  if (!build.sha256) build.sha256 = sha256;
}

void Discovery::postpone(Build build, const std::string& why, Survey& survey) {
  Backoff& backoff = backoff_[build.url];
  const auto wait = std::chrono::seconds(5) * (1 << std::min(backoff.failures, 10));
  backoff.failures += 1;
  backoff.not_before =
      clock_.now() + std::min<std::chrono::seconds>(wait, std::chrono::minutes(60));
  build = found_row(std::move(build));
  build.reason = why;
  survey.postponed = std::move(build);
}

Changes Discovery::apply(storage::Database& db, const Survey& survey) const {
  Changes changes;
  storage::Transaction transaction(db);
  for (const Build& build : survey.found)
    changes.found.push_back(storage::add_build(transaction, build));
  for (const Build& build : survey.reopened) {
    const auto row = storage::find_build(db, build.id);
    if (row && (row->state == BuildState::unproved || row->state == BuildState::unusable))
      storage::update_build(transaction, build);
  }
  if (survey.prove_from) storage::set_note(transaction, note_name(place_), *survey.prove_from);
  for (const auto* result : {&survey.settled, &survey.postponed}) {
    if (!*result) continue;
    const auto row = (*result)->id ? storage::find_build(db, (*result)->id)
                                   : storage::add_build(transaction, found_row(**result));
    if (!row || row->state != BuildState::found) continue;  // applied before
    Build build = **result;
    build.id = row->id;
    build.found_at = row->found_at;
    if (survey.lock && build.lock == survey.lock->sha256)
      storage::add_lock(transaction, *survey.lock, clock_.now());
    storage::update_build(transaction, build);
    if (build.state != BuildState::found) changes.settled = build;
  }
  transaction.commit();
  return changes;
}

Changes Discovery::tick(storage::Database& db) {
  return apply(db, survey(known(db)));
}

void Discovery::restore(const Build& build) {
  if (!build.sha256)
    throw std::runtime_error("build " + build.version + " has no SHA-256 to restore by");
  if (artifacts_.path(*build.sha256)) return;
  const Download download{artifacts_.temporary()};
  const Sha256 sha256 = source_.fetch(wheel_of(build), download.path);
  if (sha256 != *build.sha256)
    throw std::runtime_error(build.url + " has SHA-256 " + sha256.brief() + "..., not " +
                             build.sha256->brief() + "... as when it was proved");
  artifacts_.add(download.path);
}

}  // namespace nightjar::service
