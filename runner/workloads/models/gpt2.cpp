// The C++ twin of gpt2.py.
#include "blocks/attention.hpp"

namespace nightjar::workloads::gpt2 {
namespace nn = torch::nn;
using torch::Tensor;

struct Gpt2Impl : nn::Module {
  Gpt2Impl(const Case& made_for, std::int64_t length) {
    const auto width = made_for.size("width");
    tokens = register_module("tokens", nn::Embedding(made_for.size("vocabulary"), width));
    positions = register_module("positions", nn::Embedding(length, width));
    const nn::GELU activation(nn::GELUOptions().approximate("tanh"));
    for (std::int64_t i = 0; i < made_for.size("layers"); ++i)
      layers->push_back(Layer(width, made_for.size("heads"), 4 * width, true, activation));
    register_module("layers", layers);
    norm = register_module("norm", layer_norm(width));
  }

  // The last layer's output. With caches, `ids` follow the tokens of the caches.
  Tensor forward(const Tensor& ids, std::vector<Cache>* caches = nullptr) {
    const auto begin = caches ? caches->front().length() : 0, count = ids.size(1);
    Tensor x = tokens(ids) + positions(torch::arange(begin, begin + count, ids.options()));
    const Tensor offset = count > 1 ? causal(count, ids.device()) : Tensor();
    for (std::size_t i = 0; i < layers->size(); ++i)
      x = layers->at<LayerImpl>(i).forward(x, offset, caches ? &caches->at(i) : nullptr);
    return norm(x);
  }

  Tensor logits(const Tensor& x) { return nn::functional::linear(x, tokens->weight); }

  // The logits of `count` tokens after a prompt.
  Tensor write(Tensor ids, std::int64_t count) {
    std::vector<Cache> caches(layers->size());
    std::vector<Tensor> written;
    for (std::int64_t i = 0; i < count; ++i) {
      written.push_back(logits(forward(ids, &caches).narrow(1, ids.size(1) - 1, 1)));
      ids = written.back().argmax(-1);
    }
    return torch::cat(written, 1);
  }

  nn::Embedding tokens{nullptr}, positions{nullptr};
  nn::ModuleList layers;
  nn::LayerNorm norm{nullptr};
};
TORCH_MODULE(Gpt2);

Step make(Case& made_for) {
  const auto length = made_for.size("length");
  const auto written = made_for.task == "eval" ? made_for.size("written") : 0;
  Gpt2 model(made_for, length + written);
  made_for.ready(*model);
  const Tensor tokens =
      made_for.integers("tokens", {made_for.batch, length}, made_for.size("vocabulary"));
  if (made_for.task == "eval")
    return evaluation([=]() mutable { return model->write(tokens, written); });
  const Tensor inputs = tokens.narrow(1, 0, length - 1), labels = tokens.narrow(1, 1, length - 1);
  return training(adamw(model->parameters()), [=]() mutable {
    return vocabulary_loss(model->logits(model->forward(inputs)), labels);
  });
}

const Registration registered{"gpt2", make};

}  // namespace nightjar::workloads::gpt2
