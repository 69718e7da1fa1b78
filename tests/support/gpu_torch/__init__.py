"""A stand-in for PyTorch with one GPU: as much of it as Nightjar's harness uses, and two operators.
They compute nothing; gpu.py says how long their kernels take. Tests copy this folder into the
repository that they make wheels of."""
import math

from .version import __version__
from . import autograd, cuda, gpu, nn, optim, version

strided = "torch.strided"


class dtype:
    def __init__(self, name, itemsize):
        self.name, self.itemsize = name, itemsize

    def __str__(self):
        return "torch." + self.name


float16, bfloat16 = dtype("float16", 2), dtype("bfloat16", 2)
float32, float64, int8 = dtype("float32", 4), dtype("float64", 8), dtype("int8", 1)


class device:
    def __init__(self, kind):
        self.type = kind


class no_grad:
    def __enter__(self):
        pass

    def __exit__(self, *_):
        pass

    def __call__(self, function):
        return function


class Storage:
    """Memory of the device; given back with its last tensor."""

    def __init__(self, size):
        self._size, self._address = size, gpu.take(size)

    def __del__(self):
        gpu.give_back(self._address, self._size)

    def size(self):
        return self._size

    def data_ptr(self):
        return self._address

    @property
    def _cdata(self):
        return id(self)


class Tensor:
    """All elements have one value."""
    layout, dtype, device = strided, float32, device("cuda")

    def __init__(self, shape, value):
        self.shape, self.value = shape, value
        self._storage = Storage(math.prod(shape) * self.dtype.itemsize)

    def untyped_storage(self):
        return self._storage

    def data_ptr(self):
        return self._storage.data_ptr()

    def numel(self):
        return math.prod(self.shape)

    def detach(self):
        return self

    flatten = double = abs = detach

    def split(self, _):
        return [self]

    def sum(self):
        return self.value * self.numel()


nn.Parameter = type("Parameter", (Tensor,), {})


def ones(*shape, device):
    assert device.type == "cuda", "this stand-in has no operator on the CPU"
    return Tensor(shape, 1.0)


def mm(left, right):
    with gpu.operator("aten::mm", [left, right]):
        gpu.launch("ampere_sgemm_128x64_nn", 20_000)
        return Tensor((left.shape[0], right.shape[1]), left.shape[1] * left.value * right.value)


def add(left, right):
    with gpu.operator("aten::add", [left, right]):
        gpu.launch("void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add"
                   "<float>, std::array<char*, 3ul> >", 5_000)
        return Tensor(left.shape, left.value + right.value)


def manual_seed(_):
    pass


set_num_threads = set_num_interop_threads = set_flush_denormal = manual_seed
