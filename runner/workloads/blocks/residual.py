"""Residual networks (He et al., 2015): resnet18 and resnet50 differ in their block and their
depths."""

from torch import nn
from torch.nn import functional

from blocks.vision import convolution, pooled


class Basic(nn.Module):
    expansion = 1  # outputs over width

    def __init__(self, inputs, width, stride):
        super().__init__()
        self.conv1 = convolution(inputs, width, 3, stride)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = convolution(width, width, 3)
        self.bn2 = nn.BatchNorm2d(width)
        self.downsample = projection(inputs, width, stride)

    def forward(self, x):
        kept = x if self.downsample is None else self.downsample(x)
        x = functional.relu(self.bn1(self.conv1(x)), inplace=True)
        x = self.bn2(self.conv2(x))
        x += kept
        return functional.relu(x, inplace=True)


class Bottleneck(nn.Module):
    expansion = 4

    def __init__(self, inputs, width, stride):
        super().__init__()
        self.conv1 = convolution(inputs, width, 1)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = convolution(width, width, 3, stride)
        self.bn2 = nn.BatchNorm2d(width)
        self.conv3 = convolution(width, 4 * width, 1)
        self.bn3 = nn.BatchNorm2d(4 * width)
        self.downsample = projection(inputs, 4 * width, stride)

    def forward(self, x):
        kept = x if self.downsample is None else self.downsample(x)
        x = functional.relu(self.bn1(self.conv1(x)), inplace=True)
        x = functional.relu(self.bn2(self.conv2(x)), inplace=True)
        x = self.bn3(self.conv3(x))
        x += kept
        return functional.relu(x, inplace=True)


def projection(inputs, outputs, stride):
    """The layer that the kept input passes where the shape changes."""
    if stride == 1 and inputs == outputs:
        return None
    return nn.Sequential(convolution(inputs, outputs, 1, stride), nn.BatchNorm2d(outputs))


def stage(block, inputs, width, depth, stride):
    blocks = [block(inputs, width, stride)]
    blocks += [block(block.expansion * width, width, 1) for _ in range(depth - 1)]
    return nn.Sequential(*blocks)


class ResNet(nn.Module):
    """`depths`: the blocks of each of the four stages. The paper's `width` is 64."""

    def __init__(self, block, depths, width, classes):
        super().__init__()
        wide = block.expansion * width
        self.conv1 = convolution(3, width, 7, 2)
        self.bn1 = nn.BatchNorm2d(width)
        self.pool = nn.MaxPool2d(3, 2, 1)
        self.layer1 = stage(block, width, width, depths[0], 1)
        self.layer2 = stage(block, wide, 2 * width, depths[1], 2)
        self.layer3 = stage(block, 2 * wide, 4 * width, depths[2], 2)
        self.layer4 = stage(block, 4 * wide, 8 * width, depths[3], 2)
        self.fc = nn.Linear(8 * wide, classes)

    def forward(self, x):
        x = self.pool(functional.relu(self.bn1(self.conv1(x)), inplace=True))
        return self.fc(pooled(self.layer4(self.layer3(self.layer2(self.layer1(x))))))
