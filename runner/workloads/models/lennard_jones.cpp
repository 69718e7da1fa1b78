// The C++ twin of lennard_jones.py.
#include "blocks/perceptron.hpp"
#include "harness/case.hpp"

namespace nightjar::workloads::lennard_jones {
namespace nn = torch::nn;
using torch::Tensor;

// The energy of each pair and its force, the negative slope.
std::pair<Tensor, Tensor> energy_and_force(nn::Sequential& model, const Tensor& distances,
                                           bool differentiable) {
  const Tensor distance = distances.detach().requires_grad_();
  const Tensor energy = model->forward(distance);
  const auto slope = torch::autograd::grad({energy.sum()}, {distance}, {}, {}, differentiable);
  return {energy, -slope[0]};
}

// The exact potential, in units of its depth and of the distance at which it is zero.
std::pair<Tensor, Tensor> truth(const Tensor& distance) {
  const Tensor attraction = distance.pow(-6);
  return {4 * (attraction * attraction - attraction),
          24 * (2 * attraction * attraction - attraction) / distance};
}

Step make(Case& made_for) {
  std::vector<std::int64_t> widths(made_for.size("layers") + 2, made_for.size("hidden"));
  widths.front() = widths.back() = 1;
  auto model = perceptron(widths, nn::Tanh());
  made_for.ready(*model);
  const Tensor distance = 1.5 + 0.5 * made_for.uniform("distance", {made_for.batch, 1});
  if (made_for.task == "eval")
    return [model, distance]() mutable {
      const auto [energy, force] = energy_and_force(model, distance, false);
      return torch::cat({energy, force}).detach();
    };
  const auto [energy, force] = truth(distance);
  auto optimizer = std::make_shared<torch::optim::SGD>(model->parameters(), 1e-3);
  return training(optimizer, [model, distance, energy = energy, force = force]() mutable {
    const auto [our_energy, our_force] = energy_and_force(model, distance, true);
    return torch::mse_loss(our_energy, energy) + torch::mse_loss(our_force, force);
  });
}

const Registration registered{"lennard_jones", make};

}  // namespace nightjar::workloads::lennard_jones
