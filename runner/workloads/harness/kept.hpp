// What lies in memory before an iteration: noted for a profile only, so that a measured run keeps
// no tensor for it.
#pragma once

#include <set>
#include <torch/torch.h>
#include <vector>

namespace nightjar::workloads {

struct Kept {
  std::vector<torch::Tensor> parameters, buffers, inputs;
  std::set<torch::optim::Optimizer*> optimizers;  // from their first step on
};

inline Kept* kept = nullptr;

}  // namespace nightjar::workloads
