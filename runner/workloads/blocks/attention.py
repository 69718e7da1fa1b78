"""What transformers share: attention, the layer made of it, and the loss over a vocabulary."""

import torch
from torch import nn
from torch.nn import functional

from blocks.perceptron import perceptron


class Cache:
    """The keys and values of earlier tokens, in one layer of a decoder."""

    keys = values = None

    def extend(self, keys, values):
        if self.keys is not None:
            keys, values = torch.cat([self.keys, keys], 2), torch.cat([self.values, values], 2)
        self.keys, self.values = keys, values
        return keys, values

    def length(self):
        return 0 if self.keys is None else self.keys.size(2)


class Attention(nn.Module):
    """Multi-head attention as matrix products and a softmax, a form that LibTorch 1.13 and 2.13
    both have. `fused` uses PyTorch's own kernel if there is one (from 2.0 on)."""

    def __init__(self, width, heads, bias=True, fused=False):
        super().__init__()
        self.heads = heads
        self.fused = fused and hasattr(functional, "scaled_dot_product_attention")
        self.query = nn.Linear(width, width, bias)
        self.key = nn.Linear(width, width, bias)
        self.value = nn.Linear(width, width, bias)
        self.out = nn.Linear(width, width, bias)

    def forward(self, x, memory=None, offset=None, cache=None):
        """Attention of `x` to `memory`, or to itself; both (batch, length, width). `offset` is
        added to the scores (batch, heads, length of x, length of memory)."""
        memory = x if memory is None else memory
        queries, keys, values = self.split(self.query(x)), self.split(self.key(memory)), self.split(
            self.value(memory))
        if cache is not None:
            keys, values = cache.extend(keys, values)
        if self.fused:
            mixed = functional.scaled_dot_product_attention(queries, keys, values)
        else:
            scores = torch.matmul(queries * queries.size(3)**-0.5, keys.transpose(2, 3))
            scores = scores if offset is None else scores + offset
            mixed = torch.matmul(torch.softmax(scores, -1), values)
        return self.out(mixed.transpose(1, 2).flatten(2))

    def split(self, x):
        return x.view(x.size(0), x.size(1), self.heads, -1).transpose(1, 2)


class Layer(nn.Module):
    """Attention, then a feed-forward network, each added to what came in. Layer norm comes before
    each (`first`, as in GPT-2 and the vision transformer) or after each sum (as in BERT)."""

    def __init__(self, width, heads, inner, first, activation=nn.GELU, fused=False):
        super().__init__()
        self.first = first
        self.attention = Attention(width, heads, fused=fused)
        self.attention_norm = nn.LayerNorm(width)
        self.network = perceptron(width, inner, width, activation=activation)
        self.network_norm = nn.LayerNorm(width)

    def forward(self, x, offset=None, cache=None):
        if self.first:
            x = x + self.attention(self.attention_norm(x), offset=offset, cache=cache)
            return x + self.network(self.network_norm(x))
        x = self.attention_norm(x + self.attention(x, offset=offset, cache=cache))
        return self.network_norm(x + self.network(x))


def causal(length, device):
    """The offset of scores that hides later tokens from each token."""
    return torch.full((length, length), float("-inf"), device=device).triu(1)


def adamw(parameters):
    return torch.optim.AdamW(parameters, lr=1e-4)


def vocabulary_loss(logits, labels):
    """Cross entropy of (batch, length, vocabulary) with (batch, length); labels of -100 do not
    count."""
    return functional.cross_entropy(logits.flatten(0, 1), labels.flatten())
