// The C++ twin of conformer.py.
#include "blocks/attention.hpp"

namespace nightjar::workloads::conformer {
namespace nn = torch::nn;
using torch::Tensor;

struct ConvolutionImpl : nn::Module {
  ConvolutionImpl(std::int64_t width, std::int64_t kernel)
      : norm(register_module("norm", layer_norm(width))),
        layers(register_module(
            "layers",
            nn::Sequential(
                nn::Conv1d(width, 2 * width, 1), nn::GLU(1),
                nn::Conv1d(
                    nn::Conv1dOptions(width, width, kernel).padding(kernel / 2).groups(width)),
                nn::BatchNorm1d(width), nn::SiLU(), nn::Conv1d(width, width, 1)))) {}

  Tensor forward(const Tensor& x) {
    return layers->forward(norm(x).transpose(1, 2)).transpose(1, 2);
  }

  nn::LayerNorm norm;
  nn::Sequential layers;
};
TORCH_MODULE(Convolution);

struct ConformerLayerImpl : nn::Module {
  explicit ConformerLayerImpl(const Case& made_for) {
    const auto width = made_for.size("width");
    before_norm = register_module("before_norm", layer_norm(width));
    before = register_module("before", perceptron({width, 4 * width, width}, nn::SiLU()));
    attention_norm = register_module("attention_norm", layer_norm(width));
    attention = register_module("attention", Attention(width, made_for.size("heads")));
    convolution = register_module("convolution", Convolution(width, made_for.size("kernel")));
    after_norm = register_module("after_norm", layer_norm(width));
    after = register_module("after", perceptron({width, 4 * width, width}, nn::SiLU()));
    norm = register_module("norm", layer_norm(width));
  }

  Tensor forward(Tensor x) {
    x = x + 0.5 * before->forward(before_norm(x));
    x = x + attention(attention_norm(x));
    x = x + convolution(x);
    return norm(x + 0.5 * after->forward(after_norm(x)));
  }

  nn::LayerNorm before_norm{nullptr}, attention_norm{nullptr}, after_norm{nullptr}, norm{nullptr};
  nn::Sequential before{nullptr}, after{nullptr};
  Attention attention{nullptr};
  Convolution convolution{nullptr};
};
TORCH_MODULE(ConformerLayer);

struct ConformerImpl : nn::Module {
  explicit ConformerImpl(const Case& made_for) {
    const auto width = made_for.size("width");
    subsampling = register_module("subsampling", nn::Sequential(halving(1, width), nn::ReLU(),
                                                                halving(width, width), nn::ReLU()));
    embedding =
        register_module("embedding", nn::Linear(width * (made_for.size("bands") / 4), width));
    for (std::int64_t i = 0; i < made_for.size("layers"); ++i)
      layers->push_back(ConformerLayer(made_for));
    register_module("layers", layers);
    head = register_module("head", nn::Linear(width, made_for.size("symbols")));
  }

  static nn::Conv2d halving(std::int64_t inputs, std::int64_t outputs) {
    return nn::Conv2d(nn::Conv2dOptions(inputs, outputs, 3).stride(2).padding(1));
  }

  // (batch, frames, bands) to log-probabilities of each symbol at a quarter of the frames.
  Tensor forward(const Tensor& frames) {
    const Tensor x = subsampling->forward(frames.unsqueeze(1)).transpose(1, 2).flatten(2);
    return torch::log_softmax(head(layers->forward(embedding(x))), -1);
  }

  nn::Sequential subsampling{nullptr}, layers;
  nn::Linear embedding{nullptr}, head{nullptr};
};
TORCH_MODULE(Conformer);

Step make(Case& made_for) {
  Conformer model(made_for);
  made_for.ready(*model);
  const auto batch = made_for.batch;
  const Tensor frames =
      made_for.uniform("frames", {batch, made_for.size("frames"), made_for.size("bands")});
  if (made_for.task == "eval") return evaluation([=]() mutable { return model->forward(frames); });
  // A quarter of the frames must hold the text and a blank (symbol 0) between any two equal
  // symbols.
  const auto length = made_for.size("frames") / 4;
  const Tensor text =
      1 + made_for.integers("text", {batch, length / 2}, made_for.size("symbols") - 1);
  const std::vector<std::int64_t> heard(static_cast<std::size_t>(batch), length);
  const std::vector<std::int64_t> said(static_cast<std::size_t>(batch), length / 2);
  return training(adamw(model->parameters()), [=]() mutable {
    return torch::ctc_loss(model->forward(frames).transpose(0, 1), text, heard, said);
  });
}

const Registration registered{"conformer", make};

}  // namespace nightjar::workloads::conformer
