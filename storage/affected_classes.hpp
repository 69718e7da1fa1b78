// Which machine classes show a regression, and which were looked at and do not.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "storage/database.hpp"
#include "storage/model/enum.hpp"
#include "storage/model/regression.hpp"

namespace nightjar {

// seen: one of the regression's series is measured there; the regression's state says how sure that
// is. not_seen: its night measured the affected models there, and they were no worse.
// not_looked_for: its night did not measure them there.
NIGHTJAR_ENUM(ClassState, seen, not_seen, not_looked_for);

struct AffectedClass {
  MachineId machine;
  std::string gpu = {};  // model, "NVIDIA A100, NVIDIA L4" if it has several; empty: no GPU
  ClassState state = ClassState::not_looked_for;
  std::optional<NightId> first_seen = {};  // in which the class showed it; only of `seen`
  // After / before, with its 95 % interval, of the class's first series. For not_seen it is the
  // ratio from the night's screening, which estimates no interval.
  std::optional<double> ratio = {}, low = {}, high = {};
};

// Models of the GPUs that a machine's facts name, each once; empty: it has none.
std::string gpu_models(const std::map<std::string, std::string>& facts);

namespace storage {

// Returns the rows by machine class. A class about which nothing was decided yet has no row.
std::vector<AffectedClass> affected_classes(const Database& db, RegressionId id);

// Makes the classes of the regression's stored series its `seen` ones. Writing a regression calls
// it, in the same transaction.
void write_seen_classes(Transaction& transaction, RegressionId id);
// What is known of other classes. One that is seen stays so.
void set_classes_elsewhere(Transaction& transaction, RegressionId id,
                           const std::vector<AffectedClass>& elsewhere);

}  // namespace storage
}  // namespace nightjar
