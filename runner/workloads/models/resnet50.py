"""ResNet-50 (He et al., 2015): its blocks narrow to 1x1 convolutions, 50 layers deep; vision classification."""

from blocks.residual import Bottleneck, ResNet
from blocks.vision import classification


def make(case):
    return classification(case, ResNet(Bottleneck, [3, 4, 6, 3], case.width, case.classes))
