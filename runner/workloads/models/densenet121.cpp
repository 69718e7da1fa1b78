// The C++ twin of densenet121.py.
#include "blocks/vision.hpp"

namespace nightjar::workloads::densenet121 {
namespace nn = torch::nn;
using torch::Tensor;

void append_norm_convolution(nn::Sequential& layers, std::int64_t inputs, std::int64_t outputs,
                             std::int64_t kernel) {
  layers->push_back(nn::BatchNorm2d(inputs));
  layers->push_back(nn::ReLU(true));
  layers->push_back(convolution(inputs, outputs, kernel));
}

struct DenseImpl : nn::Module {
  DenseImpl(std::int64_t inputs, std::int64_t growth) {
    append_norm_convolution(layers, inputs, 4 * growth, 1);
    append_norm_convolution(layers, 4 * growth, growth, 3);
    register_module("layers", layers);
  }

  Tensor forward(const Tensor& x) { return torch::cat({x, layers->forward(x)}, 1); }

  nn::Sequential layers;
};
TORCH_MODULE(Dense);

// The paper's `growth` is 32. Each of its depths is divided by `shallower`.
nn::Sequential network(std::int64_t growth, std::int64_t shallower, std::int64_t classes) {
  constexpr std::int64_t depths[] = {6, 12, 24, 16};
  auto channels = 2 * growth;
  nn::Sequential layers;
  append_convolution_norm(layers, convolution(3, channels, 7, 2), nn::ReLU(true));
  layers->push_back(nn::MaxPool2d(nn::MaxPool2dOptions(3).stride(2).padding(1)));
  for (const auto full : depths) {
    const auto depth = full / shallower;
    if (full != depths[0]) {
      append_norm_convolution(layers, channels, channels / 2, 1);
      layers->push_back(nn::AvgPool2d(2));
      channels /= 2;
    }
    for (std::int64_t i = 0; i < depth; ++i)
      layers->push_back(Dense(channels + i * growth, growth));
    channels += depth * growth;
  }
  layers->push_back(nn::BatchNorm2d(channels));
  layers->push_back(nn::ReLU(true));
  layers->push_back(nn::Functional(pooled));
  layers->push_back(nn::Linear(channels, classes));
  return layers;
}

Step make(Case& made_for) {
  return classification(made_for, network(made_for.size("growth"), made_for.size("shallower"),
                                          made_for.size("classes")));
}

const Registration registered{"densenet121", make};

}  // namespace nightjar::workloads::densenet121
