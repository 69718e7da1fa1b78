// What a build's own sessions say of one another: whether a session was slowed by its machine. Used
// when sessions are checked.
#pragma once

#include <vector>

#include "storage/database.hpp"
#include "storage/model/id.hpp"

namespace nightjar::storage {

// Values in `series` of the build's runs, from usable sessions of other jobs.
std::vector<double> values_elsewhere(const Database& db, SeriesId series, BuildId build, JobId job);

// How many nights in a row, the newest ones before `night`, checked sessions on this machine class
// and found none of them usable; at most `most`.
int void_nights_before(const Database& db, MachineId machine, NightId night, int most);

}  // namespace nightjar::storage
