"""Physics, after TorchBench's model of that name. A small network learns the Lennard-Jones
potential of a pair of atoms, and its force as the gradient, so training differentiates twice. Many
small operators, autograd on autograd."""

import torch
from torch import nn
from torch.nn import functional

from blocks.perceptron import perceptron


def energy_and_force(model, distance, differentiable):
    """The energy of each pair and its force, the negative slope."""
    distance = distance.detach().requires_grad_()
    energy = model(distance)
    slope, = torch.autograd.grad(energy.sum(), distance, create_graph=differentiable)
    return energy, -slope


def lennard_jones(distance):
    """The exact potential, in units of its depth and of the distance at which it is zero."""
    attraction = distance**-6
    energy = 4 * (attraction * attraction - attraction)
    return energy, 24 * (2 * attraction * attraction - attraction) / distance


def make(case):
    model = case.ready(perceptron(1, *[case.hidden] * case.layers, 1, activation=nn.Tanh))
    distance = 1.5 + 0.5 * case.uniform("distance", case.batch, 1)
    if case.task == "eval":
        energy_of = case.network(model)
        return lambda: torch.cat(energy_and_force(energy_of, distance, False)).detach()
    energy, force = lennard_jones(distance)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)

    def loss():
        our_energy, our_force = energy_and_force(model, distance, True)
        return functional.mse_loss(our_energy, energy) + functional.mse_loss(our_force, force)
    return case.training(model, optimizer, loss)
