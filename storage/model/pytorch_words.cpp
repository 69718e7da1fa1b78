#include "storage/model/pytorch_words.hpp"

#include <utility>

namespace nightjar {
namespace {

constexpr std::pair<std::string_view, std::string_view> words[] = {{"fp32", "float32"},
                                                                   {"fp16", "float16"},
                                                                   {"bf16", "bfloat16"},
                                                                   {"train", "training"},
                                                                   {"eval", "inference"}};

}  // namespace

std::string word_of_pytorch(std::string_view ours) {
  for (const auto& [own, theirs] : words)
    if (own == ours) return std::string(theirs);
  return std::string(ours);
}

std::string word_of_ours(const std::string& word) {
  for (const auto& [own, theirs] : words)
    if (theirs == word) return std::string(own);
  return word;
}

}  // namespace nightjar
