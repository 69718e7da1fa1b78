"""The multilayer perceptron, in models of recommendation, control and physics and in each layer of
transformers."""

from torch import nn


def perceptron(*widths, activation=nn.ReLU, bias=True):
    """Linear layers from width to width with an activation between them, none after the last."""
    layers = []
    for inputs, outputs in zip(widths, widths[1:]):
        layers += [nn.Linear(inputs, outputs, bias), activation()]
    return nn.Sequential(*layers[:-1])
