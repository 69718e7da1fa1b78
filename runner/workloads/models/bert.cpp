// The C++ twin of bert.py.
#include "blocks/attention.hpp"

namespace nightjar::workloads::bert {
namespace nn = torch::nn;
using torch::Tensor;

struct BertImpl : nn::Module {
  explicit BertImpl(const Case& made_for) {
    const auto width = made_for.size("width"), vocabulary = made_for.size("vocabulary");
    tokens = register_module("tokens", nn::Embedding(vocabulary, width));
    positions = register_module("positions", nn::Embedding(made_for.size("length"), width));
    segments = register_module("segments", nn::Embedding(2, width));
    norm = register_module("norm", layer_norm(width));
    for (std::int64_t i = 0; i < made_for.size("layers"); ++i)
      layers->push_back(Layer(width, made_for.size("heads"), 4 * width, false, nn::GELU()));
    register_module("layers", layers);
    transform = register_module(
        "transform", nn::Sequential(nn::Linear(width, width), nn::GELU(), layer_norm(width)));
    bias = register_parameter("bias", torch::empty({vocabulary}));
  }

  // Takes token ids, the sentence of each, and which of them are not padding.
  Tensor forward(const Tensor& ids, const Tensor& sentences, const Tensor& present) {
    const Tensor places = torch::arange(ids.size(1), ids.options());
    Tensor x = norm(tokens(ids) + positions(places) + segments(sentences));
    const Tensor offset = torch::zeros_like(present, x.options())
                              .masked_fill(~present, -std::numeric_limits<float>::infinity())
                              .unsqueeze(1)
                              .unsqueeze(1);
    for (const auto& layer : *layers) x = layer->as<Layer>()->forward(x, offset);
    return nn::functional::linear(transform->forward(x), tokens->weight, bias);
  }

  nn::Embedding tokens{nullptr}, positions{nullptr}, segments{nullptr};
  nn::LayerNorm norm{nullptr};
  nn::ModuleList layers;
  nn::Sequential transform{nullptr};
  Tensor bias;
};
TORCH_MODULE(Bert);

Step make(Case& made_for) {
  Bert model(made_for);
  made_for.ready(*model);
  const std::int64_t batch = made_for.batch, length = made_for.size("length");
  const Tensor tokens = made_for.integers("tokens", {batch, length}, made_for.size("vocabulary"));
  const Tensor places = torch::arange(length, tokens.options()).expand({batch, -1});
  const Tensor segments = places.ge(length / 2).to(torch::kInt64);
  const Tensor lengths = length / 2 + 1 + made_for.integers("lengths", {batch, 1}, length / 2);
  const Tensor present = places < lengths;
  if (made_for.task == "eval")
    return evaluation([=]() mutable { return model->forward(tokens, segments, present); });
  const Tensor masked = made_for.integers("masked", {batch, length}, 7).eq(0) & present;
  const Tensor labels = tokens.masked_fill(~masked, -100);
  const Tensor inputs = tokens.masked_fill(masked, 0);
  return training(adamw(model->parameters()), [=]() mutable {
    return vocabulary_loss(model->forward(inputs, segments, present), labels);
  });
}

const Registration registered{"bert", make};

}  // namespace nightjar::workloads::bert
