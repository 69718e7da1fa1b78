"""What lies in memory before an iteration, and marks on what the iteration makes: what blocks.py divides."""

import torch
from torch.autograd.profiler import record_function

from harness.living import living, parameters_of

from .blocks import GRADIENT, SAVED


def is_real(tensor):
    """Not one of the compiler's, which have no memory."""
    return type(tensor) in (torch.Tensor, torch.nn.Parameter)


def storages(tensors, device):
    """Bytes by address of the storages behind tensors on a device."""
    sizes = {}
    for tensor in tensors:
        if is_real(tensor) and tensor.layout == torch.strided and tensor.device.type == device:
            storage = tensor.untyped_storage()
            if storage.size():
                sizes[storage.data_ptr()] = storage.size()
    return sizes


class Kept:
    """What lies in memory before an iteration: found by asking the garbage collector for modules,
    optimizers and tensors, since adapters' models are built in ways of their own; `foreign(part)` are the tensors of
    what is no Python object."""

    def __init__(self, device, foreign=lambda part: []):
        modules, optimizers = living(torch.nn.Module), living(torch.optim.Optimizer)
        self.trained = parameters_of(modules)
        self.trained += [parameter for optimizer in optimizers for group in optimizer.param_groups
                         for parameter in group["params"]]
        self.trained += foreign("parameters")
        self.trained = [parameter for parameter in self.trained if is_real(parameter)]
        for parameter in self.trained:
            parameter.grad = None  # a step makes them anew; its peak is to show them as taken by it
        parts = {"parameters": self.trained,
                 "buffers": [buffer for module in modules for buffer in module.buffers(recurse=False)],
                 "optimizer_state": [value for optimizer in optimizers for state in optimizer.state.values()
                                     for value in state.values()],
                 "inputs": living(torch.Tensor)}
        self.parts, self.addresses = {}, set()
        for name, tensors in parts.items():
            sizes = storages([*tensors, *foreign(name)], device)
            self.parts[name] = sum(size for address, size in sizes.items() if address not in self.addresses)
            self.addresses |= set(sizes)


def watch_gradients(parameters):
    """Marks each gradient as it is accumulated; returns the handles that end it."""
    def mark(parameter):
        with record_function(f"{GRADIENT}{parameter.grad.untyped_storage().data_ptr()}"):
            pass
    unique = {id(parameter): parameter for parameter in parameters if parameter.requires_grad}
    return [parameter.register_post_accumulate_grad_hook(mark) for parameter in unique.values()]


def watch_saved():
    """While entered, marks each tensor that is saved for the backward pass."""
    def pack(tensor):
        if is_real(tensor) and tensor.layout == torch.strided:
            with record_function(f"{SAVED}{tensor.untyped_storage().data_ptr()}"):
                pass
        return tensor
    return torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor)
