#include "storage/affected_classes.hpp"

#include <algorithm>
#include <set>
#include <string_view>

#include "storage/paging.hpp"
#include "storage/runners.hpp"
#include "storage/statement.hpp"

namespace nightjar {

std::string gpu_models(const std::map<std::string, std::string>& facts) {
  const auto gpu = facts.find("gpu");
  if (gpu == facts.end() || gpu->second == "none") return {};
  std::set<std::string_view> models;
  constexpr std::string_view separator = ", ";
  const std::string_view all = gpu->second;
  for (std::size_t begin = 0; begin < all.size();) {
    const std::size_t end = std::min(all.find(separator, begin), all.size());
    models.insert(all.substr(begin, end - begin));
    begin = end + separator.size();
  }
  std::string text;
  for (const std::string_view model : models)
    text.append(text.empty() ? "" : separator).append(model);
  return text;
}

namespace storage {
namespace {

std::string gpu_of(const Database& db, MachineId id) {
  const auto machine = find_machine(db, id);
  return machine ? gpu_models(machine->facts) : std::string();
}

void put_class(Transaction& transaction, RegressionId id, const AffectedClass& one,
               std::string_view where) {
  Statement(transaction,
            "INSERT INTO regression_class (regression, machine, gpu, state, first_seen, ratio, "
            "low, high) VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (regression, machine) DO "
            "UPDATE SET gpu = excluded.gpu, state = excluded.state, "
            "first_seen = excluded.first_seen, ratio = excluded.ratio, low = excluded.low, "
            "high = excluded.high" +
                std::string(where))
      .bind(id, one.machine, one.gpu, one.state, one.first_seen, one.ratio, one.low, one.high)
      .run();
}

// By the first series of each; without GPU and night.
std::vector<AffectedClass> classes_of_series(const Database& db, RegressionId id) {
  Statement find(db,
                 "SELECT series.machine, shown.ratio, shown.low, shown.high "
                 "FROM regression_series AS shown JOIN series ON series.id = shown.series "
                 "WHERE shown.regression = ? ORDER BY shown.position");
  auto all = read_all(find.bind(id), [](Statement& row) -> AffectedClass {
    return {row.next<MachineId>(),
            {},
            ClassState::seen,
            {},
            row.next<std::optional<double>>(),
            row.next<std::optional<double>>(),
            row.next<std::optional<double>>()};
  });
  std::set<MachineId> known;
  std::erase_if(all, [&](const AffectedClass& one) { return !known.insert(one.machine).second; });
  return all;
}

// The first night of what is this regression or was merged into it, on that class.
NightId first_night(const Database& db, RegressionId id, MachineId machine) {
  Statement find(db,
                 "WITH RECURSIVE told (id) AS (SELECT ?1 UNION SELECT merged.id "
                 "FROM told JOIN regression AS merged ON merged.merged_into = told.id) "
                 "SELECT coalesce((SELECT min(seen.night) FROM told JOIN regression AS seen "
                 "ON seen.id = told.id WHERE seen.machine = ?2), "
                 "(SELECT night FROM regression WHERE id = ?1))");
  find.bind(id, machine).step();
  return find.next<NightId>();
}

}  // namespace

std::vector<AffectedClass> affected_classes(const Database& db, RegressionId id) {
  Statement find(db,
                 "SELECT machine, gpu, state, first_seen, ratio, low, high FROM regression_class "
                 "WHERE regression = ? ORDER BY machine");
  return read_all(find.bind(id), [](Statement& row) -> AffectedClass {
    return {row.next<MachineId>(),
            row.next<std::string>(),
            row.next<ClassState>(),
            row.next<std::optional<NightId>>(),
            row.next<std::optional<double>>(),
            row.next<std::optional<double>>(),
            row.next<std::optional<double>>()};
  });
}

void write_seen_classes(Transaction& transaction, RegressionId id) {
  Statement(transaction, "DELETE FROM regression_class WHERE regression = ? AND state = 'seen'")
      .bind(id)
      .run();
  for (AffectedClass& one : classes_of_series(transaction, id)) {
    one.gpu = gpu_of(transaction, one.machine);
    one.first_seen = first_night(transaction, id, one.machine);
    put_class(transaction, id, one, "");
  }
}

void set_classes_elsewhere(Transaction& transaction, RegressionId id,
                           const std::vector<AffectedClass>& elsewhere) {
  for (const AffectedClass& one : elsewhere)
    put_class(transaction, id, one, " WHERE regression_class.state <> 'seen'");
}

}  // namespace storage
}  // namespace nightjar
