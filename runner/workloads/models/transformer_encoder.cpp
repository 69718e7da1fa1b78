// The C++ twin of transformer_encoder.py.
#include "harness/case.hpp"

namespace nightjar::workloads::transformer_encoder {
namespace nn = torch::nn;

struct EncoderImpl : nn::Module {
  explicit EncoderImpl(const Case& made_for)
      : tokens(register_module("tokens",
                               nn::Embedding(made_for.size("vocabulary"), made_for.size("width")))),
        positions(register_module("positions",
                                  nn::Embedding(made_for.size("length"), made_for.size("width")))),
        encoder(register_module("encoder", nn::TransformerEncoder(options(made_for)))),
        head(register_module("head",
                             nn::Linear(made_for.size("width"), made_for.size("vocabulary")))) {}

  // Without dropout, since the twins' attention would draw its masks in another order.
  static nn::TransformerEncoderOptions options(const Case& made_for) {
    return {nn::TransformerEncoderLayerOptions(made_for.size("width"), made_for.size("heads"))
                .dim_feedforward(made_for.size("feedforward"))
                .dropout(0.0)
                .activation(torch::kGELU),
            made_for.size("layers")};
  }

  // The C++ encoder takes the length first.
  torch::Tensor forward(const torch::Tensor& ids) {
    const auto place = torch::arange(ids.size(1), ids.options());
    const torch::Tensor embedded = tokens(ids) + positions(place);
    return head(encoder(embedded.transpose(0, 1)).transpose(0, 1));
  }

  nn::Embedding tokens, positions;
  nn::TransformerEncoder encoder;
  nn::Linear head;
};
TORCH_MODULE(Encoder);

Step make(Case& made_for) {
  Encoder model(made_for);
  made_for.ready(*model);
  const auto vocabulary = made_for.size("vocabulary"), length = made_for.size("length");
  const auto tokens = made_for.integers("tokens", {made_for.batch, length}, vocabulary);
  if (made_for.task == "eval")
    return evaluation([model, tokens]() mutable { return model->forward(tokens); });
  const auto labels = made_for.integers("labels", {made_for.batch * length}, vocabulary);
  auto optimizer =
      std::make_shared<torch::optim::Adam>(model->parameters(), torch::optim::AdamOptions(1e-4));
  return training(optimizer, [model, tokens, labels]() mutable {
    return nn::functional::cross_entropy(model->forward(tokens).flatten(0, 1), labels);
  });
}

const Registration registered{"transformer_encoder", make};

}  // namespace nightjar::workloads::transformer_encoder
