"""ResNet-50 (He et al., 2015): vision classification. 50 layers, whose blocks narrow to 1x1
convolutions."""

from blocks.residual import Bottleneck, ResNet
from blocks.vision import classification


def make(case):
    return classification(case, ResNet(Bottleneck, [3, 4, 6, 3], case.width, case.classes))
