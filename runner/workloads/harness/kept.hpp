// The tensors that lie in memory before an iteration. Recorded for a profile only, so that a
// measured run keeps none alive.
#pragma once

#include <set>
#include <torch/torch.h>
#include <vector>

namespace nightjar::workloads {

struct Kept {
  std::vector<torch::Tensor> parameters, buffers, inputs;
  std::set<torch::optim::Optimizer*> optimizers;  // added at their first step
};

inline Kept* kept = nullptr;

}  // namespace nightjar::workloads
