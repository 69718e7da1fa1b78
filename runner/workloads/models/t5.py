"""T5 (Raffel et al., 2020): language. Encoder and decoder with attention across, a learned bias by
relative position, root mean square norm."""

import math

import torch
from torch import nn
from torch.nn import functional

from blocks.attention import Attention, adamw, causal, vocabulary_loss
from blocks.perceptron import perceptron


class RootMeanSquareNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(width))

    def forward(self, x):
        return self.weight * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6))


class RelativePositions(nn.Module):
    """An offset of the scores for each head and distance. Half of the buckets hold one distance
    each, the others ranges that grow logarithmically. An encoder has as many again for later
    tokens."""

    def __init__(self, case, both_ways):
        super().__init__()
        self.both_ways, self.buckets, self.furthest = both_ways, case.buckets, case.furthest
        self.table = nn.Embedding(case.buckets, case.heads)

    def forward(self, length, device):
        places = torch.arange(length, device=device)
        return self.table(self.bucket(places[None] - places[:, None])).permute(2, 0, 1)

    def bucket(self, ahead):
        buckets = self.buckets // 2 if self.both_ways else self.buckets
        first = (ahead > 0).long() * buckets if self.both_ways else 0
        distance = ahead.abs() if self.both_ways else (-ahead).clamp(min=0)
        exact = buckets // 2
        grown = torch.log(distance.clamp(min=1) / exact) * (
            (buckets - exact) / math.log(self.furthest / exact))
        return first + torch.where(distance < exact, distance,
                                   (exact + grown.long()).clamp(max=buckets - 1))


class T5Layer(nn.Module):
    def __init__(self, case, decodes):
        super().__init__()
        # T5 does not scale the scores, since its weights begin smaller than ours.
        self.attention = Attention(case.width, case.heads, bias=False)
        self.attention_norm = RootMeanSquareNorm(case.width)
        self.across = Attention(case.width, case.heads, bias=False) if decodes else None
        self.across_norm = RootMeanSquareNorm(case.width) if decodes else None
        self.network = perceptron(case.width, 4 * case.width, case.width, bias=False)
        self.network_norm = RootMeanSquareNorm(case.width)

    def forward(self, x, offset, memory):
        x = x + self.attention(self.attention_norm(x), offset=offset)
        if memory is not None:
            x = x + self.across(self.across_norm(x), memory)
        return x + self.network(self.network_norm(x))


class Stack(nn.Module):
    def __init__(self, case, decodes):
        super().__init__()
        self.decodes = decodes
        self.relative = RelativePositions(case, both_ways=not decodes)
        self.layers = nn.ModuleList(T5Layer(case, decodes) for _ in range(case.layers))
        self.norm = RootMeanSquareNorm(case.width)

    def forward(self, x, memory=None):
        offset = self.relative(x.size(1), x.device)
        if self.decodes:
            offset = offset + causal(x.size(1), x.device)
        for layer in self.layers:
            x = layer(x, offset, memory)
        return self.norm(x)


class T5(nn.Module):
    def __init__(self, case):
        super().__init__()
        self.tokens = nn.Embedding(case.vocabulary, case.width)
        self.encoder = Stack(case, decodes=False)
        self.decoder = Stack(case, decodes=True)

    def forward(self, source, target):
        x = self.decoder(self.tokens(target), self.encoder(self.tokens(source)))
        return functional.linear(x * x.size(-1)**-0.5, self.tokens.weight)


def make(case):
    model = case.ready(T5(case))
    source = case.integers("source", case.batch, case.length, high=case.vocabulary)
    target = case.integers("target", case.batch, case.length // 2, high=case.vocabulary)
    if case.task == "eval":
        return case.evaluation(model, source, target)
    return case.training(model, adamw(model.parameters()),
                         lambda: vocabulary_loss(model(source, target[:, :-1]), target[:, 1:]))
