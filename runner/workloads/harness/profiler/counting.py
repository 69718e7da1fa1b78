"""Counts the work of each ATen call in one iteration: floating-point operations, and the bytes that
it must read and write at least. Both follow from the shapes and types of its arguments and
results."""

import torch
from torch.autograd.profiler import record_function
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from . import flops
from .charging import ALLOCATES, CALL
from .count import Count, name_of

# These read as many rows as they return, not the whole table.
GATHERS = {"embedding", "index_select", "gather", "index"}


class Scale(TorchDispatchMode):
    """Marks every call, so that a profiler shows which operator behind the call does its work.
    Counts the calls of the first iteration."""

    def __init__(self, device):
        super().__init__()
        self.device = device
        self.iteration = 0
        self.counts = []
        self.products = []  # (operator, type, dimensions, flops) of matrix products

    @classmethod
    def _should_skip_dynamo(cls):
        """Without this, torch imports its whole compiler at the first call, which takes two
        seconds."""
        return False

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if func.namespace != "aten":
            return func(*args, **kwargs)
        if not has_kernel(func, self.device):  # inference mode passes composite operators whole
            with self:
                parts = func.decompose(*args, **kwargs)
            if parts is not NotImplemented:
                return parts
        with record_function(
                f"{CALL}{self.iteration}:{len(self.counts)}:{func.overloadpacket.__name__}"):
            out = func(*args, **kwargs)
        if self.iteration == 0:
            self.weigh(func, args, kwargs, out)
        return out

    def weigh(self, func, args, kwargs, out):
        given = [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, torch.Tensor)]
        if is_view(func):
            self.counts.append(Count())
            return
        number = flops.count(func, given, args, kwargs, out)
        self.counts.append(Count(number or 0, moved(func, args, given, out), int(number is None),
                                 types_of(given, out)))
        if (dimensions := product_dimensions(func, args)) and number:
            self.products.append(
                (str(func.overloadpacket), name_of(given[0].dtype), dimensions, number))


def has_kernel(func, device):
    """Whether an operator has a kernel of its own on the device."""
    return torch._C._dispatch_has_kernel_for_dispatch_key(func.name(), device.upper())


def is_view(func):
    returned = func._schema.returns
    return bool(returned) and all(one.alias_info is not None and not one.alias_info.is_write
                                  for one in returned)


def extent(tensor):
    """Bytes of memory behind a tensor; elements repeated by a stride of 0 count once."""
    if tensor.layout != torch.strided:
        return tensor.numel() * tensor.element_size()
    number = 0 if tensor.numel() == 0 else 1
    for size, stride in zip(tensor.shape, tensor.stride()):
        number *= size if stride != 0 else 1
    return number * tensor.element_size()


def moved(func, args, given, out):
    name = func.overloadpacket.__name__
    if name in ALLOCATES:
        return 0
    returned = [leaf for leaf in tree_leaves(out) if isinstance(leaf, torch.Tensor)]
    written = sum(extent(tensor) for tensor in returned)
    if name in GATHERS:
        return 2 * written + sum(extent(tensor) for tensor in given[1:])
    if name.startswith("_embedding_bag") and "backward" not in name:
        rows = given[1].numel() * given[0].size(1) * given[0].element_size()
        return rows + sum(extent(tensor) for tensor in given[1:]) + extent(returned[0])
    if name in ("copy_", "fill_", "zero_"):  # the old content is not read
        given = given[1:]
    elif not returned:  # _foreach_..._ writes its first list in place
        written = sum(extent(tensor) for tensor in given[:flops.first_list(args)])
    different = {(tensor.data_ptr(), tensor.shape): tensor for tensor in given
                 if tensor.layout == torch.strided}
    return written + sum(extent(tensor) for tensor in different.values())


def types_of(given, out):
    sizes = {}
    for tensor in [*given, *(leaf for leaf in tree_leaves(out) if isinstance(leaf, torch.Tensor))]:
        if tensor.is_floating_point():
            sizes[name_of(tensor.dtype)] = sizes.get(name_of(tensor.dtype), 0) + extent(tensor)
    return sizes


def product_dimensions(func, args):
    """(m, n, k) of a matrix product, else None."""
    at = {"mm": 0, "bmm": 0, "addmm": 1, "baddbmm": 1,
          "_int_mm": 0}.get(func.overloadpacket.__name__)
    if at is None:
        return None
    first, second = args[at], args[at + 1]
    return first.size(-2), second.size(-1), first.size(-1)
