#include "storage/model/machine.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

namespace nightjar {
namespace {

// In the order of the alphabet, as the lines of a class are.
constexpr std::array<std::string_view, 6> of_class{"arch",      "cpu_count", "cpu_model",
                                                   "cpu_quota", "gpu",       "memory_bytes"};

bool makes_class(const std::string& name) {
  return std::find(of_class.begin(), of_class.end(), name) != of_class.end();
}

// Packages are listed in full, so that one that is missing is not there.
bool is_package(const std::string& name) {
  return name.starts_with("package ");
}

}  // namespace

WorkloadSet::WorkloadSet(std::vector<std::string> texts) {
  if (!std::is_sorted(texts.begin(), texts.end())) std::sort(texts.begin(), texts.end());
  texts.erase(std::unique(texts.begin(), texts.end()), texts.end());
  texts_ = std::make_shared<const std::vector<std::string>>(std::move(texts));
}

void WorkloadSet::add(std::string text) {
  auto texts = *texts_;
  texts.push_back(std::move(text));
  *this = WorkloadSet(std::move(texts));
}

bool WorkloadSet::contains(std::string_view text) const {
  return std::binary_search(begin(), end(), text, std::less<std::string_view>());
}

bool WorkloadSet::operator==(const WorkloadSet& other) const {
  return texts_ == other.texts_ || *texts_ == *other.texts_;
}

std::string class_text(const std::map<std::string, std::string>& facts) {
  const bool any = std::any_of(facts.begin(), facts.end(),
                               [](const auto& fact) { return makes_class(fact.first); });
  std::string text;
  for (const auto& [name, value] : facts)
    if (!any || makes_class(name)) text += name + "=" + value + "\n";
  return text;
}

std::string facts_changed(const std::map<std::string, std::string>& before,
                          const std::map<std::string, std::string>& after) {
  std::string text;
  const auto add = [&](const std::string& name, const std::string& from, const std::string& to) {
    text += (text.empty() ? "" : ", ") + name + " " + from + " → " + to;
  };
  for (const auto& [name, value] : before) {
    const auto now = after.find(name);
    if (now == after.end() && is_package(name))
      add(name, value, "none");
    else if (now != after.end() && now->second != value)
      add(name, value, now->second);
  }
  for (const auto& [name, value] : after)
    if (is_package(name) && !before.contains(name)) add(name, "none", value);
  return text;
}

}  // namespace nightjar
