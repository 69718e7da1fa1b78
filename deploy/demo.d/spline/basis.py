"""The B-spline bases of many edges, without the convolution."""

import torch
from torch_spline_conv import spline_basis

EDGES, KERNEL = 40000, 5


def make(case):
    pseudo = case.uniform("pseudo", EDGES, 2).abs()  # coordinates from 0 to 1
    kernel = torch.tensor([KERNEL, KERNEL])
    is_open = torch.ones(2, dtype=torch.uint8)

    def step():
        return spline_basis(pseudo, kernel, is_open, 1)[0]
    return step
