// What PyTorch's benchmarks call our precisions and tasks, for files that go in and out. Pure.
#pragma once

#include <string>
#include <string_view>

namespace nightjar {

// "float32" for "fp32", "training" for "train", ...; any other word is the same in both.
std::string word_of_pytorch(std::string_view ours);
// The other way round.
std::string word_of_ours(const std::string& word);

}  // namespace nightjar
