#include "runner/doctor.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "runner/doctor_rules.hpp"

namespace nightjar::runner {

std::vector<Finding> examine(const Health& health) {
  Findings out;
  examine_cpu(health, out);
  examine_others(health, out);
  examine_memory(health, out);
  examine_tools(health, out);
  for (const GpuState& gpu : health.state.gpus) examine_gpu(gpu, out);
  if (!health.no_gpu.empty())
    out.judge(health.no_gpu.find("library") != std::string::npos, "GPU: " + health.no_gpu,
              "install a driver that fits its kernel module, then nvidia-smi shows the devices");
  return out.take();
}

bool any_harmful(const std::vector<Finding>& findings) {
  return std::any_of(findings.begin(), findings.end(),
                     [](const Finding& finding) { return finding.harmful; });
}

std::string findings_text(const std::vector<Finding>& findings) {
  std::string text;
  for (const Finding& finding : findings) {
    text += (finding.harmful ? "harms  " : "fine   ") + finding.what + "\n";
    if (finding.harmful) text += "       mend: " + finding.remedy + "\n";
  }
  return text;
}

std::string findings_json(const std::vector<Finding>& findings) {
  nlohmann::ordered_json items = nlohmann::ordered_json::array();
  for (const Finding& finding : findings)
    items.push_back({{"harmful", finding.harmful},
                     {"what", finding.what},
                     {"remedy", finding.harmful ? nlohmann::ordered_json(finding.remedy) : nlohmann::ordered_json(nullptr)}});
  const nlohmann::ordered_json root{{"harmful", any_harmful(findings)}, {"items", items}};
  return root.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace nightjar::runner
