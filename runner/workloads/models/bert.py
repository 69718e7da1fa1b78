"""BERT (Devlin et al., 2019): language. Bidirectional attention with padding, norm after each sum,
a vocabulary tied to the embedding. `train` recovers masked tokens."""

import torch
from torch import nn
from torch.nn import functional

from blocks.attention import Layer, adamw, vocabulary_loss


class Bert(nn.Module):
    def __init__(self, case):
        super().__init__()
        self.tokens = nn.Embedding(case.vocabulary, case.width)
        self.positions = nn.Embedding(case.length, case.width)
        self.segments = nn.Embedding(2, case.width)
        self.norm = nn.LayerNorm(case.width)
        self.layers = nn.ModuleList(Layer(case.width, case.heads, 4 * case.width, first=False)
                                    for _ in range(case.layers))
        self.transform = nn.Sequential(nn.Linear(case.width, case.width), nn.GELU(),
                                       nn.LayerNorm(case.width))
        self.bias = nn.Parameter(torch.empty(case.vocabulary))

    def forward(self, tokens, segments, present):
        """Takes token ids, the sentence of each, and which of them are not padding."""
        places = torch.arange(tokens.size(1), device=tokens.device)
        x = self.norm(self.tokens(tokens) + self.positions(places) + self.segments(segments))
        offset = torch.zeros_like(present, dtype=x.dtype).masked_fill(~present,
                                                                      float("-inf"))[:, None, None]
        for layer in self.layers:
            x = layer(x, offset)
        return functional.linear(self.transform(x), self.tokens.weight, self.bias)


def make(case):
    model = case.ready(Bert(case))
    tokens = case.integers("tokens", case.batch, case.length, high=case.vocabulary)
    places = torch.arange(case.length, device=case.device).expand(case.batch, -1)
    segments = (places >= case.length // 2).long()
    lengths = case.length // 2 + 1 + case.integers("lengths", case.batch, 1, high=case.length // 2)
    inputs = tokens, segments, places < lengths
    if case.task == "eval":
        return case.evaluation(model, *inputs)
    masked = (case.integers("masked", case.batch, case.length, high=7) == 0) & inputs[2]
    labels = tokens.masked_fill(~masked, -100)
    inputs = tokens.masked_fill(masked, 0), *inputs[1:]
    return case.training(model, adamw(model.parameters()),
                         lambda: vocabulary_loss(model(*inputs), labels))
