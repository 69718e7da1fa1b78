#include "service/engine/search/package_plan.hpp"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <set>
#include <sstream>

#include "service/builds/lock.hpp"
#include "service/builds/package_mixes.hpp"
#include "service/project.hpp"

namespace nightjar::service {
namespace {

std::string version_in(const Lock& lock, const std::string& name) {
  for (const LockedPackage& one : lock.packages)
    if (one.name == name) return one.version;
  return {};
}

const LockedPackage& changed_at(const PackageSearch& search, int position) {
  return search.mixes.at(static_cast<std::size_t>(position)).changed;
}

// The position of the only step; 0 if there is no step, if there are several, or if it is wider.
int only_step(const PackageSearch& search) {
  if (search.state != PackageSearchState::found || search.found.size() != 1) return 0;
  const NamedStep& step = search.found.front();
  return step.first == step.last ? step.first : 0;
}

// What was resolved before is not resolved again.
void take_known_locks(PackageSearch& search, const PackagePlanFacts& facts) {
  for (int i = 0; i < static_cast<int>(search.mixes.size()); ++i) {
    PackageMix& mix = search.mixes[static_cast<std::size_t>(i)];
    const auto packages = packages_at(search, i, facts.good);
    const auto take = [&](const Sha256& lock) { mix.lock = lock, mix.state = MixState::locked; };
    if (packages == facts.good.packages) take(facts.good.sha256);
    if (packages == facts.bad.packages) take(facts.bad.sha256);
    for (const PackageSearch& earlier : facts.searches)
      for (int j = 0; j < static_cast<int>(earlier.mixes.size()); ++j)
        if (const auto& known = earlier.mixes[static_cast<std::size_t>(j)];
            known.state == MixState::locked && packages_at(earlier, j, facts.good) == packages)
          take(*known.lock);
  }
}

PackageSearch new_search(const PackagePlanFacts& facts, PackageQuestion question, Time now) {
  PackageSearch search;
  search.regression = facts.regression.id;
  search.number = static_cast<int>(facts.searches.size());
  search.question = question;
  search.series = facts.regression.series.front().series;
  search.wheel = facts.wheel;
  search.started_at = now;
  return search;
}

PackageSearch ask_packages(const PackagePlanFacts& facts, Time now) {
  PackageSearch search = new_search(facts, PackageQuestion::packages, now);
  search.mixes = chain_between(facts.good, facts.bad);
  return search;
}

// The package first, then what came before it in the chain.
PackageSearch ask_partner(const PackagePlanFacts& facts, const PackageSearch& found, int position,
                          Time now) {
  PackageSearch search = new_search(facts, PackageQuestion::partner, now);
  search.mixes = {{}, {changed_at(found, position)}};
  for (int i = 1; i < position; ++i) search.mixes.push_back({changed_at(found, i)});
  take_known_locks(search, facts);
  return search;
}

std::variant<PackageSearch, PackagesDone> ask_versions(const PackagePlanFacts& facts,
                                                       const LockedPackage& package,
                                                       std::optional<LockedPackage> held,
                                                       Time now) {
  if (package.version.empty() || version_in(facts.good, package.name).empty())
    return PackagesDone{};
  PackageSearch search = new_search(facts, PackageQuestion::versions, now);
  search.state = PackageSearchState::listing;
  search.held = std::move(held);
  search.mixes = {{}, {package}};
  take_known_locks(search, facts);
  return search;
}

std::string shown(const std::string& version) {
  return version.empty() ? "none" : version;
}

std::string arrow(const NamedPackage& package) {
  return package.name + " " + shown(package.before) + " → " + shown(package.after);
}

std::string listed(const std::vector<std::string>& words, const std::string& last) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i)
    text += (i == 0 ? "" : i + 1 == words.size() ? " " + last + " " : ", ") + words[i];
  return text;
}

NamedPackage named_at(const PackageSearch& search, const NamedStep& step, int position,
                      const Lock& good) {
  const LockedPackage& changed = changed_at(search, position);
  NamedPackage named{changed.name,    version_in(good, changed.name),
                     changed.version, step.ratio,
                     step.low,        step.high};
  if (search.question == PackageQuestion::versions && step.first > 1)
    named.before = changed_at(search, step.first - 1).version;
  return named;
}

// Returns every package of every step that one search found.
std::vector<NamedPackage> named_by(const PackageSearch& search, const Lock& good) {
  std::vector<NamedPackage> named;
  for (const NamedStep& step : search.found) {
    const bool by_version = search.question == PackageQuestion::versions;
    for (int i = by_version ? step.last : step.first; i <= step.last; ++i)
      named.push_back(named_at(search, step, i, good));
  }
  return named;
}

std::string moved(const PackageSearch& search, const NamedPackage& package) {
  if (search.state == PackageSearchState::unclear)
    return arrow(package) + " made it worse; which version did is not known: " + search.rule;
  std::string text =
      package.name + " " + package.after + " made it worse, " + package.before + " did not";
  if (search.state == PackageSearchState::adjacent) return text + "; " + search.rule;
  const NamedStep& step = search.found.front();
  return step.first == step.last ? text : text + "; no version in between could be measured";
}

