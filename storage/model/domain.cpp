#include "storage/model/domain.hpp"

#include <map>

#include "storage/model/json.hpp"
#include "storage/model/workload_variant.hpp"

namespace nightjar {
namespace {

constexpr const char* unknown_domain = "unknown";

constexpr const char* domain_tables[] = {
#include "domains.inc"
};

// Domain by "suite/model". A model "*" stands for all others of its suite.
using DomainTable = std::map<std::string, std::string, std::less<>>;

const DomainTable& domain_table() {
  static const DomainTable table = [] {
    DomainTable made;
    for (const char* text : domain_tables) {
      const auto file = nlohmann::json::parse(text);
      for (const auto& [domain, models] : file.at("domains").items())
        for (const auto& model : models) made[model.get<std::string>()] = domain;
    }
    return made;
  }();
  return table;
}

// The native twins are those of the Python suite, and dynamo has names of its own for two lists.
std::string suite_in_table(const WorkloadName& name) {
  if (name.suite() == "native") return "python";
  if (name.suite() == "huggingface") return "hf";
  return std::string(name.suite() == "timm_models" ? "timm" : name.suite());
}

}  // namespace

std::string domain_of(const WorkloadName& name) {
  const std::string suite = suite_in_table(name) + "/";
  const DomainTable& table = domain_table();
  for (const std::string_view model : {model_without_size(name), std::string_view("*")})
    if (const auto found = table.find(suite + std::string(model)); found != table.end())
      return found->second;
  return unknown_domain;
}

std::vector<std::string_view> domain_names() {
  return {"vision", "language", "speech",      "recommendation", "reinforcement learning",
          "graphs", "other",    unknown_domain};
}

bool matches(const WorkloadFilter& filter, const WorkloadName& name) {
  return (!filter.suite || *filter.suite == name.suite()) &&
         (!filter.model || *filter.model == name.model()) &&
         (!filter.device || *filter.device == name.device()) &&
         (!filter.backend || *filter.backend == name.backend()) &&
         (!filter.size || size_of(name) == *filter.size) &&
         (!filter.glob || glob_match(*filter.glob, name.str())) &&
         (!filter.domain || *filter.domain == domain_of(name));
}

}  // namespace nightjar
