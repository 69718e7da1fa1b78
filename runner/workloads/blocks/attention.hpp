// What transformers share: attention, the layer made of it, and the loss over a vocabulary.
#pragma once

#include <cmath>
#include <limits>
#include <torch/version.h>

#include "blocks/perceptron.hpp"
#include "harness/case.hpp"

namespace nightjar::workloads {

// The keys and values of earlier tokens in one layer of a decoder: (batch, heads, length, width).
struct Cache {
  torch::Tensor keys, values;

  // Appends both, and sets them to the whole.
  void extend(torch::Tensor& more_keys, torch::Tensor& more_values) {
    if (keys.defined()) {
      more_keys = torch::cat({keys, more_keys}, 2);
      more_values = torch::cat({values, more_values}, 2);
    }
    keys = more_keys;
    values = more_values;
  }

  std::int64_t length() const { return keys.defined() ? keys.size(2) : 0; }
};

// Multi-head attention as matrix products and a softmax, a form that LibTorch 1.13 and 2.13 both
// have. `fused` uses PyTorch's own kernel if there is one (from 2.0 on).
struct AttentionImpl : torch::nn::Module {
  AttentionImpl(std::int64_t width, std::int64_t heads, bool bias = true, bool fused = false)
      : heads(heads),
        fused(fused),
        query(register_module("query", linear(width, bias))),
        key(register_module("key", linear(width, bias))),
        value(register_module("value", linear(width, bias))),
        out(register_module("out", linear(width, bias))) {}

  static torch::nn::Linear linear(std::int64_t width, bool bias) {
    return torch::nn::Linear(torch::nn::LinearOptions(width, width).bias(bias));
  }

  // Attention of `x` to `memory`, or to itself if that is undefined; both (batch, length, width).
  // `offset` is added to the scores (batch, heads, length of x, length of memory).
  torch::Tensor forward(const torch::Tensor& x, const torch::Tensor& memory = {},
                        const torch::Tensor& offset = {}, Cache* cache = nullptr) {
    const torch::Tensor& seen = memory.defined() ? memory : x;
    const torch::Tensor queries = split(query(x));
    torch::Tensor keys = split(key(seen)), values = split(value(seen));
    if (cache) cache->extend(keys, values);
#if TORCH_VERSION_MAJOR >= 2
    if (fused)
      return out(
          torch::scaled_dot_product_attention(queries, keys, values).transpose(1, 2).flatten(2));
#endif
    const double scale = 1 / std::sqrt(static_cast<double>(queries.size(3)));
    torch::Tensor scores = torch::matmul(queries * scale, keys.transpose(2, 3));
    if (offset.defined()) scores = scores + offset;
    return out(torch::matmul(torch::softmax(scores, -1), values).transpose(1, 2).flatten(2));
  }

  torch::Tensor split(const torch::Tensor& x) const {
    return x.view({x.size(0), x.size(1), heads, -1}).transpose(1, 2);
  }

  std::int64_t heads;
  bool fused;
  torch::nn::Linear query, key, value, out;
};
TORCH_MODULE(Attention);

inline torch::nn::LayerNorm layer_norm(std::int64_t width) {
  return torch::nn::LayerNorm(torch::nn::LayerNormOptions({width}));
}

// Attention, then a feed-forward network, each added to what came in. Layer norm comes before each
// (`first`, as in GPT-2 and the vision transformer) or after each sum (as in BERT).
struct LayerImpl : torch::nn::Module {
  template <class Activation>
  LayerImpl(std::int64_t width, std::int64_t heads, std::int64_t inner, bool first,
            const Activation& activation, bool fused = false)
      : first(first),
        attention(register_module("attention", Attention(width, heads, true, fused))),
        attention_norm(register_module("attention_norm", layer_norm(width))),
        network(register_module("network", perceptron({width, inner, width}, activation))),
        network_norm(register_module("network_norm", layer_norm(width))) {}

  torch::Tensor forward(const torch::Tensor& input, const torch::Tensor& offset = {},
                        Cache* cache = nullptr) {
    if (first) {
      const torch::Tensor x =
          input + attention(attention_norm(input), torch::Tensor(), offset, cache);
      return x + network->forward(network_norm(x));
    }
    const torch::Tensor x =
        attention_norm(input + attention(input, torch::Tensor(), offset, cache));
    return network_norm(x + network->forward(x));
  }

  bool first;
  Attention attention;
  torch::nn::LayerNorm attention_norm;
  torch::nn::Sequential network;
  torch::nn::LayerNorm network_norm;
};
TORCH_MODULE(Layer);

// The offset of scores that hides later tokens from each token.
inline torch::Tensor causal(std::int64_t length, torch::Device device) {
  return torch::full({length, length}, -std::numeric_limits<float>::infinity(),
                     torch::device(device))
      .triu(1);
}

inline std::shared_ptr<torch::optim::Optimizer> adamw(
    const std::vector<torch::Tensor>& parameters) {
  return std::make_shared<torch::optim::AdamW>(parameters, torch::optim::AdamWOptions(1e-4));
}

// Cross entropy of (batch, length, vocabulary) with (batch, length); labels of -100 do not count.
inline torch::Tensor vocabulary_loss(const torch::Tensor& logits, const torch::Tensor& labels) {
  return torch::nn::functional::cross_entropy(logits.flatten(0, 1), labels.flatten());
}

}  // namespace nightjar::workloads
