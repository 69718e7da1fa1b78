// What a workload's name says beyond its seven parts. A model in two sizes ends in "-paper" or
// "-small". A backend with a thread count of its own ends in "-tN". Used by the catalog and where
// workloads are grouped.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "storage/model/workload.hpp"

namespace nightjar {

// Returns the sizes of models of published lists.
std::vector<std::string_view> model_sizes();

// "paper" is the published size, "small" is for tests. A part of the name's text. nullopt if the
// model has one size only.
std::optional<std::string_view> size_of(const WorkloadName& name);

// The model without its size.
std::string_view model_without_size(const WorkloadName& name);

// The threads within an operator, 1 to 1024. nullopt if the name leaves them to the session.
std::optional<int> threads_of(const WorkloadName& name);

// The backend without the thread count: "inductor" for "inductor-t2".
std::string_view compiler_of(const WorkloadName& name);

// The same workload in the size `size`. nullopt if it has one size only.
std::optional<WorkloadName> in_size(const WorkloadName& name, std::string_view size);

// The same workload with `threads` threads within an operator.
std::optional<WorkloadName> with_threads(const WorkloadName& name, int threads);

}  // namespace nightjar
