"""Counts the work of each ATen call in one iteration: floating-point operations, and the bytes that
it must read and write at least. Both follow from the shapes and types of its arguments and
results."""

import torch
from torch.autograd.profiler import record_function
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from . import flops, gpu
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
        self.products = []  # matrix products and convolutions

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
                                 types_of(given, out), flops.kind(func)))
        if number and (product := product_of(func, args, given, number)):
            self.products.append(product)


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


def product_of(func, args, given, number):
    """A matrix product or a convolution as a gpu.Product, else None."""
    name = func.overloadpacket.__name__
    operator = str(func.overloadpacket)
    if name in ("convolution", "_convolution", "cudnn_convolution", "convolution_backward"):
        image, weight = args[1:3] if name == "convolution_backward" else args[:2]
        out, inside = weight.size(0), weight[0].numel()
        rows = number // (2 * out * inside) if out * inside else 0
        packed = image.dim() == 4 and image.is_contiguous(memory_format=torch.channels_last)
        return gpu.Product(operator, product_type(image, torch.backends.cudnn), (rows, out, inside),
                           number, (weight.size(1), out), "NHWC" if packed else "NCHW")
    at = {"mm": 0, "bmm": 0, "addmm": 1, "baddbmm": 1, "_int_mm": 0}.get(name)
    if at is None:
        return None
    first, second = args[at], args[at + 1]
    return gpu.Product(operator, product_type(given[0], torch.backends.cuda.matmul),
                       (first.size(-2), second.size(-1), first.size(-1)), number)


def product_type(tensor, backend):
    """The type that the device multiplies in."""
    name = name_of(tensor.dtype)
    return "tf32" if name == "fp32" and tensor.is_cuda and backend.allow_tf32 else name
