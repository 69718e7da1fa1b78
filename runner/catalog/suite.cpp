#include "runner/catalog/suite.hpp"

#include <algorithm>
#include <set>
#include <toml++/toml.h>

#include "runner/process/failure.hpp"
#include "storage/model/workload_variant.hpp"

namespace nightjar::runner {
namespace fs = std::filesystem;
namespace {

fs::path folder_of(const fs::path& workloads) {
  return workloads / "suites";
}

// Where in which file something is wrong.
struct SuiteFile {
  const fs::path& path;
  [[noreturn]] void refuse(const toml::source_region& where, const std::string& what) const {
    throw WrongUse("suite " + path.string() + ", line " + std::to_string(where.begin.line) + ": " +
                   what);
  }
};

// Strings, or for batch sizes numbers.
std::vector<std::string> words(const SuiteFile& file, std::string_view key,
                               const toml::node& node) {
  const auto* list = node.as_array();
  std::vector<std::string> out;
  for (std::size_t i = 0; list && i < list->size(); ++i) {
    const toml::node& item = *list->get(i);
    if (const auto number = item.value_exact<std::int64_t>();
        number && key == "batches" && *number > 0)
      out.push_back("b" + std::to_string(*number));
    else if (item.is_string() && (key != "batches" || item.ref<std::string>() == "max"))
      out.push_back((key == "batches" ? "b" : "") + item.ref<std::string>());
    else
      list = nullptr;
  }
  if (!list || out.empty())
    file.refuse(
        node.source(),
        std::string(key) + (key == "batches" ? " must be a list of batch sizes, as [1, 4, \"max\"]"
                                             : " must be a list of words, as [\"eager\"]"));
  return out;
}

std::vector<int> thread_counts(const SuiteFile& file, const toml::node& node) {
  const auto* list = node.as_array();
  std::vector<int> out;
  for (std::size_t i = 0; list && i < list->size(); ++i)
    if (const auto count = list->get(i)->value_exact<std::int64_t>();
        count && *count > 0 && *count <= 1024)
      out.push_back(static_cast<int>(*count));
  if (out.empty() || out.size() != list->size())
    file.refuse(node.source(), "threads must be a list of thread counts up to 1024, as [1, 4]");
  return out;
}

SuiteEntry entry_of(const SuiteFile& file, const toml::node& node) {
  if (node.is_string()) return SuiteEntry{node.ref<std::string>()};
  const auto* table = node.as_table();
  SuiteEntry entry;
  for (const auto& [key, value] : table ? *table : toml::table{}) {
    if (key == "glob" && value.is_string()) {
      entry.glob = value.ref<std::string>();
    } else if (key == "priority" && value.value_exact<std::int64_t>() &&
               std::abs(value.ref<std::int64_t>()) <= 1000) {
      entry.priority = static_cast<int>(value.ref<std::int64_t>());
    } else if (key == "devices") {
      entry.devices = words(file, key.str(), value);
    } else if (key == "precisions") {
      entry.precisions = words(file, key.str(), value);
    } else if (key == "batches") {
      entry.batches = words(file, key.str(), value);
    } else if (key == "backends") {
      entry.backends = words(file, key.str(), value);
    } else if (key == "sizes") {
      entry.sizes = words(file, key.str(), value);
    } else if (key == "threads") {
      entry.threads = thread_counts(file, value);
    } else {
      file.refuse(value.source(),
                  "'" + std::string(key.str()) +
                      "' is unknown or has a wrong value; an entry has " +
                      "glob, priority (-1000 to 1000), devices, precisions, batches, backends, " +
                      "sizes and threads");
    }
  }
  if (entry.glob.empty())
    file.refuse(node.source(), "an entry of workloads is a glob or {glob = \"...\", ...}");
  return entry;
}

void read_key(Suite& suite, const SuiteFile& file, std::string_view key, const toml::node& value) {
  if (key == "description" && value.is_string()) {
    suite.description = value.ref<std::string>();
  } else if (key == "runs" && value.value<int>().value_or(0) > 0) {
    suite.runs = value.value<int>();
  } else if (key == "seconds" && value.value<double>().value_or(0) > 0) {
    suite.seconds = value.value<double>();
  } else if (key == "minutes" && value.value<double>().value_or(0) > 0) {
    suite.minutes = value.value<double>();
  } else if (key == "workloads" && value.is_array()) {
    for (const auto& entry : *value.as_array()) suite.workloads.push_back(entry_of(file, entry));
  } else {
    file.refuse(value.source(), "'" + std::string(key) +
                                    "' is unknown or has a wrong value; a suite has " +
                                    "description, workloads (a list), runs, seconds and minutes");
  }
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
  const SuiteFile file{path};
  Suite suite;
  suite.name = name;
  try {
    for (const auto& [key, value] : toml::parse_file(path.string()))
      read_key(suite, file, key.str(), value);
  } catch (const toml::parse_error& broken) {
    file.refuse(broken.source(), std::string(broken.description()));
  }
  if (suite.workloads.empty()) throw WrongUse("suite " + path.string() + ": it has no workloads");
  return suite;
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
