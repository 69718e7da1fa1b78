// What networks for images share: convolution with its norm, and the step of a classifier.
#pragma once

#include "harness/case.hpp"

namespace nightjar::workloads {

// A convolution that keeps the size, except for the stride. It has no bias, since a norm follows.
inline torch::nn::Conv2d convolution(std::int64_t inputs, std::int64_t outputs, std::int64_t kernel,
                                     std::int64_t stride = 1, std::int64_t groups = 1) {
  return torch::nn::Conv2d(torch::nn::Conv2dOptions(inputs, outputs, kernel)
                               .stride(stride)
                               .padding(kernel / 2)
                               .groups(groups)
                               .bias(false));
}

// Appends convolution, batch norm and activation.
template <class Activation>
void append_convolution_norm(torch::nn::Sequential& layers, const torch::nn::Conv2d& layer,
                             const Activation& activation) {
  layers->push_back(layer);
  layers->push_back(torch::nn::BatchNorm2d(layer->options.out_channels()));
  layers->push_back(activation);
}

// (batch, channels, height, width) to the mean of each channel.
inline torch::Tensor pooled(const torch::Tensor& x) {
  return torch::flatten(torch::adaptive_avg_pool2d(x, {1, 1}), 1);
}

// The optimizer that the residual networks' authors used.
inline std::shared_ptr<torch::optim::Optimizer> sgd(const std::vector<torch::Tensor>& parameters) {
  return std::make_shared<torch::optim::SGD>(
      parameters, torch::optim::SGDOptions(1e-3).momentum(0.9).weight_decay(1e-4));
}

// The step of an image classifier, from the sizes `image` and `classes`. `optimizer` makes one for
// the parameters. `gain` multiplies the parameters; without norms, √2 makes up for ReLU's loss.
template <class Model>
Step classification(Case& made_for, Model model, decltype(&sgd) optimizer = &sgd, double gain = 1) {
  made_for.ready(*model);
  if (gain != 1) {
    torch::NoGradGuard no_grad;
    for (const torch::Tensor& parameter : model->parameters()) parameter.mul_(gain);
  }
  const auto image = made_for.size("image");
  const auto images = made_for.uniform("images", {made_for.batch, 3, image, image});
  if (made_for.task == "eval")
    return evaluation([model, images]() mutable { return model->forward(images); });
  const auto labels = made_for.integers("labels", {made_for.batch}, made_for.size("classes"));
  return training(optimizer(model->parameters()), [model, images, labels]() mutable {
    return torch::nn::functional::cross_entropy(model->forward(images), labels);
  });
}

}  // namespace nightjar::workloads
