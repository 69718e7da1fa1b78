"""The spline convolution over the edges of a random graph."""

import torch
from torch_spline_conv import spline_conv

NODES, EDGES, KERNEL, CHANNELS = 256, 1024, 5, 16


def make(case):
    x = case.uniform("x", NODES, CHANNELS)
    weight = case.uniform("weight", KERNEL * KERNEL, CHANNELS, CHANNELS)
    edges = case.integers("edges", 2, EDGES, high=NODES)
    pseudo = case.uniform("pseudo", EDGES, 2).abs()  # coordinates from 0 to 1
    kernel = torch.tensor([KERNEL, KERNEL])
    is_open = torch.ones(2, dtype=torch.uint8)

    def step():
        with torch.no_grad():
            return spline_conv(x, edges, pseudo, weight, kernel, is_open)
    return step
