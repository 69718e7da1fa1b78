// How far the machine moved while a night's runs were measured, by its control. Pure; used when
// sessions are checked. screen() takes what comes of it.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "storage/model/control.hpp"

namespace nightjar::bisect {

// `runs`: the locations of the session's control runs, in seconds. nullopt: fewer than two, which
// show no difference. `before` may hold other gauges, too. With fewer than 5 nights of this one it
// is not known how far the machine moved. If the last two nights are nearer to tonight than to all
// of them, the machine has another level, and tonight is held against these two. Unrest is the
// variance within the session beyond that of nine in ten earlier ones, since two runs say little of
// it.
std::optional<ControlReading> read_control(Gauge gauge, std::span<const double> runs,
                                           std::span<const EarlierControl> before);

// Whether a metric of a workload that runs on `device` ("cpu", "cuda") moves with the machine as
// that control does. Time in a GPU's kernels does not depend on the host. Compilation does not
// depend on a GPU, nor does what runs on a CPU. Memory, counts and ratios depend on neither.
bool moves_with(Gauge gauge, std::string_view metric, std::string_view device);

}  // namespace nightjar::bisect
