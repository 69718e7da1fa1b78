#include "storage/runners.hpp"

#include <algorithm>

#include "storage/paging.hpp"
#include "storage/text_map.hpp"

namespace nightjar::storage {
namespace {

constexpr int failures_borne = 2;  // in a row, before quarantine
constexpr std::chrono::minutes first_quarantine{1};
constexpr int most_doublings = 8;  // a little over four hours

Time quarantine_end(int failures, Time now) {
  if (failures <= failures_borne) return Time{};
  const int doublings = std::min(failures - failures_borne - 1, most_doublings);
  return now + first_quarantine * (1 << doublings);
}

MachineClass read_machine(Statement& row) {
  return {row.next<MachineId>(), row.next<Sha256>(), map_from_text(row.next<std::string>())};
}

MachineFacts read_facts(Statement& row) {
  return {row.next<FactsId>(), row.next<MachineId>(), map_from_text(row.next<std::string>()),
          row.next<Time>()};
}

#define RUNNER_COLUMNS                                                                     \
  "id, name, machine, labels, workloads, version, seen_at_us, token, instance, failures, " \
  "quarantined_until_us, trouble, facts, has_left"

// Reads rows of runners. Those that announce the same workloads share them, as most of a class do.
class RunnerReader {
 public:
  Runner operator()(Statement& row) {
    return {row.next<RunnerId>(),
            row.next<std::string>(),
            row.next<MachineId>(),
            map_from_text(row.next<std::string>()),
            workloads_of(row.next<std::string>()),
            row.next<std::string>(),
            row.next<Time>(),
            row.next<std::string>(),
            row.next<std::string>(),
            row.next<int>(),
            row.next<Time>(),
            row.next<std::string>(),
            row.next<FactsId>(),
            row.next<bool>()};
  }

