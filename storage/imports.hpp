// Nights that were measured elsewhere. Each is stored as a night that is done, with one job and a
// run for each workload, so that its series are read and shown like any other.
#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "storage/database.hpp"
#include "storage/model/history.hpp"
#include "storage/model/id.hpp"

namespace nightjar::storage {

// Builds of imported nights, and so their series, have this variant: they never mix with those that
// are measured here.
inline constexpr std::string_view imported_variant = "imported";

// What became of the values of a night, or of a part of them. `known`: the night has them already.
// `differing`: it has other values for these, which stay.
struct StoredHistory {
  bool is_new = false;  // the night was not there
  int added = 0, known = 0, differing = 0;
  std::size_t next =
      0;  // the first value that is not stored yet; past the last: the night is whole
};
// Ids that were looked up for one machine class, kept over the nights of one import. They must not
// be used after a transaction was rolled back.
struct KnownSeries {
  std::map<std::string, WorkloadId> workloads;
  std::map<std::pair<WorkloadId, std::string>, SeriesId> series;  // by metric
  JobId job;                                          // of the night that was stored last
  std::map<std::pair<WorkloadId, bool>, RunId> runs;  // its; true: whether the workload failed
};
// From which value on, and how much at most: then others write, and the next call goes on.
struct HistoryPart {
  std::size_t first = 0;
  std::size_t most_values = std::numeric_limits<std::size_t>::max();
  std::size_t most_samples = std::numeric_limits<std::size_t>::max();  // but at least one value
};
// Stores what is not there yet of a part of a night: the same night has the same machine class,
// build and time. Series that get values are to be judged again. A night of which only parts were
// added so far has a session that failed, and counts in no summary of a suite. It is completed by
// storing it again, from its first value or from the next one.
StoredHistory store_history(Transaction& transaction, MachineId machine, const HistoryNight& night,
                            Time now, KnownSeries& known, const HistoryPart& part = {});

// A machine class with imported nights (its facts are its name, as `imported`), and how far its
// series are judged.
struct ImportedClass {
  MachineId id;
  std::string name;
  int nights = 0;
  Time first{}, last{};  // when they were measured
  int series = 0, to_judge = 0, findings = 0;
};
std::vector<ImportedClass> imported_classes(const Database& db);

// At most `limit`, of the machine classes that `is_ready` holds for.
std::vector<SeriesId> series_to_judge(const Database& db, int limit,
                                      const std::function<bool(MachineId)>& is_ready = {});
void note_judged(Transaction& transaction, SeriesId series);
// The first imported night of each build on a machine class.
std::map<BuildId, NightId> imported_nights(const Database& db, MachineId machine);

}  // namespace nightjar::storage
