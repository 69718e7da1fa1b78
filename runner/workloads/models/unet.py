"""U-Net (Ronneberger et al., 2015): segmentation. Down and up again with transposed convolutions,
joined across; large feature maps."""

import torch
from torch import nn
from torch.nn import functional

from blocks.vision import convolution_norm, sgd


def double(inputs, outputs):
    return nn.Sequential(*convolution_norm(inputs, outputs, 3),
                         *convolution_norm(outputs, outputs, 3))


class UNet(nn.Module):
    """The paper's `width` is 64 and its `depth` 4."""

    def __init__(self, width, depth, classes):
        super().__init__()
        widths = [width << i for i in range(depth + 1)]
        self.first = double(3, width)
        self.down = nn.ModuleList(double(above, below) for above, below in zip(widths, widths[1:]))
        self.up = nn.ModuleList(
            nn.ConvTranspose2d(below, above, 2, 2) for above, below in zip(widths, widths[1:]))
        self.join = nn.ModuleList(double(below, above) for above, below in zip(widths, widths[1:]))
        self.head = nn.Conv2d(width, classes, 1)

    def forward(self, x):
        levels = [self.first(x)]
        for down in self.down:
            levels.append(down(functional.max_pool2d(levels[-1], 2)))
        x = levels.pop()
        for up, join in zip(reversed(self.up), reversed(self.join)):
            x = join(torch.cat([levels.pop(), up(x)], 1))
        return self.head(x)


def make(case):
    model = case.ready(UNet(case.width, case.depth, case.classes))
    images = case.uniform("images", case.batch, 3, case.image, case.image)
    if case.task == "eval":
        return case.evaluation(model, images)
    labels = case.integers("labels", case.batch, case.image, case.image, high=case.classes)
    return case.training(model, sgd(model.parameters()),
                         lambda: functional.cross_entropy(model(images), labels))
