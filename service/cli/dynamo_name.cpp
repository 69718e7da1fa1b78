#include "service/cli/dynamo_name.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace nightjar::cli {
namespace {

constexpr std::array<std::string_view, 8> precisions{"float32",  "float16",  "bfloat16", "amp",
                                                     "amp_fp16", "amp_bf16", "quant",    "notset"};
constexpr std::array<std::string_view, 2> tasks{"training", "inference"};
constexpr std::array<std::string_view, 2> variant_kinds{"_performance", "_accuracy"};
constexpr std::array<std::string_view, 4> expected_suites{"torchbench", "huggingface",
                                                          "timm_models", "timm"};

// Takes `word` and the "_" behind it from the begin of `text`.
bool take_word(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word) || text.substr(word.size(), 1) != "_") return false;
  text.remove_prefix(word.size() + 1);
  return true;
}

// The one of `words` that `text` begins with, taken from it; empty if there is none.
template <std::size_t N>
std::string_view take_one(std::string_view& text, const std::array<std::string_view, N>& words) {
  for (const std::string_view word : words)
    if (take_word(text, word)) return word;
  return {};
}

// Letters and digits at the begin of `text`.
std::string_view alphanumeric(std::string_view text) {
  const auto end = std::find_if_not(text.begin(), text.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0;
  });
  return text.substr(0, static_cast<std::size_t>(end - text.begin()));
}

// All that follows a suite, where `text` holds it and nothing else; without its ending.
std::optional<DynamoName> after_suite(std::string_view text) {
  for (const std::string_view precision : precisions) {
    std::string_view rest = text;
    if (!take_word(rest, precision)) continue;
    const std::string_view task = take_one(rest, tasks), device = alphanumeric(rest);
    if (task.empty() || device.empty()) continue;
    rest.remove_prefix(device.size());
    if (!rest.empty() && (rest.size() < 2 || rest[0] != '_')) continue;
    return DynamoName{"",
                      "",
                      std::string(precision),
                      std::string(task),
                      std::string(device),
                      std::string(rest.substr(std::min<std::size_t>(rest.size(), 1)))};
  }
  return std::nullopt;
}

}  // namespace

std::optional<DynamoName> dynamo_result_name(std::string_view stem) {
  const auto kind = std::find_if(variant_kinds.begin(), variant_kinds.end(),
                                 [&](std::string_view one) { return stem.ends_with(one); });
  if (kind == variant_kinds.end()) return std::nullopt;
  stem.remove_suffix(kind->size());
  for (auto at = stem.find('_', 1); at < stem.size(); at = stem.find('_', at + 1)) {
    const std::string_view text = stem.substr(at + 1);
    for (const std::string_view suite : {std::string_view("timm_models"), alphanumeric(text)}) {
      std::string_view rest = text;
      if (suite.empty() || !take_word(rest, suite)) continue;
      auto found = after_suite(rest);
      if (!found) continue;
      found->compiler = stem.substr(0, at);
      found->suite = suite;
      return found;
    }
  }
  return std::nullopt;
}

std::optional<DynamoName> dynamo_expected_name(std::string_view stem) {
  for (const std::string_view task : tasks) {
    if (!stem.ends_with("_" + std::string(task))) continue;
    const std::string_view named = stem.substr(0, stem.size() - task.size());  // with its last "_"
    for (auto at = named.find('_', 1); at < named.size(); at = named.find('_', at + 1)) {
      std::string_view rest = named.substr(at + 1);
      const std::string_view suite = take_one(rest, expected_suites);
      if (suite.empty() || rest == "_") continue;
      const std::string between = rest.empty() ? "" : "_" + std::string(rest, 0, rest.size() - 1);
      return DynamoName{std::string(named.substr(0, at)) + between,
                        std::string(suite),
                        "",
                        std::string(task),
                        "",
                        ""};
    }
  }
  return std::nullopt;
}

}  // namespace nightjar::cli
