"""Generates the parameters and inputs of the twins, the same numbers in Python and in C++.

Each tensor has a stream of its own, named by its label. So neither torch's own generator matters
nor the order in which a model creates its parameters. The generator is SplitMix64 (Steele, Lea,
Flood 2014): element i of stream s is mix(s + (i + 1) * golden). """

import math

import torch

_GOLDEN = 0x9E3779B97F4A7C15
_MASK = (1 << 64) - 1
_CHUNK = 1 << 15  # elements at a time, so that the 64-bit temporaries do not show in peak memory


def _signed(value):
    value &= _MASK
    return value - (1 << 64) if value >> 63 else value


def _shifted(x, bits):
    return (x >> bits) & ((1 << (64 - bits)) - 1)


def _mixed(x):
    x = (x ^ _shifted(x, 30)) * _signed(0xBF58476D1CE4E5B9)
    x = (x ^ _shifted(x, 27)) * _signed(0x94D049BB133111EB)
    return x ^ _shifted(x, 31)


def _stream(seed, label):
    """FNV-1a of the label, moved by the seed."""
    hashed = 0xCBF29CE484222325
    for byte in label.encode():
        hashed = ((hashed ^ byte) * 0x100000001B3) & _MASK
    return hashed ^ ((seed * _GOLDEN) & _MASK)


def _fill(target, seed, label, convert):
    flat = target.view(-1)
    stream = _stream(seed, label)
    for begin in range(0, flat.numel(), _CHUNK):
        end = min(begin + _CHUNK, flat.numel())
        index = torch.arange(begin + 1, end + 1, dtype=torch.int64)
        flat[begin:end] = convert(_mixed(index * _signed(_GOLDEN) + _signed(stream)))


def uniform(seed, label, shape, bound=1.0):
    """float32 in [-bound, bound)."""
    target = torch.empty(shape, dtype=torch.float32)
    fill_uniform(target, seed, label, bound)
    return target


def fill_uniform(target, seed, label, bound=1.0):
    # Uses 24 bits, so that every operation but the last is exact in float32.
    scale = torch.tensor(bound, dtype=torch.float32)
    _fill(target, seed, label,
          lambda bits: (_shifted(bits, 40) - (1 << 23)).to(torch.float32) * 2.0**-23 * scale)


def integers(seed, label, shape, high):
    """int64 in [0, high)."""
    target = torch.empty(shape, dtype=torch.int64)
    _fill(target, seed, label, lambda bits: _shifted(bits, 33) % high)
    return target


@torch.no_grad()
def initialise(module, seed):
    """Sets parameters by name. Those with two or more dimensions are uniform with variance 1 /
    fan-in. Those with one dimension are 0 for biases and 1 for scales. Scalars stay."""
    for name, parameter in module.named_parameters():
        if parameter.dim() >= 2:
            fan_in = parameter.numel() // parameter.size(0)
            fill_uniform(parameter, seed, name, math.sqrt(3.0 / fan_in))
        elif parameter.dim() == 1:
            parameter.fill_(0.0 if "bias" in name else 1.0)
    return module
