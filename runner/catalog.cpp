#include "runner/catalog.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "runner/files.hpp"

namespace nightjar::runner {
namespace fs = std::filesystem;

std::vector<CatalogEntry> read_catalog(const fs::path& workloads) {
  const fs::path path = workloads / "workloads.json";
  const auto text = read_file(path);
  if (!text) throw std::runtime_error("cannot read " + path.string() + "; --workloads names its folder");
  std::vector<CatalogEntry> catalog;
  try {
    const auto root = nlohmann::json::parse(*text);
    for (const auto& item : root.at("items")) {
      const auto text_name = item.at("name").get<std::string>();
      const auto name = WorkloadName::parse(text_name);
      if (!name) throw std::runtime_error("'" + text_name + "' is no workload name");
      catalog.push_back({*name, item.at("version").get<int>(),
                         require_enum<WorkloadKind>(item.at("kind").get<std::string>())});
    }
  } catch (const std::exception& error) {
    throw std::runtime_error(path.string() + ": " + error.what());
  }
  return catalog;
}

fs::path default_workloads(const fs::path& asked) {
  if (!asked.empty()) return asked;
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  const fs::path installed = program.parent_path().parent_path() / "share/nightjar/workloads";
  if (!error && fs::exists(installed / "workloads.json", error)) return installed;
  return fs::path(NIGHTJAR_SOURCE_DIR) / "runner/workloads";
}

bool is_native(const WorkloadName& name) { return name.suite() == "native"; }

bool is_ours(std::string_view suite) {
  constexpr std::string_view kOurs[] = {"native", "python", "torchbench", "hf", "timm", "torchvision"};
  return std::find(std::begin(kOurs), std::end(kOurs), suite) != std::end(kOurs);
}

std::vector<CatalogEntry> select(const std::vector<CatalogEntry>& catalog,
                                 const std::vector<std::string>& globs) {
  std::vector<CatalogEntry> out;
  for (const auto& entry : catalog)
    if (std::any_of(globs.begin(), globs.end(),
                    [&](const auto& glob) { return glob_match(glob, entry.name.str()); }))
      out.push_back(entry);
  return out;
}

}  // namespace nightjar::runner
