#include "runner/machine/doctor.hpp"

#include <algorithm>
#include <map>

#include "runner/machine/doctor_rules.hpp"
#include "storage/model/json.hpp"

namespace nightjar::runner {
namespace {

std::ptrdiff_t count_of(const std::vector<Finding>& findings, FindingClass kind) {
  return std::count_if(findings.begin(), findings.end(),
                       [&](const Finding& one) { return one.kind == kind; });
}

}  // namespace

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
  return count_of(findings, FindingClass::harmful) > 0;
}

std::string harms_text(const std::vector<Finding>& findings) {
  std::string text;
  for (const Finding& one : findings)
    if (one.kind == FindingClass::harmful) text += (text.empty() ? "" : "; ") + one.what;
  return text;
}

std::string findings_text(const std::vector<Finding>& findings) {
  static const std::map<FindingClass, std::pair<const char*, const char*>> finding_words{
      {FindingClass::fine, {"fine   ", ""}},
      {FindingClass::worth_knowing, {"know   ", "       "}},
      {FindingClass::not_mendable, {"as is  ", "       not to be mended here: "}},
      {FindingClass::harmful, {"harms  ", "       mend: "}}};
  std::string text;
  for (const Finding& finding : findings) {
    const auto& [word, lead] = finding_words.at(finding.kind);
    text += word + finding.what + "\n";
    if (finding.kind != FindingClass::fine) text += lead + finding.remedy + "\n";
  }
  return text + std::to_string(count_of(findings, FindingClass::harmful)) + " to mend, " +
         std::to_string(count_of(findings, FindingClass::not_mendable)) +
         " that cannot be mended here, " +
         std::to_string(count_of(findings, FindingClass::worth_knowing)) + " worth knowing\n";
}

std::string findings_json(const std::vector<Finding>& findings) {
  nlohmann::ordered_json items = nlohmann::ordered_json::array();
  for (const Finding& finding : findings)
    items.push_back({{"harmful", finding.kind == FindingClass::harmful},
                     {"class", name_of(finding.kind)},
                     {"what", finding.what},
                     {"remedy", finding.remedy.empty() ? nlohmann::ordered_json(nullptr)
                                                       : nlohmann::ordered_json(finding.remedy)}});
  const nlohmann::ordered_json root{{"harmful", any_harmful(findings)}, {"items", items}};
  return root.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace nightjar::runner
