// Another project's measurements of one night: what `nightjar import` hands over, and what the
// service stores as a night that is done.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/model/accuracy.hpp"
#include "storage/model/hex.hpp"
#include "storage/model/time.hpp"
#include "storage/model/workload.hpp"

namespace nightjar {

// The samples of one metric of one workload, in the metric's unit.
struct HistoryValue {
  WorkloadName workload;
  std::string metric;  // a name of all_metrics(); of `failures` there is one value
  std::vector<double> values;
  // Only with `failures`, which may have no value then: the compiler was not asked.
  std::optional<Accuracy> accuracy = {};
};

// One build, measured once on one machine class. A build is known by its commit, or where there is
// none by its version.
struct HistoryNight {
  Time measured_at{};
  std::string version;  // "2.15.0.dev20260820+cu130"; empty: named by time and commit
  std::optional<CommitSha> commit;
  std::string origin;  // the file it comes from, for people
  std::vector<HistoryValue> values;
};

// The date in a nightly's version: 2.9.0.dev20260820+cu130.
std::optional<Time> time_in_version(std::string_view version);

// The numbers of a release's version, which order releases: {2, 9, 1} of "2.9.1", "v2.9.1+cu130"
// and of what an import makes of it. nullopt: it is of a nightly, a candidate or a commit.
std::optional<std::vector<int>> release_in_version(std::string_view version);

// Why nobody can have measured the night by `now`: its time or its version's date is more than a
// day later. It would stay the newest night for ever. nullopt: somebody can.
std::optional<std::string> future_in(const HistoryNight& night, Time now);

// What a history may have at most; longer ones are sent in parts.
inline constexpr std::size_t most_imported_nights = 1'000;
inline constexpr std::size_t most_imported_values = 20'000;  // of one night

struct History {
  std::string machine_class;  // its name; series of imported and of measured classes never mix
  std::vector<HistoryNight> nights;
};

}  // namespace nightjar
