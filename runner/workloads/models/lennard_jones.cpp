// A small network learns the Lennard-Jones potential of a pair of atoms, and its force as the
// gradient (after TorchBench's model of that name): training differentiates twice. Many small
// operators, autograd on autograd.
#include "blocks/perceptron.hpp"
#include "harness/case.hpp"

namespace nightjar::workloads::lennard_jones {
namespace nn = torch::nn;
using torch::Tensor;

// Of each pair: the energy, and the force, which is its slope downwards.
std::pair<Tensor, Tensor> energy_and_force(nn::Sequential& model, const Tensor& distances,
                                           bool differentiable) {
  const Tensor distance = distances.detach().requires_grad_();
  const Tensor energy = model->forward(distance);
  const auto slope = torch::autograd::grad({energy.sum()}, {distance}, {}, {}, differentiable);
  return {energy, -slope[0]};
}

// The truth, in units of the potential's depth and zero.
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
