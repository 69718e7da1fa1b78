// The C++ twin of mobilenet_v2.py.
#include <algorithm>

#include "blocks/vision.hpp"

namespace nightjar::workloads::mobilenet_v2 {
namespace nn = torch::nn;
using torch::Tensor;

struct Stage {
  std::int64_t expansion, channels, depth, stride;  // the stride is the first block's
};
constexpr Stage stages[] = {{1, 16, 1, 1}, {6, 24, 2, 2},  {6, 32, 3, 2}, {6, 64, 4, 2},
                            {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}};

nn::ReLU6 relu6() {
  return nn::ReLU6(nn::ReLU6Options(true));
}

// An inverted residual block, which is wide inside.
struct InvertedImpl : nn::Module {
  InvertedImpl(std::int64_t inputs, std::int64_t outputs, std::int64_t stride,
               std::int64_t expansion)
      : keeps(stride == 1 && inputs == outputs) {
    const auto wide = inputs * expansion;
    if (expansion != 1) append_convolution_norm(layers, convolution(inputs, wide, 1), relu6());
    append_convolution_norm(layers, convolution(wide, wide, 3, stride, wide), relu6());
    layers->push_back(convolution(wide, outputs, 1));
    layers->push_back(nn::BatchNorm2d(outputs));
    register_module("layers", layers);
  }

  Tensor forward(const Tensor& x) { return keeps ? x + layers->forward(x) : layers->forward(x); }

  bool keeps;
  nn::Sequential layers;
};
TORCH_MODULE(Inverted);

// The scaled width as a multiple of eight, as in the paper's own code.
std::int64_t scaled(std::int64_t channels, std::int64_t percent) {
  return std::max<std::int64_t>(8, (channels * percent / 100 + 4) / 8 * 8);
}

// `percent` is the paper's width multiplier in hundredths.
struct MobileNetV2Impl : nn::Module {
  MobileNetV2Impl(std::int64_t percent, std::int64_t classes) {
    auto inputs = scaled(32, percent);
    append_convolution_norm(features, convolution(3, inputs, 3, 2), relu6());
    for (const auto& stage : stages)
      for (std::int64_t i = 0; i < stage.depth; ++i) {
        const auto outputs = scaled(stage.channels, percent);
        features->push_back(Inverted(inputs, outputs, i == 0 ? stage.stride : 1, stage.expansion));
        inputs = outputs;
      }
    const auto last = scaled(1280, percent);
    append_convolution_norm(features, convolution(inputs, last, 1), relu6());
    register_module("features", features);
    classifier =
        register_module("classifier", nn::Sequential(nn::Dropout(0.2), nn::Linear(last, classes)));
  }

  Tensor forward(const Tensor& images) {
    return classifier->forward(pooled(features->forward(images)));
  }

  nn::Sequential features, classifier{nullptr};
};
TORCH_MODULE(MobileNetV2);

Step make(Case& made_for) {
  return classification(made_for, MobileNetV2(made_for.size("percent"), made_for.size("classes")));
}

const Registration registered{"mobilenet_v2", make};

}  // namespace nightjar::workloads::mobilenet_v2
