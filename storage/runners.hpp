// Machine classes, runners and workloads.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "storage/database.hpp"
#include "storage/model/machine.hpp"
#include "storage/model/workload.hpp"
#include "storage/page.hpp"

namespace nightjar::storage {

// Finds or stores by class_text() of the facts, which become those of the class; returns it with
// its id.
MachineClass intern_machine(Transaction& transaction, const MachineClass& machine);
// Finds or stores the facts of a machine class.
FactsId intern_facts(Transaction& transaction, const MachineClass& machine, Time now);
std::optional<MachineFacts> find_facts(const Database& db, FactsId id);
// All that a machine class ever had, in the order in which they were first seen.
std::vector<MachineFacts> facts_of_machine(const Database& db, MachineId id);
std::optional<MachineClass> find_machine(const Database& db, MachineId id);
// Finds by name or stores, then updates machine, labels, workloads, version, seen_at, token and
// instance. One that had left is back. Facts that it had before are forgotten if nothing was
// measured under them.
Runner register_runner(Transaction& transaction, const Runner& runner);
// It was heard of, so it has not left.
void touch_runner(Transaction& transaction, RunnerId id, Time seen_at);
// An attempt was lost. From the third in a row on the runner is in quarantine: it gets no job for a
// minute, then two, four and so on, at most four hours. Claiming or registering does not end it.
void note_failure(Transaction& transaction, RunnerId id, std::string_view reason, Time now);
// A result came: its failures are over.
void note_success(Transaction& transaction, RunnerId id);
std::optional<Runner> find_runner(const Database& db, RunnerId id);
std::optional<Runner> find_runner(const Database& db, std::string_view name);
std::vector<Runner> all_runners(const Database& db);
int count_runners(const Database& db);
// Those that were seen since then and have not left; of one machine class if it is given.
std::vector<Runner> live_runners(const Database& db, Time since, MachineId machine = {});
// Those that the token registered and that were seen since then, whether they have left or not.
std::vector<Runner> runners_of_token(const Database& db, std::string_view token, Time since);
Workload intern_workload(Transaction& transaction, const WorkloadName& name, int version);
std::optional<Workload> find_workload(const Database& db, WorkloadId id);
std::optional<Workload> find_workload(const Database& db, const WorkloadName& name, int version);
std::vector<Workload> all_workloads(const Database& db);

}  // namespace nightjar::storage
