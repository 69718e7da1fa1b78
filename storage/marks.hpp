// Shifts of level that a person explains, and improvements.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "storage/database.hpp"
#include "storage/model/series.hpp"
#include "storage/model/time.hpp"
#include "storage/page.hpp"

namespace nightjar::storage {

// "From here on the level differs, but PyTorch did not cause it": a new machine, a changed pin.
struct Mark {
  std::int64_t id = 0;
  Time at{};
  std::string actor;                 // "token:<name>"
  NightId after_night;               // levels of this night and of earlier ones no longer count
  std::optional<MachineId> machine;  // nullopt: all
  std::string workload = "**";       // glob
  std::string metric = "*";          // or a metric's name
  std::string reason;
};
Mark add_mark(Transaction& transaction, const Mark& mark);  // returns it with its id
// Makes the levels before the mark count again. False if there is no such mark.
bool delete_mark(Transaction& transaction, std::int64_t id);
std::optional<Mark> find_mark(const Database& db, std::int64_t id);
Page<Mark> list_marks(const Database& db, const PageRequest& page);
// The newest night whose level of this series no longer counts; 0 if all count.
NightId marked_until(const Database& db, const Series& series);

// A series that is better since `build`, as two nights in a row showed; `night` is the second one.
// One of an imported history stands in the night of its build.
struct Improvement {
  std::int64_t id = 0;
  NightId night;
  SeriesId series;
  BuildId build;
  double before = 0, after = 0;
  Time at{};
};
void add_improvement(Transaction& transaction,
                     const Improvement& improvement);  // once a night and series
void delete_improvements(Transaction& transaction, NightId night);
void delete_improvement(Transaction& transaction, std::int64_t id);
std::vector<Improvement> improvements_of(const Database& db, SeriesId series);  // oldest first
Page<Improvement> list_improvements(const Database& db, const PageRequest& page);

}  // namespace nightjar::storage
