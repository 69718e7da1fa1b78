#include "runner/catalog/variants.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "storage/model/workload_variant.hpp"

namespace nightjar::runner {
namespace {

// The same as in runner/workloads/harness/definition.py.
constexpr std::array<std::string_view, 2> devices = {"cpu", "cuda"};
constexpr std::array<std::string_view, 6> precisions = {"fp32", "tf32", "bf16",
                                                        "fp16", "amp",  "int8"};
constexpr std::array<std::string_view, 5> backends = {
    "eager", "inductor", "inductor-reduce-overhead", "inductor-max-autotune", "inductor-dynamic"};

bool is_one_of(std::string_view word, const auto& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool is_known(const WorkloadName& name, WorkloadKind kind) {
  if (kind == WorkloadKind::external)
    return false;  // does what its description says and nothing else
  if (!is_one_of(name.device(), devices) || !is_one_of(name.precision(), precisions)) return false;
  return kind == WorkloadKind::native ? compiler_of(name) == "eager"
                                      : is_one_of(compiler_of(name), backends);
}

bool is_same_model(const WorkloadName& one, const WorkloadName& other) {
  return one.model() == other.model() ||
         (size_of(one) && size_of(other) && model_without_size(one) == model_without_size(other));
}

}  // namespace

std::optional<CatalogEntry> variant_of(const std::vector<CatalogEntry>& catalog,
                                       const WorkloadName& name) {
  for (const CatalogEntry& entry : catalog)
    if (entry.name.suite() == name.suite() && is_same_model(entry.name, name) &&
        entry.name.task() == name.task() && is_known(name, entry.kind))
      return CatalogEntry{name, entry.version, entry.kind};
  return std::nullopt;
}

std::vector<CatalogEntry> with_variants(std::vector<CatalogEntry> catalog,
                                        const std::vector<std::string>& names) {
  for (const std::string& text : names) {
    const auto name = WorkloadName::parse(text);
    if (!name || std::any_of(catalog.begin(), catalog.end(),
                             [&](const CatalogEntry& entry) { return entry.name == *name; }))
      continue;
    if (const auto variant = variant_of(catalog, *name)) catalog.push_back(*variant);
  }
  return catalog;
}

CatalogEntry at_batch(const CatalogEntry& entry, const std::string& batch) {
  return {*entry.name.variant(entry.name.precision(), batch, entry.name.backend()), entry.version,
          entry.kind};
}

}  // namespace nightjar::runner
