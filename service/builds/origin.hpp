// Where a wheel comes from, and whether two wheels were compiled alike. Used by the search, which
// must not take a wheel's effect for a commit's, and by reports about wheels.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "storage/database.hpp"
#include "storage/model/build.hpp"
#include "storage/model/provenance.hpp"

namespace nightjar::service {

// A wheel with all that is known of its making.
struct KnownWheel {
  Build build;                                // a nightly, a wheel of CI or one made from source
  std::optional<Provenance> provenance = {};  // nullopt: nobody has read it yet
  std::optional<Sha256> recipe = {};          // of a wheel made from source
};
// The wheel that a build of any kind lies on; nullopt if a row is missing.
std::optional<KnownWheel> wheel_under(const storage::Database& db, const Build& build);

// A text that is the same for wheels that were compiled alike, as far as they tell: of one kind,
// environment of CI or recipe, variant, compilers, flags that change code, packer and tags, with
// the same bundled libraries and the same foreign files by name. It has nothing that a native
// commit changes by itself: no date, and no size or hash of the project's own files. A wheel for
// which that is not known has a text of its own.
std::string wheel_origin(const KnownWheel& wheel);

// Whether the two differ in nothing but their own files.
inline bool are_alike(const KnownWheel& a, const KnownWheel& b) {
  return wheel_origin(a) == wheel_origin(b);
}

// What differs, a sentence without its full stop each, the most telling first. At most `most`
// lines, of which the last counts the rest. Empty: nothing that the wheels tell.
std::vector<std::string> wheel_differences(const KnownWheel& before, const KnownWheel& after,
                                           std::size_t most = 12);

// The same for the wheels under two stored builds; empty if a row is missing.
std::vector<std::string> wheel_differences(const storage::Database& db, BuildId before,
                                           BuildId after);

}  // namespace nightjar::service
