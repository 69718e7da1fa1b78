"""A deep autoencoder of ratings (Kuchaiev and Ginsburg, 2017; TorchBench's nvidia_deeprecommender): large
matrix products on sparse rows, SELU, a loss over the rated items only; recommendation."""

import torch
from torch import nn


def mlp(widths):
    parts = []
    for inputs, outputs in zip(widths, widths[1:]):
        parts += [nn.Linear(inputs, outputs), nn.SELU()]
    return parts


def network(items, hidden, code):
    """Encoder and decoder; the last layer has no activation, so that ratings keep their scale."""
    widths = [items, hidden, hidden, code]
    return nn.Sequential(*mlp(widths), *mlp(widths[::-1])[:-1])


def make(case):
    model = case.ready(network(case.items, case.hidden, case.code))
    rated = (case.integers("rated", case.batch, case.items, high=case.one_rated_of) == 0).float()
    ratings = rated * (1 + case.integers("ratings", case.batch, case.items, high=5).float())
    if case.task == "eval":
        return case.evaluation(model, ratings)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9)

    def loss():
        error = (model(ratings) - ratings) * rated
        return (error * error).sum() / rated.sum()
    return case.training(model, optimizer, loss)
