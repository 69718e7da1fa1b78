#include "service/cli/value_path.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <stdexcept>

#include "storage/base/foreign_text.hpp"
#include "storage/model/json.hpp"

namespace nightjar::cli {
namespace {
using nlohmann::json;

std::string pointer_step(const std::string& text) {
  std::string step;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool escapes = text[i] == '~' && i + 1 < text.size();
    if (escapes && (text[i + 1] == '0' || text[i + 1] == '1'))
      step += text[++i] == '1' ? '/' : '~';
    else
      step += text[i];
  }
  return step;
}

// "a[0].b" is "a.0.b".
std::string without_brackets(const std::string& path) {
  std::string out;
  for (const char c : path) {
    if (c == '[' && !out.empty()) out += '.';
    if (c != '[' && c != ']') out += c;
  }
  return out;
}

std::optional<double> number_of(const json& node) {
  if (node.is_number()) return node.get<double>();
  if (!node.is_string()) return std::nullopt;
  const auto& text = node.get_ref<const std::string&>();
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole ? std::optional(number) : std::nullopt;
}

// The element that the step names; nullptr if there is none.
const json* element_of(const json& list, const std::string& step) {
  std::size_t index = 0;
  const auto [end, error] = std::from_chars(step.data(), step.data() + step.size(), index);
  const bool whole = error == std::errc() && end == step.data() + step.size();
  return whole && index < list.size() ? &list[index] : nullptr;
}

std::vector<const json*> below(const json& node, const std::string& step) {
  std::vector<const json*> out;
  if (step == "*" && node.is_structured()) {
    for (const json& one : node) out.push_back(&one);
  } else if (node.is_object()) {
    if (const auto found = node.find(step); found != node.end()) out.push_back(&*found);
  } else if (node.is_array()) {
    if (const json* found = element_of(node, step)) out.push_back(found);
  }
  return out;
}

// "; there are: benchmarks, context"
std::string what_there_is(const json& node) {
  if (node.is_array()) return "; there is a list of " + std::to_string(node.size());
  if (!node.is_object()) return "; there is " + shortened(node.dump(), 40);
  std::string text;
  for (const auto& [name, member] : node.items()) text += (text.empty() ? "" : ", ") + name;
  return "; there are: " + shortened(text, 200);
}

}  // namespace

std::vector<std::string> path_steps(const std::string& path) {
  const bool is_pointer = path.starts_with('/');
  std::string rest = is_pointer ? path.substr(1) : without_brackets(path);
  if (rest.starts_with("$.")) rest.erase(0, 2);
  std::vector<std::string> steps;
  for (bool more = true; more;) {
    const auto end = rest.find(is_pointer ? '/' : '.');
    more = end != std::string::npos;
    const std::string step = rest.substr(0, end);
    if (step.empty())
      throw std::invalid_argument("the path " + in_quotes(path) +
                                  " has an empty step; write it as results.0.median");
    steps.push_back(is_pointer ? pointer_step(step) : step);
    if (more) rest.erase(0, end + 1);
  }
  return steps;
}

std::vector<double> numbers_at(const json& root, const std::string& path) {
  std::vector<const json*> nodes{&root};
  std::string so_far;
  for (const std::string& step : path_steps(path)) {
    std::vector<const json*> next;
    for (const json* node : nodes)
      for (const json* one : below(*node, step)) next.push_back(one);
    if (next.empty())
      throw std::invalid_argument("nothing stands at " + in_quotes(step) +
                                  (so_far.empty() ? "" : " below " + in_quotes(so_far)) +
                                  what_there_is(*nodes.front()));
    nodes = std::move(next);
    so_far += (so_far.empty() ? "" : ".") + step;
  }
  std::vector<double> numbers;
  for (const json* node : nodes) {
    const bool is_list = node->is_array();
    for (std::size_t i = 0; i < (is_list ? node->size() : 1); ++i) {
      const auto number = number_of(is_list ? (*node)[i] : *node);
      if (!number || !std::isfinite(*number))
        throw std::invalid_argument("what stands at " + in_quotes(path) + " is no number but " +
                                    shortened((is_list ? (*node)[i] : *node).dump(), 40));
      numbers.push_back(*number);
    }
  }
  if (numbers.empty()) throw std::invalid_argument("the list at " + in_quotes(path) + " is empty");
  return numbers;
}

}  // namespace nightjar::cli
