#include "runner/cli/selection.hpp"

#include <algorithm>

#include "runner/build/python.hpp"
#include "runner/catalog/external.hpp"
#include "runner/catalog/torchbench.hpp"
#include "runner/catalog/variants.hpp"
#include "runner/process/failure.hpp"
#include "storage/base/child.hpp"

namespace nightjar::runner {
namespace fs = std::filesystem;

std::vector<CatalogEntry> catalog_of(const Options& options,
                                     const std::vector<std::string>& names) {
  const fs::path& checkout = options.torchbench;
  if (!checkout.empty() && !fs::is_directory(checkout / "torchbenchmark/models"))
    throw WrongUse("--torchbench " + checkout.string() +
                   " is no checkout of TorchBench: it has no folder torchbenchmark/models");
  return whole_catalog(default_workloads(options.workloads), checkout,
                       read_externals(options.commands), names);
}

Suite suite_of(const Options& options, const std::vector<CatalogEntry>& catalog) {
  if (options.suite.empty()) return {};
  const fs::path workloads = default_workloads(options.workloads);
  if (const auto suite = find_suite(workloads, options.suite)) return *suite;
  const bool known = std::any_of(catalog.begin(), catalog.end(), [&](const CatalogEntry& entry) {
    return entry.name.suite() == options.suite;
  });
  if (known) return {options.suite, "", {SuiteEntry{options.suite + "/**"}}, {}, {}, {}};
  std::string names;
  for (const auto& name : suite_names(workloads)) names += name + ", ";
  throw WrongUse("there is no suite '" + options.suite + "'; there are " + names +
                 "native and python");
}

std::vector<ChosenWorkload> chosen_by(const Options& options, const Suite& suite,
                                      const std::vector<CatalogEntry>& listed) {
  std::vector<SuiteEntry> entries;
  for (const auto& glob : options.globs) {
    entries.push_back(SuiteEntry{glob});
    if (expand({entries.back()}, listed).empty())
      throw WrongUse("no workload matches '" + glob +
                     "'; `nightjar-runner list` shows all, and docs/workloads.md "
                     "what other devices, precisions, batch sizes and backends they have");
  }
  entries.insert(entries.end(), suite.workloads.begin(), suite.workloads.end());
  if (entries.empty()) entries.push_back(SuiteEntry{"**"});
  if (!options.device.empty())
    for (auto& entry : entries) entry.devices = {options.device};
  const auto wanted = expand(entries, listed);
  std::vector<std::string> names;
  for (const auto& one : wanted) names.push_back(one.name.str());
  if (names.empty())
    throw WrongUse("no workload of suite '" + suite.name +
                   "' is here; does it need --torchbench or --commands?");
  const auto catalog = with_variants(listed, names);
  std::vector<ChosenWorkload> chosen;
  for (const auto& one : wanted) {
    const auto found = std::find_if(catalog.begin(), catalog.end(), [&](const CatalogEntry& entry) {
      return entry.name == one.name;
    });
    chosen.push_back(found == catalog.end() ? ChosenWorkload{{one.name}, one.priority, false}
                                            : ChosenWorkload{*found, one.priority, true});
  }
  return chosen;
}

fs::path python_of(const Options& options) {
  const fs::path python = default_python(options.python);
  const fs::path program = find_program(python.string());
  std::error_code error;
  if (!options.python.empty() && !(program.has_parent_path() && fs::exists(program, error)))
    throw WrongUse("--python " + options.python.string() + ": there is no such program");
  return python;
}

}  // namespace nightjar::runner
