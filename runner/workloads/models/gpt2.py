"""GPT-2 (Radford et al., 2019): language. Causal attention, norm before each sum, the embedding as
its own head. `eval` writes tokens after a prompt, the most probable one each time, with a cache of
keys and values."""

import functools

import torch
from torch import nn
from torch.nn import functional

from blocks.attention import Cache, Layer, adamw, causal, vocabulary_loss


class Gpt2(nn.Module):
    def __init__(self, case, length):
        super().__init__()
        self.tokens = nn.Embedding(case.vocabulary, case.width)
        self.positions = nn.Embedding(length, case.width)
        self.layers = nn.ModuleList(Layer(case.width, case.heads, 4 * case.width, first=True,
                                          activation=functools.partial(nn.GELU, "tanh"))
                                    for _ in range(case.layers))
        self.norm = nn.LayerNorm(case.width)

    def forward(self, tokens, caches=None):
        """The last layer's output. With caches, `tokens` follow those of the caches."""
        caches = caches or [None] * len(self.layers)
        begin, count = caches[0].length() if caches[0] else 0, tokens.size(1)
        x = self.tokens(tokens) + self.positions(
            torch.arange(begin, begin + count, device=tokens.device))
        offset = causal(count, tokens.device) if count > 1 else None
        for layer, cache in zip(self.layers, caches):
            x = layer(x, offset, cache)
        return self.norm(x)

    def logits(self, x):
        return functional.linear(x, self.tokens.weight)

    def write(self, tokens, count):
        """The logits of `count` tokens after a prompt."""
        caches = [Cache() for _ in self.layers]
        written = []
        for _ in range(count):
            written.append(self.logits(self(tokens, caches)[:, -1:]))
            tokens = written[-1].argmax(-1)
        return torch.cat(written, 1)


def make(case):
    length = case.length + (case.written if case.task == "eval" else 0)
    model = case.ready(Gpt2(case, length))
    tokens = case.integers("tokens", case.batch, case.length, high=case.vocabulary)
    if case.task == "eval":
        return case.evaluation(model.write, tokens, case.written)
    return case.training(
        model, adamw(model.parameters()),
        lambda: vocabulary_loss(model.logits(model(tokens[:, :-1])), tokens[:, 1:]))
