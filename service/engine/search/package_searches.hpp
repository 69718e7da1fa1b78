// The search for the package, and for its version, where the packages of two ends made a build
// worse. It is the commits' search over a chain of environments. It takes place before the
// regression gets its name, while it is `confirmed`.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "bisect/search.hpp"
#include "service/engine/context.hpp"
#include "service/engine/search/package_plan.hpp"
#include "service/engine/search/search_log.hpp"
#include "storage/model/job.hpp"
#include "storage/model/lock.hpp"
#include "storage/model/package_search.hpp"
#include "storage/model/regression.hpp"
#include "storage/model/series.hpp"

namespace nightjar::service {

// Whether its packages are to be searched, and are not yet.
bool waits_for_packages(const storage::Database& db, const Regression& regression);

// All that the next step depends on. `search` is the one under way, if there is one; what its
// sessions say of its environments is in it already. `log` is in cost.
struct PackageFacts {
  PackagePlanFacts plan;
  Attribution attribution;
  Series series;
  std::vector<PinChange> pins{};  // between the ends; read only if no search is under way
  std::optional<PackageSearch> search{};
  bool pending = false;  // a session is under way; what follows is then not read
  std::vector<RunId> runs{};
  bisect::SearchLog log{};
  bisect::SearchPolicy policy{};
  SearchProgress progress{};
  std::size_t jobs = 0;  // of the search so far
};
// nullopt: one of the ends is not stored any more, or has no lock.
std::optional<PackageFacts> load_packages(const EngineView& view, const Regression& regression);

struct AwaitPackages {};
struct AskPackages {
  PackageSearch search;
};
// These environments are to be resolved first.
struct AskForLocks {
  PackageSearch search;
};
struct MeasureMixes {
  PackageSearch search;
  bisect::Measure step;
};
struct EndPackageSearch {
  PackageSearch search;
  std::optional<Evidence> evidence;  // nullopt: it gave up, and its rule says why
};
// All that could be asked is answered.
struct PackagesAreSearched {
  PackageCause cause;
  std::vector<PinMove> pins;
};
using PackagesStep = std::variant<AwaitPackages, AskPackages, AskForLocks, MeasureMixes,
                                  EndPackageSearch, PackagesAreSearched>;
PackagesStep decide(const PackageFacts& facts, const Config& config, Time now);
bool advance_package_searches(EngineContext& context);

// What the packages of a regression came to; nullopt: they were not searched.
std::optional<PackageCause> cause_among_packages(const storage::Database& db,
                                                 const Regression& regression);

}  // namespace nightjar::service
