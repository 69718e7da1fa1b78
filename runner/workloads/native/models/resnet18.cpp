// ResNet-18 (He et al., 2015): convolution, batch norm and residual sums; vision classification.
#include "case.hpp"

namespace nightjar::workloads::resnet18 {
namespace nn = torch::nn;
namespace functional = torch::nn::functional;

nn::Conv2d convolution(std::int64_t inputs, std::int64_t outputs, std::int64_t kernel,
                       std::int64_t stride) {
  return nn::Conv2d(
      nn::Conv2dOptions(inputs, outputs, kernel).stride(stride).padding(kernel / 2).bias(false));
}

torch::Tensor relu_in_place(torch::Tensor x) {
  return torch::relu_(x);
}

struct BlockImpl : nn::Module {
  BlockImpl(std::int64_t inputs, std::int64_t outputs, std::int64_t stride)
      : conv1(register_module("conv1", convolution(inputs, outputs, 3, stride))),
        bn1(register_module("bn1", nn::BatchNorm2d(outputs))),
        conv2(register_module("conv2", convolution(outputs, outputs, 3, 1))),
        bn2(register_module("bn2", nn::BatchNorm2d(outputs))) {
    if (stride != 1 || inputs != outputs)
      downsample = register_module(
          "downsample",
          nn::Sequential(convolution(inputs, outputs, 1, stride), nn::BatchNorm2d(outputs)));
  }

  torch::Tensor forward(const torch::Tensor& input) {
    const torch::Tensor kept = downsample ? downsample->forward(input) : input;
    torch::Tensor x = bn2(conv2(relu_in_place(bn1(conv1(input)))));
    x += kept;
    return relu_in_place(x);
  }

  nn::Conv2d conv1;
  nn::BatchNorm2d bn1;
  nn::Conv2d conv2;
  nn::BatchNorm2d bn2;
  nn::Sequential downsample{nullptr};
};
TORCH_MODULE(Block);

nn::Sequential stage(std::int64_t inputs, std::int64_t outputs, std::int64_t stride) {
  return nn::Sequential(Block(inputs, outputs, stride), Block(outputs, outputs, 1));
}

// The paper's `width` is 64.
struct ResNet18Impl : nn::Module {
  ResNet18Impl(std::int64_t width, std::int64_t classes)
      : conv1(register_module("conv1", convolution(3, width, 7, 2))),
        bn1(register_module("bn1", nn::BatchNorm2d(width))),
        layer1(register_module("layer1", stage(width, width, 1))),
        layer2(register_module("layer2", stage(width, 2 * width, 2))),
        layer3(register_module("layer3", stage(2 * width, 4 * width, 2))),
        layer4(register_module("layer4", stage(4 * width, 8 * width, 2))),
        fc(register_module("fc", nn::Linear(8 * width, classes))) {}

  torch::Tensor forward(const torch::Tensor& images) {
    torch::Tensor x = torch::max_pool2d(relu_in_place(bn1(conv1(images))), 3, 2, 1);
    x = layer4->forward(layer3->forward(layer2->forward(layer1->forward(x))));
    return fc(torch::flatten(torch::adaptive_avg_pool2d(x, {1, 1}), 1));
  }

  nn::Conv2d conv1;
  nn::BatchNorm2d bn1;
  nn::Sequential layer1, layer2, layer3, layer4;
  nn::Linear fc;
};
TORCH_MODULE(ResNet18);

Step make(Case& made_for) {
  ResNet18 model(made_for.size("width"), made_for.size("classes"));
  made_for.ready(*model);
  const auto image = made_for.size("image");
  const auto images = made_for.uniform("images", {made_for.batch, 3, image, image});
  if (made_for.task == "eval")
    return evaluation([model, images]() mutable { return model->forward(images); });
  const auto labels = made_for.integers("labels", {made_for.batch}, made_for.size("classes"));
  auto optimizer = std::make_shared<torch::optim::SGD>(
      model->parameters(), torch::optim::SGDOptions(1e-3).momentum(0.9).weight_decay(1e-4));
  return training(optimizer, [model, images, labels]() mutable {
    return functional::cross_entropy(model->forward(images), labels);
  });
}

const Registration registered{"resnet18", make};

}  // namespace nightjar::workloads::resnet18
