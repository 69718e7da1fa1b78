#include "runner/run/ceilings.hpp"

#include "runner/machine/fingerprint.hpp"
#include "runner/process/failure.hpp"
#include "storage/base/files.hpp"
#include "storage/base/machine_class.hpp"
#include "storage/model/foreign_json.hpp"
#include "storage/model/json.hpp"

namespace nightjar::runner {
namespace fs = std::filesystem;
using Json = nlohmann::json;
namespace {

std::optional<Ceilings> read_ceilings(const std::string& text) {
  try {
    const Json said = parse_foreign_or_throw(text);
    auto ceilings = said.get<Ceilings>();
    if (ceilings.bytes > 0 && said.contains("emulated")) return ceilings;
  } catch (const Json::exception&) {  // of another version, or broken: measured again
  }
  return std::nullopt;
}

}  // namespace

std::optional<Ceilings> machine_ceilings(const RunPlace& place, const ProfileConfig& config,
                                         const std::string& device, std::stop_token stop,
                                         const std::function<void(const std::string&)>& progress) {
  const std::string threads = std::to_string(config.limits.threads);
  const fs::path kept =
      config.paths.cache / "ceilings" /
      (machine_class(machine_facts()).fingerprint.str() + "-" + device + "-" + threads + ".json");
  static bool measured = false;  // --remeasure does so once, not for each workload
  if (!config.remeasure || measured)
    if (const auto text = read_file(kept))
      if (const auto ceilings = read_ceilings(*text)) return ceilings;
  measured = true;
  progress("measuring what this machine can do at most, for all later profiles");
  const std::vector<std::string> command{config.paths.python.string(),
                                         (config.paths.workloads / "ceilings.py").string(), threads,
                                         device};
  RunTask task;
  task.limits = &config.limits;
  const auto process = run_workload(place, command, task, 0, stop);
  if (stop.stop_requested()) throw Stopped();
  auto ceilings = process.fine() ? read_ceilings(process.protocol) : std::nullopt;
  if (!ceilings) {
    progress("the machine's ceilings could not be measured: it " + process.describe());
    return std::nullopt;
  }
  fs::create_directories(kept.parent_path());
  write_durably(kept, Json(*ceilings).dump() + "\n");
  return ceilings;
}

}  // namespace nightjar::runner
