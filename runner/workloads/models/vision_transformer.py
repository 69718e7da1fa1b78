"""Vision transformer (Dosovitskiy et al., 2021): vision classification. Patches as tokens,
PyTorch's fused attention, AdamW."""

import torch
from torch import nn

from blocks.attention import Layer, adamw
from blocks.vision import classification


class VisionTransformer(nn.Module):
    def __init__(self, case):
        super().__init__()
        self.patches = nn.Conv2d(3, case.width, case.patch, case.patch)
        self.token = nn.Parameter(torch.empty(1, 1, case.width))
        self.positions = nn.Parameter(torch.empty(1, (case.image // case.patch)**2 + 1, case.width))
        self.layers = nn.Sequential(*(Layer(case.width, case.heads, 4
                                            * case.width, first=True, fused=True)
                                      for _ in range(case.layers)))
        self.norm = nn.LayerNorm(case.width)
        self.head = nn.Linear(case.width, case.classes)

    def forward(self, images):
        patches = self.patches(images).flatten(2).transpose(1, 2)
        x = torch.cat([self.token.expand(images.size(0), -1, -1), patches], 1) + self.positions
        return self.head(self.norm(self.layers(x))[:, 0])


def make(case):
    return classification(case, VisionTransformer(case), adamw)
