// Row ids that cannot be mixed up: an Id<BuildTag> is no Id<JobTag>. Used by every room.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>

namespace nightjar {

template <class Tag>
struct Id {
  std::int64_t value = 0;  // 0: not stored yet
  auto operator<=>(const Id&) const = default;
  explicit operator bool() const { return value != 0; }
};

using BuildId = Id<struct BuildTag>;
using WorkloadId = Id<struct WorkloadTag>;
using MachineId = Id<struct MachineTag>;  // a machine class
using FactsId = Id<struct FactsTag>;      // of a machine, as a runner once gave them
using RunnerId = Id<struct RunnerTag>;
using NightId = Id<struct NightTag>;
using JobId = Id<struct JobTag>;
using RunId = Id<struct RunTag>;
using SeriesId = Id<struct SeriesTag>;
using RegressionId = Id<struct RegressionTag>;
using BisectionId = Id<struct BisectionTag>;
using FixId = Id<struct FixTag>;  // of the search for the commit of a fix
using OutboxId = Id<struct OutboxTag>;

}  // namespace nightjar

template <class Tag>
struct std::hash<nightjar::Id<Tag>> {
  std::size_t operator()(nightjar::Id<Tag> id) const noexcept {
    return std::hash<std::int64_t>{}(id.value);
  }
};
