"""ResNet-18 (He et al., 2015): convolution, batch norm and residual sums; vision classification."""

from blocks.residual import Basic, ResNet
from blocks.vision import classification


def make(case):
    return classification(case, ResNet(Basic, [2, 2, 2, 2], case.width, case.classes))
