"""ResNet-18 (He et al., 2015): vision classification. Convolution, batch norm and residual sums."""

from blocks.residual import Basic, ResNet
from blocks.vision import classification


def make(case):
    return classification(case, ResNet(Basic, [2, 2, 2, 2], case.width, case.classes))
