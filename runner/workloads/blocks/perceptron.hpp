// The multilayer perceptron, which models of recommendation, control and physics and each layer of
// a transformer use.
#pragma once

#include <torch/torch.h>
#include <vector>

namespace nightjar::workloads {

// Linear layers from width to width with an activation between them, none after the last.
template <class Activation = torch::nn::ReLU>
torch::nn::Sequential perceptron(const std::vector<std::int64_t>& widths,
                                 const Activation& activation = Activation(), bool bias = true) {
  torch::nn::Sequential layers;
  for (std::size_t i = 0; i + 1 < widths.size(); ++i) {
    if (i > 0) layers->push_back(activation);
    layers->push_back(
        torch::nn::Linear(torch::nn::LinearOptions(widths[i], widths[i + 1]).bias(bias)));
  }
  return layers;
}

}  // namespace nightjar::workloads
