"""The counts of an operator in one iteration."""

from dataclasses import dataclass, field

import torch


@dataclass
class Count:
    flops: int = 0
    bytes: int = 0
    unknown: int = 0  # calls with unknown floating-point operations
    dtypes: dict = field(default_factory=dict)  # bytes by type
    kind: str | None = None  # "contraction", "normalisation", "elementwise" or "movement"

    def add(self, other):
        if other.flops + other.bytes > self.flops + self.bytes:
            self.kind = other.kind or self.kind
        self.flops += other.flops
        self.bytes += other.bytes
        self.unknown += other.unknown
        for name, size in other.dtypes.items():
            self.dtypes[name] = self.dtypes.get(name, 0) + size

    def dtype(self):
        """The floating-point type of most of the bytes."""
        return max(self.dtypes, key=self.dtypes.get, default=None)


def name_of(dtype):
    names = {
        torch.float32: "fp32", torch.bfloat16: "bf16", torch.float16: "fp16", torch.float64: "fp64",
        torch.int8: "int8"}
    return names.get(dtype, str(dtype).removeprefix("torch."))
