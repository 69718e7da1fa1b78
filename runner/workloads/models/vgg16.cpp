// The C++ twin of vgg16.py.
#include "blocks/vision.hpp"

namespace nightjar::workloads::vgg16 {
namespace nn = torch::nn;

void append_features(nn::Sequential& layers, std::int64_t width) {
  // Channels over `width`; 0 stands for pooling.
  constexpr int multiples[] = {1, 1, 0, 2, 2, 0, 4, 4, 4, 0, 8, 8, 8, 0, 8, 8, 8, 0};
  std::int64_t inputs = 3;
  for (const int multiple : multiples) {
    if (multiple == 0) {
      layers->push_back(nn::MaxPool2d(2));
      continue;
    }
    layers->push_back(nn::Conv2d(nn::Conv2dOptions(inputs, multiple * width, 3).padding(1)));
    layers->push_back(nn::ReLU(true));
    inputs = multiple * width;
  }
}

// The paper's `width` is 64 and its `hidden` 4096.
nn::Sequential network(const Case& made_for) {
  const auto width = made_for.size("width"), hidden = made_for.size("hidden");
  const auto across = made_for.size("image") / 32;
  nn::Sequential layers;
  append_features(layers, width);
  layers->push_back(nn::Flatten());
  for (const auto inputs : {8 * width * across * across, hidden}) {
    layers->push_back(nn::Linear(inputs, hidden));
    layers->push_back(nn::ReLU(true));
    layers->push_back(nn::Dropout(0.5));
  }
  layers->push_back(nn::Linear(hidden, made_for.size("classes")));
  return layers;
}

Step make(Case& made_for) {
  return classification(made_for, network(made_for), &sgd, std::sqrt(2.0));
}

const Registration registered{"vgg16", make};

}  // namespace nightjar::workloads::vgg16