// What the search among versions says, of the package that was found before.
void add_versions(PackageCause& cause, const PackageSearch& search, const Lock& good) {
  NamedPackage whole = cause.packages.empty() ? NamedPackage{} : cause.packages.front();
  whole.name = search.mixes.back().changed.name;
  whole.before = version_in(good, whole.name);
  whole.after = search.mixes.back().changed.version;
  auto named = named_by(search, good);
  if (named.empty()) named.push_back(whole);
  if (named.size() == 1) {
    cause.said = moved(search, named.front());
  } else {
    std::vector<std::string> versions;
    for (const NamedPackage& one : named) versions.push_back(one.after);
    cause.said = whole.name + " " + listed(versions, "and") + " each made it worse";
  }
  cause.packages = std::move(named);
  if (!search.held) return;
  const LockedPackage& held = *search.held;
  cause.together = true;
  cause.packages.push_back({held.name, version_in(good, held.name), held.version});
  cause.said +=
      "; it needs " + arrow(cause.packages.back()) + " besides, and neither alone does it";
}

void add_packages(PackageCause& cause, const PackageSearch& search, const Lock& good) {
  cause.packages = named_by(search, good);
  std::vector<std::string> names;
  for (const NamedPackage& one : cause.packages) names.push_back(arrow(one));
  if (search.found.empty())
    cause.said = "which of the packages did it was not found: " + search.rule;
  else if (search.found.size() > 1)
    cause.said = listed(names, "and") + " each made it worse";
  else if (names.size() > 1)
    cause.said = "one of " + listed(names, "and") + " made it worse; they could not be told apart";
  else
    cause.said = names.front() + " made it worse";
}

void add_partner(PackageCause& cause, const PackageSearch& search, const Lock& good) {
  const int position = only_step(search);
  if (position == 0) {
    cause.said += "; whether it needs another package is not known: " + search.rule;
    return;
  }
  if (position == 1) return;
  const LockedPackage& other = changed_at(search, position);
  cause.together = true;
  cause.packages.push_back({other.name, version_in(good, other.name), other.version});
  cause.said += " together with " + arrow(cause.packages.back()) + ", and neither alone does it";
}

void add_left_out(PackageCause& cause, const PackageSearch& search) {
  for (const PackageMix& mix : search.mixes) {
    if (can_be_measured(mix)) continue;
    std::string word(name_of(mix.state));
    std::replace(word.begin(), word.end(), '_', ' ');
    cause.left_out.push_back("up to " + mix.changed.name + " " + shown(mix.changed.version) + ": " +
                             word + ": " + mix.reason);
  }
}

std::set<std::string> lines_of(const std::string& text) {
  std::set<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.insert(line);
  return lines;
}

// Whether `text` has the package's name as a word, however it is spelled.
bool mentions(const std::string& text, const std::string& package) {
  const std::string all = normalized_name(text), name = normalized_name(package);
  const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
  for (auto at = all.find(name); at != std::string::npos; at = all.find(name, at + 1)) {
    const auto end = at + name.size();
    if ((at == 0 || !is_word(all[at - 1])) && (end == all.size() || !is_word(all[end])))
      return true;
  }
  return false;
}

bool moves(const PinChange& change, const std::string& package) {
  if (mentions(change.at.path, package)) return true;
  const auto before = lines_of(change.before), after = lines_of(change.after);
  std::vector<std::string> changed;
  std::set_symmetric_difference(before.begin(), before.end(), after.begin(), after.end(),
                                std::back_inserter(changed));
  return std::any_of(changed.begin(), changed.end(),
                     [&](const std::string& line) { return mentions(line, package); });
}

}  // namespace

std::vector<PinMove> pin_moves(const std::vector<PinChange>& changes,
                               const std::vector<NamedPackage>& packages) {
  std::vector<PinMove> all, of_these;
  for (const PinChange& change : changes) {
    all.push_back(change.at);
    const bool ours = std::any_of(packages.begin(), packages.end(),
                                  [&](const NamedPackage& one) { return moves(change, one.name); });
    if (ours) of_these.push_back(change.at);
  }
  return of_these.empty() ? all : of_these;
}

std::variant<PackageSearch, PackagesDone> next_question(const PackagePlanFacts& facts, Time now) {
  if (facts.searches.empty()) {
    PackageSearch first = ask_packages(facts, now);
    if (first.mixes.size() == 2) return ask_versions(facts, first.mixes.back().changed, {}, now);
    return first;
  }
  const PackageSearch& last = facts.searches.back();
  const int position = only_step(last);
  if (position == 0 || last.question == PackageQuestion::versions) return PackagesDone{};
  if (last.question == PackageQuestion::packages && position > 1)
    return ask_partner(facts, last, position, now);
  if (position == 1) return ask_versions(facts, changed_at(last, 1), {}, now);
  return ask_versions(facts, changed_at(last, 1), changed_at(last, position), now);
}

PackageCause package_cause(const std::vector<PackageSearch>& searches, const Lock& good,
                           const Lock& bad) {
  PackageCause cause;
  for (const PackageSearch& search : searches) {
    add_left_out(cause, search);
    if (search.question == PackageQuestion::packages) add_packages(cause, search, good);
    if (search.question == PackageQuestion::partner) add_partner(cause, search, good);
    if (search.question == PackageQuestion::versions) add_versions(cause, search, good);
  }
  if (!searches.empty()) return cause;
  // Only one package differs, and it is new or gone.
  for (const PackageChange& one : changes_between(good, bad))
    cause.packages.push_back({one.name, one.before, one.after});
  if (cause.packages.size() == 1) cause.said = arrow(cause.packages.front()) + " made it worse";
  return cause;
}

}  // namespace nightjar::service
