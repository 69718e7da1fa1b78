"""VGG-16 (Simonyan and Zisserman, 2015): vision classification. Plain convolutions with bias, a
large classifier, dropout."""

from torch import nn

from blocks.vision import classification

STAGES = [[1, 1], [2, 2], [4, 4, 4], [8, 8, 8],
          [8, 8, 8]]  # channels over `width`; a pooling after each stage


def features(width):
    layers, inputs = [], 3
    for stage in STAGES:
        for multiple in stage:
            layers += [nn.Conv2d(inputs, multiple * width, 3, padding=1), nn.ReLU(True)]
            inputs = multiple * width
        layers.append(nn.MaxPool2d(2))
    return layers


def network(case):
    """The paper's `width` is 64 and its `hidden` 4096."""
    inputs = 8 * case.width * (case.image // 32)**2
    return nn.Sequential(*features(case.width), nn.Flatten(),
                         nn.Linear(inputs, case.hidden), nn.ReLU(True), nn.Dropout(0.5),
                         nn.Linear(case.hidden, case.hidden), nn.ReLU(True), nn.Dropout(0.5),
                         nn.Linear(case.hidden, case.classes))


def make(case):
    return classification(case, network(case), gain=2**0.5)
