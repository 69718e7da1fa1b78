// What workloads are grouped and chosen by: parts of their names, and the domain of their models.
// Used by the lists and pages of the service.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/model/workload.hpp"

namespace nightjar {

// Returns a domain in TorchBench's words. For its models it comes from their own classes
// (runner/workloads/torchbench_domains.json), for other suites from "domains" in
// runner/workloads/workloads.json. "other" is TorchBench's word for none of its domains; "unknown"
// means that it was not given.
std::string domain_of(const WorkloadName& name);
std::vector<std::string_view> domain_names();

// Workloads that have all that is given here.
struct WorkloadFilter {
  std::optional<std::string> glob = {};  // fits the whole name
  std::optional<std::string> domain = {}, suite = {}, model = {};
  std::optional<std::string> size = {};  // of a model of a published list
  std::optional<std::string> device = {}, backend = {};
  bool operator==(const WorkloadFilter&) const = default;
};
bool matches(const WorkloadFilter& filter, const WorkloadName& name);

}  // namespace nightjar