 private:
  WorkloadSet workloads_of(std::string text) {
    const auto [known, is_new] = known_.try_emplace(std::move(text));
    if (is_new) known->second = list_from_text(known->first);
    return known->second;
  }
  std::map<std::string, WorkloadSet> known_;
};

// Names come from our own column, so one that does not parse is a damaged file.
Workload read_workload(Statement& row) {
  const auto id = row.next<WorkloadId>();
  auto name = WorkloadName::parse(row.next<std::string>());
  if (!name) throw Error("workload " + std::to_string(id.value) + " has no well-formed name");
  return {id, *std::move(name), row.next<int>()};
}

}  // namespace

MachineClass intern_machine(Transaction& transaction, const MachineClass& machine) {
  const std::string facts = to_text(machine.facts), text = class_text(machine.facts);
  Statement(transaction,
            "INSERT INTO machine (fingerprint, facts, class) VALUES (?, ?, ?) "
            "ON CONFLICT (class) DO UPDATE SET fingerprint = excluded.fingerprint, "
            "facts = excluded.facts")
      .bind(machine.fingerprint, facts, text)
      .run();
  Statement find(transaction, "SELECT id, fingerprint, facts FROM machine WHERE class = ?");
  auto stored = read_one(find.bind(text), read_machine);
  return *std::move(stored);
}

FactsId intern_facts(Transaction& transaction, const MachineClass& machine, Time now) {
  const std::string facts = to_text(machine.facts);
  Statement(transaction,
            "INSERT INTO machine_facts (machine, facts, first_seen_us) VALUES (?, ?, ?) "
            "ON CONFLICT DO NOTHING")
      .bind(machine.id, facts, now)
      .run();
  Statement find(transaction, "SELECT id FROM machine_facts WHERE machine = ? AND facts = ?");
  find.bind(machine.id, facts).step();
  return find.next<FactsId>();
}

std::optional<MachineFacts> find_facts(const Database& db, FactsId id) {
  Statement find(db, "SELECT id, machine, facts, first_seen_us FROM machine_facts WHERE id = ?");
  return read_one(find.bind(id), read_facts);
}

std::vector<MachineFacts> facts_of_machine(const Database& db, MachineId id) {
  Statement find(db,
                 "SELECT id, machine, facts, first_seen_us FROM machine_facts WHERE machine = ? "
                 "ORDER BY first_seen_us, id");
  return read_all(find.bind(id), read_facts);
}

std::optional<MachineClass> find_machine(const Database& db, MachineId id) {
  Statement find(db, "SELECT id, fingerprint, facts FROM machine WHERE id = ?");
  return read_one(find.bind(id), read_machine);
}

namespace {

// Facts under which nothing was measured, and that no runner has, are of no use to anybody. A
// runner that brought other ones at each registration would fill the disk.
void forget_unused(Transaction& transaction, FactsId facts) {
  Statement(transaction,
            "DELETE FROM machine_facts WHERE id = ?1 "
            "AND NOT EXISTS (SELECT 1 FROM job WHERE facts = ?1) "
            "AND NOT EXISTS (SELECT 1 FROM runner WHERE facts = ?1)")
      .bind(facts)
      .run();
}

}  // namespace

Runner register_runner(Transaction& transaction, const Runner& runner) {
  Statement find(transaction, "SELECT facts FROM runner WHERE name = ?");
  const auto before =
      read_one(find.bind(runner.name), [](Statement& row) { return row.next<FactsId>(); });
  const std::string labels = to_text(runner.labels), workloads = to_text(runner.workloads.texts());
  Statement write(
      transaction,
      "INSERT INTO runner (name, machine, facts, labels, workloads, version, seen_at_us, token, "
      "instance) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (name) DO UPDATE SET "
      "machine = excluded.machine, facts = excluded.facts, labels = excluded.labels, "
      "workloads = excluded.workloads, version = excluded.version, "
      "seen_at_us = excluded.seen_at_us, token = excluded.token, "
      "instance = excluded.instance, has_left = 0 RETURNING " RUNNER_COLUMNS);
  write.bind(runner.name, runner.machine, runner.facts, labels, workloads, runner.version,
             runner.seen_at, runner.token, runner.instance);
  auto stored = read_one(write, RunnerReader());
  write.step();  // to its end
  if (before && *before && *before != stored->facts) forget_unused(transaction, *before);
  return *std::move(stored);
}

void touch_runner(Transaction& transaction, RunnerId id, Time seen_at) {
  Statement(transaction, "UPDATE runner SET seen_at_us = ?, has_left = 0 WHERE id = ?")
      .bind(seen_at, id)
      .run();
}

void note_failure(Transaction& transaction, RunnerId id, std::string_view reason, Time now) {
  const auto runner = find_runner(transaction, id);
  if (!runner) return;
  const int failures = runner->failures + 1;
  Statement(transaction,
            "UPDATE runner SET failures = ?, quarantined_until_us = ?, trouble = ? WHERE id = ?")
      .bind(failures, quarantine_end(failures, now), reason, id)
      .run();
}

void note_success(Transaction& transaction, RunnerId id) {
  Statement(transaction,
            "UPDATE runner SET failures = 0, quarantined_until_us = 0, trouble = '' WHERE id = ?")
      .bind(id)
      .run();
}

std::optional<Runner> find_runner(const Database& db, RunnerId id) {
  Statement find(db, "SELECT " RUNNER_COLUMNS " FROM runner WHERE id = ?");
  return read_one(find.bind(id), RunnerReader());
}

std::optional<Runner> find_runner(const Database& db, std::string_view name) {
  Statement find(db, "SELECT " RUNNER_COLUMNS " FROM runner WHERE name = ?");
  return read_one(find.bind(name), RunnerReader());
}

std::vector<Runner> all_runners(const Database& db) {
  Statement find(db, "SELECT " RUNNER_COLUMNS " FROM runner ORDER BY name");
  return read_all(find, RunnerReader());
}

int count_runners(const Database& db) {
  Statement count(db, "SELECT count(*) FROM runner");
  return read_one(count, [](Statement& row) { return row.next<int>(); }).value();
}

std::vector<Runner> live_runners(const Database& db, Time since, MachineId machine) {
  Statement find(db, "SELECT " RUNNER_COLUMNS
                     " FROM runner WHERE has_left = 0 AND seen_at_us >= ?1 "
                     "AND (?2 IS NULL OR machine = ?2) ORDER BY name");
  return read_all(find.bind(since, machine), RunnerReader());
}

std::vector<Runner> runners_of_token(const Database& db, std::string_view token, Time since) {
  Statement find(db, "SELECT " RUNNER_COLUMNS
                     " FROM runner WHERE token = ? AND seen_at_us >= ? ORDER BY name");
  return read_all(find.bind(token, since), RunnerReader());
}

Workload intern_workload(Transaction& transaction, const WorkloadName& name, int version) {
  Statement(transaction,
            "INSERT INTO workload (name, version) VALUES (?, ?) ON CONFLICT DO NOTHING")
      .bind(name.str(), version)
      .run();
  auto stored = find_workload(transaction, name, version);
  return *std::move(stored);
}

std::optional<Workload> find_workload(const Database& db, WorkloadId id) {
  Statement find(db, "SELECT id, name, version FROM workload WHERE id = ?");
  return read_one(find.bind(id), read_workload);
}

std::optional<Workload> find_workload(const Database& db, const WorkloadName& name, int version) {
  Statement find(db, "SELECT id, name, version FROM workload WHERE name = ? AND version = ?");
  return read_one(find.bind(name.str(), version), read_workload);
}

std::vector<Workload> all_workloads(const Database& db) {
  Statement find(db, "SELECT id, name, version FROM workload ORDER BY name, version");
  return read_all(find, read_workload);
}

}  // namespace nightjar::storage
