"""DLRM (Naumov et al., 2019): recommendation. Embedding bags, pairwise interaction, small MLPs."""

import torch
from torch import nn

from blocks.perceptron import perceptron


class Dlrm(nn.Module):
    def __init__(self, case):
        super().__init__()
        self.bottom = perceptron(case.dense, 256, 128, case.width).append(nn.ReLU())
        self.tables = nn.ModuleList(
            nn.EmbeddingBag(case.rows, case.width, mode="sum") for _ in range(case.tables))
        features = case.tables + 1
        self.top = perceptron(case.width + features * (features - 1) // 2, 256, 128,
                              1).append(nn.Sigmoid())
        row, column = torch.tril_indices(features, features, offset=-1)
        self.register_buffer("row", row, persistent=False)
        self.register_buffer("column", column, persistent=False)

    def forward(self, dense, sparse, offsets):
        dense = self.bottom(dense)
        bags = [table(sparse[i], offsets) for i, table in enumerate(self.tables)]
        features = torch.stack([dense, *bags], dim=1)
        interactions = torch.bmm(features, features.transpose(1, 2))
        pairs = interactions[:, self.row, self.column]
        return self.top(torch.cat([dense, pairs], dim=1))


def make(case):
    model = case.ready(Dlrm(case))
    dense = case.uniform("dense", case.batch, case.dense)
    sparse = case.integers("sparse", case.tables, case.batch * case.lookups, high=case.rows)
    offsets = torch.arange(0, case.batch * case.lookups, case.lookups, device=case.device)
    return case.evaluation(model, dense, sparse, offsets)
