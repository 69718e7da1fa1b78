"""A transformer encoder (Vaswani et al., 2017) over token ids: attention, layer norm, embedding."""

import torch
from torch import nn
from torch.nn import functional


class TransformerEncoder(nn.Module):
    def __init__(self, case):
        super().__init__()
        self.tokens = nn.Embedding(case.vocabulary, case.width)
        self.positions = nn.Embedding(case.length, case.width)
        # Without dropout, since the twins' attention would draw its masks in another order.
        layer = nn.TransformerEncoderLayer(case.width, case.heads, case.feedforward, dropout=0.0,
                                           activation="gelu", batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, case.layers)
        self.head = nn.Linear(case.width, case.vocabulary)

    def forward(self, tokens):
        positions = torch.arange(tokens.size(1), device=tokens.device)
        return self.head(self.encoder(self.tokens(tokens) + self.positions(positions)))


def make(case):
    model = case.ready(TransformerEncoder(case))
    tokens = case.integers("tokens", case.batch, case.length, high=case.vocabulary)
    if case.task == "eval":
        return case.evaluation(model, tokens)
    labels = case.integers("labels", case.batch * case.length, high=case.vocabulary)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)

    def loss():
        return functional.cross_entropy(model(tokens).flatten(0, 1), labels)

    return case.training(model, optimizer, loss)
