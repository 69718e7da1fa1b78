// Residual networks (He et al., 2015): resnet18 and resnet50 differ in their block and their
// depths.
#pragma once

#include <array>

#include "blocks/vision.hpp"

namespace nightjar::workloads {

// The layer that the kept input passes where the shape changes; empty where it does not.
inline torch::nn::Sequential projection(std::int64_t inputs, std::int64_t outputs,
                                        std::int64_t stride) {
  if (stride == 1 && inputs == outputs) return nullptr;
  return torch::nn::Sequential(convolution(inputs, outputs, 1, stride),
                               torch::nn::BatchNorm2d(outputs));
}

struct BasicImpl : torch::nn::Module {
  static constexpr std::int64_t expansion = 1;  // outputs over width

  BasicImpl(std::int64_t inputs, std::int64_t width, std::int64_t stride)
      : conv1(register_module("conv1", convolution(inputs, width, 3, stride))),
        bn1(register_module("bn1", torch::nn::BatchNorm2d(width))),
        conv2(register_module("conv2", convolution(width, width, 3))),
        bn2(register_module("bn2", torch::nn::BatchNorm2d(width))),
        downsample(projection(inputs, width, stride)) {
    if (downsample) register_module("downsample", downsample);
  }

  torch::Tensor forward(const torch::Tensor& input) {
    const torch::Tensor kept = downsample ? downsample->forward(input) : input;
    torch::Tensor x = bn2(conv2(bn1(conv1(input)).relu_()));
    x += kept;
    return x.relu_();
  }

  torch::nn::Conv2d conv1;
  torch::nn::BatchNorm2d bn1;
  torch::nn::Conv2d conv2;
  torch::nn::BatchNorm2d bn2;
  torch::nn::Sequential downsample;
};
TORCH_MODULE(Basic);

struct BottleneckImpl : torch::nn::Module {
  static constexpr std::int64_t expansion = 4;

  BottleneckImpl(std::int64_t inputs, std::int64_t width, std::int64_t stride)
      : conv1(register_module("conv1", convolution(inputs, width, 1))),
        bn1(register_module("bn1", torch::nn::BatchNorm2d(width))),
        conv2(register_module("conv2", convolution(width, width, 3, stride))),
        bn2(register_module("bn2", torch::nn::BatchNorm2d(width))),
        conv3(register_module("conv3", convolution(width, 4 * width, 1))),
        bn3(register_module("bn3", torch::nn::BatchNorm2d(4 * width))),
        downsample(projection(inputs, 4 * width, stride)) {
    if (downsample) register_module("downsample", downsample);
  }

  torch::Tensor forward(const torch::Tensor& input) {
    const torch::Tensor kept = downsample ? downsample->forward(input) : input;
    torch::Tensor x = bn1(conv1(input)).relu_();
    x = bn3(conv3(bn2(conv2(x)).relu_()));
    x += kept;
    return x.relu_();
  }

  torch::nn::Conv2d conv1;
  torch::nn::BatchNorm2d bn1;
  torch::nn::Conv2d conv2;
  torch::nn::BatchNorm2d bn2;
  torch::nn::Conv2d conv3;
  torch::nn::BatchNorm2d bn3;
  torch::nn::Sequential downsample;
};
TORCH_MODULE(Bottleneck);

// `Block` is Basic or Bottleneck; `depths`: the blocks of each of the four stages. The paper's
// `width` is 64.
template <class Block>
struct ResNetImpl : torch::nn::Module {
  static constexpr std::int64_t expansion = Block::ContainedType::expansion;

  ResNetImpl(const std::array<int, 4>& depths, std::int64_t width, std::int64_t classes)
      : conv1(register_module("conv1", convolution(3, width, 7, 2))),
        bn1(register_module("bn1", torch::nn::BatchNorm2d(width))),
        layer1(register_module("layer1", stage(width, width, depths[0], 1))),
        layer2(register_module("layer2", stage(expansion * width, 2 * width, depths[1], 2))),
        layer3(register_module("layer3", stage(2 * expansion * width, 4 * width, depths[2], 2))),
        layer4(register_module("layer4", stage(4 * expansion * width, 8 * width, depths[3], 2))),
        fc(register_module("fc", torch::nn::Linear(8 * expansion * width, classes))) {}

  static torch::nn::Sequential stage(std::int64_t inputs, std::int64_t width, int depth,
                                     std::int64_t stride) {
    torch::nn::Sequential blocks(Block(inputs, width, stride));
    for (int i = 1; i < depth; ++i) blocks->push_back(Block(expansion * width, width, 1));
    return blocks;
  }

  torch::Tensor forward(const torch::Tensor& images) {
    const torch::Tensor x = torch::max_pool2d(bn1(conv1(images)).relu_(), 3, 2, 1);
    return fc(pooled(layer4->forward(layer3->forward(layer2->forward(layer1->forward(x))))));
  }

  torch::nn::Conv2d conv1;
  torch::nn::BatchNorm2d bn1;
  torch::nn::Sequential layer1, layer2, layer3, layer4;
  torch::nn::Linear fc;
};

template <class Block>
using ResNet = torch::nn::ModuleHolder<ResNetImpl<Block>>;

}  // namespace nightjar::workloads
