"""ResNet-18 (He et al., 2015): convolution, batch norm and residual sums; vision classification."""

import torch
from torch import nn
from torch.nn import functional


class Block(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(outputs)
        self.downsample = None
        if stride != 1 or inputs != outputs:
            self.downsample = nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride, bias=False),
                                            nn.BatchNorm2d(outputs))

    def forward(self, x):
        kept = x if self.downsample is None else self.downsample(x)
        x = functional.relu(self.bn1(self.conv1(x)), inplace=True)
        x = self.bn2(self.conv2(x))
        x += kept
        return functional.relu(x, inplace=True)


def stage(inputs, outputs, stride):
    return nn.Sequential(Block(inputs, outputs, stride), Block(outputs, outputs, 1))


class ResNet18(nn.Module):
    """The paper's `width` is 64."""

    def __init__(self, width, classes):
        super().__init__()
        self.conv1 = nn.Conv2d(3, width, 7, 2, 3, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.pool = nn.MaxPool2d(3, 2, 1)
        self.layer1 = stage(width, width, 1)
        self.layer2 = stage(width, 2 * width, 2)
        self.layer3 = stage(2 * width, 4 * width, 2)
        self.layer4 = stage(4 * width, 8 * width, 2)
        self.fc = nn.Linear(8 * width, classes)

    def forward(self, x):
        x = self.pool(functional.relu(self.bn1(self.conv1(x)), inplace=True))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(torch.flatten(functional.adaptive_avg_pool2d(x, 1), 1))


def make(case):
    model = case.ready(ResNet18(case.width, case.classes))
    images = case.uniform("images", case.batch, 3, case.image, case.image)
    if case.task == "eval":
        return case.evaluation(model, images)
    labels = case.integers("labels", case.batch, high=case.classes)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9, weight_decay=1e-4)
    return case.training(model, optimizer, lambda: functional.cross_entropy(model(images), labels))
