// The C++ twin of t5.py.
#include "blocks/attention.hpp"

namespace nightjar::workloads::t5 {
namespace nn = torch::nn;
using torch::Tensor;

struct RootMeanSquareNormImpl : nn::Module {
  explicit RootMeanSquareNormImpl(std::int64_t width)
      : weight(register_parameter("weight", torch::empty({width}))) {}

  Tensor forward(const Tensor& x) {
    return weight * (x * torch::rsqrt(x.pow(2).mean(-1, true) + 1e-6));
  }

  Tensor weight;
};
TORCH_MODULE(RootMeanSquareNorm);

// An offset of the scores for each head and distance. Half of the buckets hold one distance each,
// the others ranges that grow logarithmically. An encoder has as many again for later tokens.
struct RelativePositionsImpl : nn::Module {
  RelativePositionsImpl(const Case& made_for, bool both_ways)
      : both_ways(both_ways),
        buckets(made_for.size("buckets") / (both_ways ? 2 : 1)),
        furthest(made_for.size("furthest")),
        table(register_module("table",
                              nn::Embedding(made_for.size("buckets"), made_for.size("heads")))) {}

  Tensor forward(std::int64_t length, torch::Device device) {
    const Tensor places = torch::arange(length, torch::device(device).dtype(torch::kInt64));
    return table(bucket(places.unsqueeze(0) - places.unsqueeze(1))).permute({2, 0, 1});
  }

  Tensor bucket(const Tensor& ahead) const {
    const Tensor distance = both_ways ? ahead.abs() : (-ahead).clamp_min(0);
    const auto exact = buckets / 2;
    const double scale = static_cast<double>(buckets - exact) /
                         std::log(static_cast<double>(furthest) / static_cast<double>(exact));
    const Tensor grown = (torch::log(distance.clamp_min(1) / exact) * scale).to(torch::kInt64);
    const Tensor found =
        torch::where(distance < exact, distance, (exact + grown).clamp_max(buckets - 1));
    return both_ways ? found + (ahead > 0).to(torch::kInt64) * buckets : found;
  }

  bool both_ways;
  std::int64_t buckets, furthest;
  nn::Embedding table;
};
TORCH_MODULE(RelativePositions);

struct T5LayerImpl : nn::Module {
  // T5 does not scale the scores, since its weights begin smaller than ours.
  T5LayerImpl(const Case& made_for, bool decodes) {
    const auto width = made_for.size("width"), heads = made_for.size("heads");
    attention = register_module("attention", Attention(width, heads, false));
    attention_norm = register_module("attention_norm", RootMeanSquareNorm(width));
    if (decodes) {
      across = register_module("across", Attention(width, heads, false));
      across_norm = register_module("across_norm", RootMeanSquareNorm(width));
    }
    network = register_module("network", perceptron({width, 4 * width, width}, nn::ReLU(), false));
    network_norm = register_module("network_norm", RootMeanSquareNorm(width));
  }

  Tensor forward(const Tensor& input, const Tensor& offset, const Tensor& memory) {
    Tensor x = input + attention(attention_norm(input), Tensor(), offset);
    if (memory.defined()) x = x + across(across_norm(x), memory);
    return x + network->forward(network_norm(x));
  }

  Attention attention{nullptr}, across{nullptr};
  nn::Sequential network{nullptr};
  RootMeanSquareNorm attention_norm{nullptr}, across_norm{nullptr}, network_norm{nullptr};
};
TORCH_MODULE(T5Layer);

struct StackImpl : nn::Module {
  StackImpl(const Case& made_for, bool decodes)
      : decodes(decodes),
        relative(register_module("relative", RelativePositions(made_for, !decodes))),
        norm(register_module("norm", RootMeanSquareNorm(made_for.size("width")))) {
    for (std::int64_t i = 0; i < made_for.size("layers"); ++i)
      layers->push_back(T5Layer(made_for, decodes));
    register_module("layers", layers);
  }

  Tensor forward(Tensor x, const Tensor& memory = {}) {
    Tensor offset = relative(x.size(1), x.device());
    if (decodes) offset = offset + causal(x.size(1), x.device());
    for (const auto& layer : *layers) x = layer->as<T5Layer>()->forward(x, offset, memory);
    return norm(x);
  }

  bool decodes;
  RelativePositions relative;
  RootMeanSquareNorm norm;
  nn::ModuleList layers;
};
TORCH_MODULE(Stack);

struct T5Impl : nn::Module {
  explicit T5Impl(const Case& made_for)
      : tokens(register_module("tokens",
                               nn::Embedding(made_for.size("vocabulary"), made_for.size("width")))),
        encoder(register_module("encoder", Stack(made_for, false))),
        decoder(register_module("decoder", Stack(made_for, true))) {}

  Tensor forward(const Tensor& source, const Tensor& target) {
    const Tensor x = decoder(tokens(target), encoder(tokens(source)));
    const double scale = 1 / std::sqrt(static_cast<double>(x.size(-1)));
    return nn::functional::linear(x * scale, tokens->weight);
  }

  nn::Embedding tokens;
  Stack encoder, decoder;
};
TORCH_MODULE(T5);

Step make(Case& made_for) {
  T5 model(made_for);
  made_for.ready(*model);
  const std::int64_t batch = made_for.batch, length = made_for.size("length"),
                     vocabulary = made_for.size("vocabulary");
  const Tensor source = made_for.integers("source", {batch, length}, vocabulary);
  const Tensor target = made_for.integers("target", {batch, length / 2}, vocabulary);
  if (made_for.task == "eval")
    return evaluation([=]() mutable { return model->forward(source, target); });
  const Tensor before = target.narrow(1, 0, length / 2 - 1),
               after = target.narrow(1, 1, length / 2 - 1);
  return training(adamw(model->parameters()),
                  [=]() mutable { return vocabulary_loss(model->forward(source, before), after); });
}

const Registration registered{"t5", make};

}  // namespace nightjar::workloads::t5
