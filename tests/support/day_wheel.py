"""A wheel of a few files that look like PyTorch's, out of which the demo can make a day."""

import commits
import culprits
import native
import wheel
import wheel_file

CHECKS = '''# mypy: allow-untyped-defs
import torch


class Distribution:
    def _extended_shape(self, sample_shape: _size = torch.Size()) -> torch.Size:
        if not isinstance(sample_shape, torch.Size):
            return 1

    def _validate_sample(self, value):
        if not isinstance(value, torch.Tensor):
            raise ValueError("The value argument to log_prob must be a Tensor")
'''
MEMORY = '''# mypy: allow-untyped-defs
import torch


class Optimizer:
    def zero_grad(self, set_to_none=True):
        with profiler():
            for group in self.param_groups:
                for p in group["params"]:
                    if p.grad is not None:
                        if set_to_none:
                            p.grad = None
'''
EMBEDDING = '''"""Functional interface."""
import torch


def embedding_bag(input, weight, offsets, mode_enum):
    ret, _, _, _ = torch.embedding_bag(
        weight,
    )
    return ret
'''
CONVOLUTION = '''
import torch


class Conv2d:
    def _conv_forward(self, input, weight, bias):
        return F.conv2d(
            input, weight, bias, self.stride, self.padding, self.dilation, self.groups
        )
'''
LINEAR = '''
import torch


class Linear:
    def forward(self, input):
        return F.linear(input, self.weight, self.bias)
'''
BAGS = '''
import torch


class EmbeddingBag:
    def forward(self, input, offsets=None):
        return F.embedding_bag(
            input,
            offsets,
        )
'''
DYNAMO = '''"""Utilities."""
import torch
'''
SEQUENTIAL = '''#pragma once

class SequentialImpl {
  ReturnType forward(InputTypes&&... inputs) {
    auto iterator = modules_.begin();
    auto input = iterator->any_forward(std::forward<InputTypes>(inputs)...);
  }
};
'''
BUSY = '''class Layer:
    def __init__(self, size):
        self.size = size

    def forward(self, values):
        """
        One step.
        """
        res = list()
        for i in range(0, n):
            res = res + [values[i]]
        return res
'''


def make(folder, version="2.13.0+cpu", local="+cpu", cuda=None, hip=None, xpu=None):
    """Writes it; `version` is what its files say, `local` what its file name and METADATA say
    behind the release. Returns its path."""
    built_for = {"cuda": cuda, "hip": hip, "xpu": xpu}
    said = "".join(f"{name}: Optional[str] = {value!r}\n" for name, value in built_for.items())
    files = {
        "torch/version.py": f"from typing import Optional\n\n__version__ = "
                            f"'{version}'\ngit_version = 'old'\n{said}",
        "torch/lib/libtorch.so": "native\n" * 99,
        native.DISTRIBUTION_FILE: CHECKS, native.OPTIMIZER_FILE: MEMORY,
        native.EMBEDDING_FILE: EMBEDDING, culprits.DYNAMO_FILE: DYNAMO,
        culprits.CONVOLUTION_FILE: CONVOLUTION, culprits.LINEAR_FILE: LINEAR,
        culprits.BAGS_FILE: BAGS,
        wheel.INSTALLED_HEADERS + culprits.SEQUENTIAL_HEADER: SEQUENTIAL,
        f"{wheel.INSTALLED_HEADERS}{native.HEADERS}torch/types.h": "#pragma once\n",
        commits.BROKEN_FILE: "import math\n\nimport torch\n",
        commits.REMOVED_FILE: "import time\n"}
    for number, (area, *_) in enumerate(commits.AREAS):
        files[f"{area}busy{number}.py"] = BUSY
    info = f"torch-2.13.0{local}.dist-info"
    files |= {
        f"{info}/METADATA": f"Name: torch\nVersion: 2.13.0{local}\n\nVersion: text\n",
        f"{info}/WHEEL": "Tag: x\n"}
    path = folder / f"torch-2.13.0{local}-cp311-cp311-manylinux_2_28_x86_64.whl"
    wheel_file.write(path, info, {name: text.encode() for name, text in files.items()})
    return str(path)
