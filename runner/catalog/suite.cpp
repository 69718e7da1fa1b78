#include "runner/catalog/suite.hpp"

#include <algorithm>
#include <set>
#include <stdexcept>

#include "runner/process/failure.hpp"
#include "storage/base/toml.hpp"
#include "storage/model/workload_variant.hpp"

namespace nightjar::runner {
namespace fs = std::filesystem;
namespace {

fs::path folder_of(const fs::path& workloads) {
  return workloads / "suites";
}

std::vector<std::string> words(TomlTable& entry, std::string_view key) {
  return entry.list(key, "must be a list of words, as [\"eager\"]",
                    [](const TomlItem& item) { return text_of(item); });
}

// Writes the batch as names of workloads do: "b4", "bmax".
std::optional<std::string> batch_of(const TomlItem& item) {
  if (const auto* number = std::get_if<std::int64_t>(&item); number && *number > 0)
    return "b" + std::to_string(*number);
  return text_of(item) == "max" ? std::optional<std::string>("bmax") : std::nullopt;
}

std::optional<int> thread_count(const TomlItem& item) {
  const auto* count = std::get_if<std::int64_t>(&item);
  if (!count || *count < 1 || *count > 1024) return std::nullopt;
  return static_cast<int>(*count);
}

std::optional<SuiteEntry> entry_of(TomlItem& item) {
  if (const auto glob = text_of(item)) return SuiteEntry{*glob};
  if (!std::holds_alternative<TomlTable>(item)) return std::nullopt;
  auto& table = std::get<TomlTable>(item);
  SuiteEntry entry;
  table.read("glob", entry.glob);
  entry.priority = static_cast<int>(table.integer("priority", 0, -1000, 1000));
  entry.devices = words(table, "devices");
  entry.precisions = words(table, "precisions");
  entry.batches =
      table.list("batches", "must be a list of batch sizes, as [1, 4, \"max\"]", batch_of);
  entry.backends = words(table, "backends");
  entry.sizes = words(table, "sizes");
  entry.threads =
      table.list("threads", "must be a list of thread counts up to 1024, as [1, 4]", thread_count);
  table.done();
  if (entry.glob.empty() && !table.is_wrong("glob"))
    table.fail("glob", "is required: the listed workloads that are meant");
  return entry;
}

Suite read_suite(const fs::path& path, const std::string& name) {
  TomlFile toml(path);
  Suite suite;
  suite.name = name;
  toml.read("description", suite.description);
  suite.workloads = toml.list(
      "workloads", "must be a list of globs and of tables, as {glob = \"python/**\"}", entry_of);
  if (!toml.has("workloads")) toml.fail("workloads", "is required: what the suite measures");
  if (toml.has("runs")) suite.runs = static_cast<int>(toml.integer("runs", 0, 1, 1'000'000));
  if (toml.has("seconds")) suite.seconds = toml.number("seconds", 0, .001, 1e6);
  if (toml.has("minutes")) suite.minutes = toml.number("minutes", 0, .001, 1e6);
  toml.finish();
  return suite;
}

std::vector<std::string> or_own(const std::vector<std::string>& asked, std::string_view own) {
  return asked.empty() ? std::vector<std::string>{std::string(own)} : asked;
}

// The name that the glob matches: the listed one, else that on CUDA.
std::optional<WorkloadName> matched(const std::string& glob, const CatalogEntry& listed) {
  if (glob_match(glob, listed.name.str())) return listed.name;
  if (listed.kind == WorkloadKind::external) return std::nullopt;  // what it does is its own affair
  auto name = listed.name.on("cuda");
  return name && glob_match(glob, name->str()) ? name : std::nullopt;
}

// The name in each size, and each of these with each thread count. A model of one size keeps it.
std::vector<WorkloadName> scaled(const SuiteEntry& entry, const WorkloadName& name) {
  std::vector<WorkloadName> sized;
  for (const auto& size : entry.sizes)
    if (const auto made = in_size(name, size)) sized.push_back(*made);
  if (sized.empty()) sized.push_back(name);
  if (entry.threads.empty()) return sized;
  std::vector<WorkloadName> out;
  for (const auto& one : sized)
    for (const int threads : entry.threads)
      if (const auto made = with_threads(one, threads)) out.push_back(*made);
  return out;
}

std::vector<WorkloadName> made_of(const SuiteEntry& entry, const CatalogEntry& listed,
                                  const WorkloadName& name) {
  std::vector<WorkloadName> out;
  const bool movable = listed.kind != WorkloadKind::external;
  for (const auto& device :
       or_own(movable ? entry.devices : std::vector<std::string>{}, name.device()))
    for (const auto& precision : or_own(entry.precisions, name.precision()))
      for (const auto& batch : or_own(entry.batches, name.batch()))
        for (const auto& backend : or_own(entry.backends, name.backend()))
          if (const auto there = name.on(device))
            if (const auto made = there->variant(precision, batch, backend))
              for (auto& one : scaled(entry, *made)) out.push_back(std::move(one));
  return out;
}

}  // namespace

std::optional<Suite> find_suite(const fs::path& workloads, const std::string& name) {
  const fs::path path = folder_of(workloads) / (name + ".toml");
  std::error_code error;
  if (name.find('/') != std::string::npos || !fs::exists(path, error)) return std::nullopt;
  try {
    return read_suite(path, name);
  } catch (const std::invalid_argument& wrong) {
    throw WrongUse(wrong.what());
  }
}

std::vector<std::string> suite_names(const fs::path& workloads) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator it(folder_of(workloads), error), end; !error && it != end;
       it.increment(error))
    if (it->path().extension() == ".toml") names.push_back(it->path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<PrioritizedName> expand(const std::vector<SuiteEntry>& entries,
                                    const std::vector<CatalogEntry>& listed) {
  std::vector<SuiteEntry> ordered = entries;
  std::stable_sort(ordered.begin(), ordered.end(),
                   [](const auto& a, const auto& b) { return a.priority > b.priority; });
  std::vector<PrioritizedName> out;
  std::set<std::string> seen;
  for (const auto& entry : ordered)
    for (const auto& one : listed) {
      const auto name = matched(entry.glob, one);
      if (!name) continue;
      for (const auto& made : made_of(entry, one, *name))
        if (seen.insert(made.str()).second) out.push_back({made, entry.priority});
    }
  return out;
}

}  // namespace nightjar::runner
