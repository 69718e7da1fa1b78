// Which of the packages that differ between two ends made a build worse, and which of its versions.
// The environments of a search are a chain: each is the one before with one package changed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "storage/model/enum.hpp"
#include "storage/model/id.hpp"
#include "storage/model/lock.hpp"
#include "storage/model/search_result.hpp"
#include "storage/model/time.hpp"

namespace nightjar {

using PackageSearchId = Id<struct PackageSearchTag>;

// packages: the chain takes one package after the other from the bad end. partner: the package that
// was found comes first in the chain, to see whether it needs another one. versions: the chain has
// the versions of one package, from the good end's to the bad end's.
NIGHTJAR_ENUM(PackageQuestion, packages, partner, versions);

// listing: the versions in between are not known yet. adjacent: there are none, so that nothing was
// to be measured. unclear: the search ended, and named nothing.
NIGHTJAR_ENUM(PackageSearchState, listing, open, found, adjacent, unclear);

// unasked: the search may never need it. wanted: its packages are to be resolved. locked: it can be
// measured. inconsistent: its packages exclude one another. unavailable: the indexes did not
// answer. The other two are what came of measuring it.
NIGHTJAR_ENUM(MixState, unasked, wanted, locked, inconsistent, does_not_import, does_not_run,
              unavailable);

// One environment of the chain. `changed`: what differs from the one before; an empty version: it
// is not installed any more. The first one, the good end, changes nothing.
struct PackageMix {
  LockedPackage changed;
  MixState state = MixState::unasked;
  std::optional<Sha256> lock = {};
  std::string reason = {};  // why it cannot be measured
};
inline bool can_be_measured(const PackageMix& mix) {
  return mix.state == MixState::unasked || mix.state == MixState::wanted ||
         mix.state == MixState::locked;
}

struct PackageSearch : SearchTally {
  PackageSearchId id;
  RegressionId regression;
  int number = 0;  // of the regression's searches
  PackageQuestion question = PackageQuestion::packages;
  PackageSearchState state = PackageSearchState::open;
  SeriesId series;                         // what is measured decides
  BuildId wheel;                           // that all environments have
  std::optional<LockedPackage> held = {};  // every environment has it, the good end, too
  std::vector<PackageMix> mixes;           // by position
  std::string rule;                        // why it ended so
  int failures = 0;                        // of the indexes to answer
  std::optional<Time> not_before = {};     // they are not asked again before
};
// A commit between the ends that changed a file which pins versions.
struct PinMove {
  CommitSha commit;
  std::string path;
  bool operator==(const PinMove&) const = default;
};

inline bool is_under_way(const PackageSearch& search) {
  return search.state == PackageSearchState::listing || search.state == PackageSearchState::open;
}

}  // namespace nightjar
