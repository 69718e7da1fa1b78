"""A deep autoencoder of ratings (Kuchaiev and Ginsburg, 2017; TorchBench's nvidia_deeprecommender):
recommendation. Large matrix products on sparse rows, SELU, a loss over the rated items only."""

import torch
from torch import nn

from blocks.perceptron import perceptron


def make(case):
    # The last layer has no activation, so that ratings keep their scale.
    model = case.ready(
        perceptron(case.items, case.hidden, case.hidden, case.code, case.hidden, case.hidden,
                   case.items, activation=nn.SELU))
    rated = (case.integers("rated", case.batch, case.items,
                           high=case.one_rated_of) == 0).to(case.dtype)
    ratings = rated * (1 + case.integers("ratings", case.batch, case.items, high=5).to(case.dtype))
    if case.task == "eval":
        return case.evaluation(model, ratings)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9)

    def loss():
        error = (model(ratings) - ratings) * rated
        return (error * error).sum() / rated.sum()
    return case.training(model, optimizer, loss)
