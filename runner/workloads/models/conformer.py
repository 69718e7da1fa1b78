"""Conformer (Gulati et al., 2020): speech. Each layer has attention and depthwise convolution over
time; training uses connectionist temporal classification. Positions come from the convolutions
only."""

import torch
from torch import nn
from torch.nn import functional

from blocks.attention import Attention, adamw
from blocks.perceptron import perceptron


class Convolution(nn.Module):
    def __init__(self, width, kernel):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.layers = nn.Sequential(
            nn.Conv1d(width, 2 * width, 1), nn.GLU(1),
            nn.Conv1d(width, width, kernel, padding=kernel // 2, groups=width),
            nn.BatchNorm1d(width), nn.SiLU(), nn.Conv1d(width, width, 1))

    def forward(self, x):
        return self.layers(self.norm(x).transpose(1, 2)).transpose(1, 2)


class ConformerLayer(nn.Module):
    def __init__(self, case):
        super().__init__()
        width = case.width
        self.before_norm = nn.LayerNorm(width)
        self.before = perceptron(width, 4 * width, width, activation=nn.SiLU)
        self.attention_norm = nn.LayerNorm(width)
        self.attention = Attention(width, case.heads)
        self.convolution = Convolution(width, case.kernel)
        self.after_norm = nn.LayerNorm(width)
        self.after = perceptron(width, 4 * width, width, activation=nn.SiLU)
        self.norm = nn.LayerNorm(width)

    def forward(self, x):
        x = x + 0.5 * self.before(self.before_norm(x))
        x = x + self.attention(self.attention_norm(x))
        x = x + self.convolution(x)
        return self.norm(x + 0.5 * self.after(self.after_norm(x)))


class Conformer(nn.Module):
    def __init__(self, case):
        super().__init__()
        self.subsampling = nn.Sequential(nn.Conv2d(1, case.width, 3, 2, 1), nn.ReLU(),
                                         nn.Conv2d(case.width, case.width, 3, 2, 1), nn.ReLU())
        self.embedding = nn.Linear(case.width * (case.bands // 4), case.width)
        self.layers = nn.Sequential(*(ConformerLayer(case) for _ in range(case.layers)))
        self.head = nn.Linear(case.width, case.symbols)

    def forward(self, frames):
        """(batch, frames, bands) to log-probabilities of each symbol at a quarter of the frames."""
        x = self.subsampling(frames[:, None]).transpose(1, 2).flatten(2)
        return functional.log_softmax(self.head(self.layers(self.embedding(x))), -1)


def make(case):
    model = case.ready(Conformer(case))
    frames = case.uniform("frames", case.batch, case.frames, case.bands)
    if case.task == "eval":
        return case.evaluation(model, frames)
    # A quarter of the frames must hold the text and a blank (symbol 0) between any two equal
    # symbols.
    length = case.frames // 4
    text = 1 + case.integers("text", case.batch, length // 2, high=case.symbols - 1)
    heard, said = [length] * case.batch, [length // 2] * case.batch
    return case.training(
        model, adamw(model.parameters()),
        lambda: functional.ctc_loss(model(frames).transpose(0, 1), text, heard, said))
