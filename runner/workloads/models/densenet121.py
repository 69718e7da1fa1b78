"""DenseNet-121 (Huang et al., 2017): vision classification. Each layer takes the outputs of all
before it, so there is much concatenation; norm before convolution; many small operators."""

import torch
from torch import nn

from blocks.vision import classification, convolution, convolution_norm, pooled

DEPTHS = [6, 12, 24, 16]


def norm_convolution(inputs, outputs, kernel):
    return [nn.BatchNorm2d(inputs), nn.ReLU(True), convolution(inputs, outputs, kernel)]


class Dense(nn.Module):
    def __init__(self, inputs, growth):
        super().__init__()
        self.layers = nn.Sequential(*norm_convolution(inputs, 4 * growth, 1),
                                    *norm_convolution(4 * growth, growth, 3))

    def forward(self, x):
        return torch.cat([x, self.layers(x)], 1)


def network(growth, shallower, classes):
    """The paper's `growth` is 32. Each of its depths is divided by `shallower`."""
    channels = 2 * growth
    layers = [*convolution_norm(3, channels, 7, 2), nn.MaxPool2d(3, 2, 1)]
    for number, depth in enumerate(DEPTHS):
        depth //= shallower
        if number > 0:
            layers += [*norm_convolution(channels, channels // 2, 1), nn.AvgPool2d(2)]
            channels //= 2
        layers += [Dense(channels + i * growth, growth) for i in range(depth)]
        channels += depth * growth
    return nn.Sequential(*layers, nn.BatchNorm2d(channels), nn.ReLU(True), Pooled(),
                         nn.Linear(channels, classes))


class Pooled(nn.Module):
    def forward(self, x):
        return pooled(x)


def make(case):
    return classification(case, network(case.growth, case.shallower, case.classes))
