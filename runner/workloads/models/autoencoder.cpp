// The C++ twin of autoencoder.py.
#include "blocks/perceptron.hpp"
#include "harness/case.hpp"

namespace nightjar::workloads::autoencoder {

Step make(Case& made_for) {
  const auto items = made_for.size("items");
  const auto hidden = made_for.size("hidden"), code = made_for.size("code");
  // The last layer has no activation, so that ratings keep their scale.
  auto model = perceptron({items, hidden, hidden, code, hidden, hidden, items}, torch::nn::SELU());
  made_for.ready(*model);
  const auto rated =
      made_for.integers("rated", {made_for.batch, items}, made_for.size("one_rated_of"))
          .eq(0)
          .to(made_for.dtype);
  const auto ratings =
      rated * (1 + made_for.integers("ratings", {made_for.batch, items}, 5).to(made_for.dtype));
  if (made_for.task == "eval")
    return evaluation([model, ratings]() mutable { return model->forward(ratings); });
  auto optimizer = std::make_shared<torch::optim::SGD>(
      model->parameters(), torch::optim::SGDOptions(1e-3).momentum(0.9));
  return training(optimizer, [model, ratings, rated]() mutable {
    const torch::Tensor error = (model->forward(ratings) - ratings) * rated;
    return (error * error).sum() / rated.sum();
  });
}

const Registration registered{"autoencoder", make};

}  // namespace nightjar::workloads::autoencoder
