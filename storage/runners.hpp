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

// Finds or stores by fingerprint; returns it with its id.
MachineClass intern_machine(Database& db, const MachineClass& machine);
std::optional<MachineClass> find_machine(Database& db, MachineId id);
// Finds by name or stores, then updates machine, labels, workloads, version, seen_at and token.
Runner register_runner(Database& db, const Runner& runner);
void touch_runner(Database& db, RunnerId id, Time seen_at);
std::optional<Runner> find_runner(Database& db, RunnerId id);
std::optional<Runner> find_runner(Database& db, std::string_view name);
std::vector<Runner> all_runners(Database& db);
Workload intern_workload(Database& db, const WorkloadName& name, int version);
std::optional<Workload> find_workload(Database& db, WorkloadId id);
std::vector<Workload> all_workloads(Database& db);

}  // namespace nightjar::storage
