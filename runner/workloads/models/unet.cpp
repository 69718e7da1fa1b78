// The C++ twin of unet.py.
#include "blocks/vision.hpp"

namespace nightjar::workloads::unet {
namespace nn = torch::nn;
using torch::Tensor;

nn::Sequential twice(std::int64_t inputs, std::int64_t outputs) {
  nn::Sequential layers;
  append_convolution_norm(layers, convolution(inputs, outputs, 3), nn::ReLU(true));
  append_convolution_norm(layers, convolution(outputs, outputs, 3), nn::ReLU(true));
  return layers;
}

// The paper's `width` is 64 and its `depth` 4.
struct UNetImpl : nn::Module {
  UNetImpl(std::int64_t width, std::int64_t depth, std::int64_t classes)
      : depth(static_cast<std::size_t>(depth)),
        first(register_module("first", twice(3, width))),
        head(register_module("head", nn::Conv2d(width, classes, 1))) {
    for (std::int64_t i = 0; i < depth; ++i) {
      const auto above = width << i, below = width << (i + 1);
      down->push_back(twice(above, below));
      up->push_back(nn::ConvTranspose2d(nn::ConvTranspose2dOptions(below, above, 2).stride(2)));
      join->push_back(twice(below, above));
    }
    register_module("down", down);
    register_module("up", up);
    register_module("join", join);
  }

  Tensor forward(const Tensor& images) {
    std::vector<Tensor> levels{first->forward(images)};
    for (const auto& step : *down)
      levels.push_back(step->as<nn::Sequential>()->forward(torch::max_pool2d(levels.back(), 2)));
    Tensor x = levels.back();
    for (std::size_t i = depth; i-- > 0;) {
      const Tensor larger = up->at<nn::ConvTranspose2dImpl>(i).forward(x);
      levels.pop_back();
      x = join->at<nn::SequentialImpl>(i).forward(torch::cat({levels.back(), larger}, 1));
    }
    return head(x);
  }

  std::size_t depth;
  nn::Sequential first;
  nn::Conv2d head;
  nn::ModuleList down, up, join;
};
TORCH_MODULE(UNet);

Step make(Case& made_for) {
  UNet model(made_for.size("width"), made_for.size("depth"), made_for.size("classes"));
  made_for.ready(*model);
  const auto image = made_for.size("image");
  const auto images = made_for.uniform("images", {made_for.batch, 3, image, image});
  if (made_for.task == "eval")
    return evaluation([model, images]() mutable { return model->forward(images); });
  const auto labels =
      made_for.integers("labels", {made_for.batch, image, image}, made_for.size("classes"));
  return training(sgd(model->parameters()), [model, images, labels]() mutable {
    return nn::functional::cross_entropy(model->forward(images), labels);
  });
}

const Registration registered{"unet", make};

}  // namespace nightjar::workloads::unet
