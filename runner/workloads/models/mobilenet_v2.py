"""MobileNetV2 (Sandler et al., 2018): vision classification. Depthwise convolutions, ReLU6, many
thin layers."""

from torch import nn

from blocks.vision import classification, convolution, convolution_norm, pooled

# Expansion, channels, depth and first stride of each stage.
STAGES = [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2),
          (6, 320, 1, 1)]


class Inverted(nn.Module):
    """An inverted residual block, which is wide inside."""

    def __init__(self, inputs, outputs, stride, expansion):
        super().__init__()
        wide = inputs * expansion
        layers = [] if expansion == 1 else convolution_norm(inputs, wide, 1, activation=nn.ReLU6)
        layers += convolution_norm(wide, wide, 3, stride, groups=wide, activation=nn.ReLU6)
        self.layers = nn.Sequential(*layers, convolution(wide, outputs, 1), nn.BatchNorm2d(outputs))
        self.keeps = stride == 1 and inputs == outputs

    def forward(self, x):
        return x + self.layers(x) if self.keeps else self.layers(x)


def scaled(channels, percent):
    """The scaled width as a multiple of eight, as in the paper's own code."""
    return max(8, (channels * percent // 100 + 4) // 8 * 8)


class MobileNetV2(nn.Module):
    """`percent` is the paper's width multiplier in hundredths."""

    def __init__(self, percent, classes):
        super().__init__()
        inputs = scaled(32, percent)
        layers = convolution_norm(3, inputs, 3, 2, activation=nn.ReLU6)
        for expansion, channels, depth, stride in STAGES:
            for i in range(depth):
                outputs = scaled(channels, percent)
                layers.append(Inverted(inputs, outputs, stride if i == 0 else 1, expansion))
                inputs = outputs
        last = scaled(1280, percent)
        self.features = nn.Sequential(*layers,
                                      *convolution_norm(inputs, last, 1, activation=nn.ReLU6))
        self.classifier = nn.Sequential(nn.Dropout(0.2), nn.Linear(last, classes))

    def forward(self, images):
        return self.classifier(pooled(self.features(images)))


def make(case):
    return classification(case, MobileNetV2(case.percent, case.classes))
