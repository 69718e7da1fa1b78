// The packages that a build is installed with, by version and hash; and, where two builds differ in
// more than their source, what of it made a change.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "storage/model/enum.hpp"
#include "storage/model/hex.hpp"
#include "storage/model/id.hpp"

namespace nightjar {

struct LockedPackage {
  std::string name;  // as indexes spell it: "typing-extensions"
  std::string version;
  bool operator==(const LockedPackage&) const = default;
};

struct Lock {
  Sha256 sha256;     // of the text
  std::string text;  // a requirements file: each package with its version and its hashes
  std::vector<LockedPackage> packages;  // by name
};

// What made a build worse than another: its source, its packages (the environment), or its wheel,
// which was compiled or packed in another way. both: source and environment. unknown: it was
// measured, and could not be told.
NIGHTJAR_ENUM(Cause, source, environment, both, unknown, wheel, source_and_wheel,
              environment_and_wheel, all_three);
constexpr bool has_source(Cause cause) {
  return cause == Cause::source || cause == Cause::both || cause == Cause::source_and_wheel ||
         cause == Cause::all_three;
}
constexpr bool has_environment(Cause cause) {
  return cause == Cause::environment || cause == Cause::both ||
         cause == Cause::environment_and_wheel || cause == Cause::all_three;
}
constexpr bool has_wheel(Cause cause) {
  return cause == Cause::wheel || cause == Cause::source_and_wheel ||
         cause == Cause::environment_and_wheel || cause == Cause::all_three;
}

// The parts of a change with their 95 % intervals, as ratios. Their product is all of it.
struct Part {
  double ratio = 1, low = 1, high = 1;
};
// A part is there if it was measured apart from the source's: the packages' where they differ, the
// wheel's where one wheel serves both ends.
struct Attribution {
  Cause cause = Cause::unknown;
  Part source;
  std::optional<Part> environment = {}, wheel = {};
  // The bad end with all that is the good one's but the source: its packages, and its wheel where
  // one serves both. nullopt: it does not run.
  std::optional<BuildId> held = {};
};

}  // namespace nightjar
