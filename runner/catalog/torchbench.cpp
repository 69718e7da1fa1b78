#include "runner/catalog/torchbench.hpp"

#include <set>
#include <stdexcept>

#include "runner/catalog/variants.hpp"
#include "storage/base/files.hpp"
#include "storage/base/pattern.hpp"

namespace nightjar::runner {
namespace fs = std::filesystem;
namespace {

// What `DEFAULT_TRAIN_BSIZE = 32` says in a model's file; 1 if it says it in another way.
std::string batch_of(const std::string& source, const char* task) {
  const Pattern line(std::string("DEFAULT_") + task + R"(_BSIZE\s*=\s*([1-9][0-9]{0,7})\b)");
  const auto found = line.search(source);
  return found ? found->at(1) : "1";
}

void add(std::vector<CatalogEntry>& catalog, const std::string& text) {
  if (const auto name = WorkloadName::parse(text))
    catalog.push_back({*name, 1, WorkloadKind::python});
}

}  // namespace

std::vector<CatalogEntry> torchbench_catalog(const fs::path& checkout) {
  const fs::path models = checkout / "torchbenchmark/models";
  std::error_code error;
  std::set<std::string> found;
  for (fs::directory_iterator it(models, error), end; !error && it != end; it.increment(error))
    if (fs::exists(it->path() / "__init__.py")) found.insert(it->path().filename().string());
  if (found.empty())
    throw std::runtime_error(checkout.string() +
                             " is no TorchBench checkout: there are no models in " +
                             models.string());
  std::vector<CatalogEntry> catalog;
  for (const std::string& model : found) {
    const auto source = read_file(models / model / "__init__.py").value_or("");
    add(catalog,
        "torchbench/" + model + "/train/cpu/fp32/b" + batch_of(source, "TRAIN") + "/eager");
    add(catalog, "torchbench/" + model + "/eval/cpu/fp32/b" + batch_of(source, "EVAL") + "/eager");
  }
  return catalog;
}

std::vector<CatalogEntry> whole_catalog(const fs::path& workloads, const fs::path& checkout,
                                        const Externals& externals,
                                        const std::vector<std::string>& names) {
  std::vector<CatalogEntry> catalog = read_catalog(workloads);
  for (const auto& external : externals) catalog.push_back(external.entry);
  if (!checkout.empty()) {
    const auto theirs = torchbench_catalog(checkout);
    catalog.insert(catalog.end(), theirs.begin(), theirs.end());
  }
  return with_variants(std::move(catalog), names);
}

}  // namespace nightjar::runner
