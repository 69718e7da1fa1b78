// The C++ twin of vision_transformer.py.
#include "blocks/attention.hpp"
#include "blocks/vision.hpp"

namespace nightjar::workloads::vision_transformer {
namespace nn = torch::nn;
using torch::Tensor;

struct VisionTransformerImpl : nn::Module {
  explicit VisionTransformerImpl(const Case& made_for) {
    const auto width = made_for.size("width"), patch = made_for.size("patch");
    const auto across = made_for.size("image") / patch;
    patches =
        register_module("patches", nn::Conv2d(nn::Conv2dOptions(3, width, patch).stride(patch)));
    token = register_parameter("token", torch::empty({1, 1, width}));
    positions = register_parameter("positions", torch::empty({1, across * across + 1, width}));
    for (std::int64_t i = 0; i < made_for.size("layers"); ++i)
      layers->push_back(Layer(width, made_for.size("heads"), 4 * width, true, nn::GELU(), true));
    register_module("layers", layers);
    norm = register_module("norm", layer_norm(width));
    head = register_module("head", nn::Linear(width, made_for.size("classes")));
  }

  Tensor forward(const Tensor& images) {
    const Tensor seen = patches(images).flatten(2).transpose(1, 2);
    Tensor x = torch::cat({token.expand({images.size(0), -1, -1}), seen}, 1) + positions;
    for (const auto& layer : *layers) x = layer->as<Layer>()->forward(x);
    return head(norm(x).select(1, 0));
  }

  nn::Conv2d patches{nullptr};
  Tensor token, positions;
  nn::ModuleList layers;
  nn::LayerNorm norm{nullptr};
  nn::Linear head{nullptr};
};
TORCH_MODULE(VisionTransformer);

Step make(Case& made_for) {
  return classification(made_for, VisionTransformer(made_for), &adamw);
}

const Registration registered{"vision_transformer", make};

}  // namespace nightjar::workloads::vision_transformer
