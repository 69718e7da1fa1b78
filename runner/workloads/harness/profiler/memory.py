"""Finds what lies in memory before an iteration and marks what the iteration makes, as input for
blocks.py."""

from collections import Counter

import torch
from torch.autograd.profiler import record_function

from harness.living import living, parameters_of
from harness.process import forget_peak, peak_bytes

from .blocks import GRADIENT, SAVED
from .count import name_of
from .holders import holders_of

MOST_HOLDERS = 5  # that are named


def is_real(tensor):
    """Whether a tensor has memory; the compiler's own have none."""
    return type(tensor) in (torch.Tensor, torch.nn.Parameter)


def storages(tensors, device):
    """Bytes of the storages behind tensors on a device, by address."""
    sizes = {}
    for tensor in tensors:
        if is_real(tensor) and tensor.layout == torch.strided and tensor.device.type == device:
            storage = tensor.untyped_storage()
            if storage.size():
                sizes[storage.data_ptr()] = storage.size()
    return sizes


class Made:
    """The storages that were there when a case was made: its inputs, and what its model holds."""

    def __init__(self):
        from torch.multiprocessing.reductions import StorageWeakRef
        self.storages = [StorageWeakRef(tensor.untyped_storage())
                         for tensor in living(torch.Tensor)
                         if is_real(tensor) and tensor.layout == torch.strided]

    def split(self, tensors):
        """Those of these tensors, and the others, which came alive later. A reference keeps its
        number from being given to another storage."""
        known = {one.cdata for one in self.storages if not one.expired()}
        first, later = [], []
        for tensor in tensors:
            if is_real(tensor) and tensor.layout == torch.strided:
                (first if tensor.untyped_storage()._cdata in known else later).append(tensor)
        return first, later


class Kept:
    """What lies in memory before an iteration. What came alive after the case was `made` and is no
    part of a model or an optimizer was kept from an earlier iteration, which made it. The garbage
    collector finds modules, optimizers and tensors, since adapters' models are built in their own
    ways. `foreign(part)` returns tensors that belong to no Python object; of such a workload it is
    not known when a tensor was made, so all others are inputs."""

    def __init__(self, device, made, foreign=None):
        split = made.split if foreign is None else lambda tensors: (tensors, [])
        foreign = foreign or (lambda part: [])
        modules, optimizers = living(torch.nn.Module), living(torch.optim.Optimizer)
        self.trained = parameters_of(modules)
        self.trained += [parameter for optimizer in optimizers for group in optimizer.param_groups
                         for parameter in group["params"]]
        self.trained += foreign("parameters")
        self.trained = [parameter for parameter in self.trained if is_real(parameter)]
        for parameter in self.trained:
            parameter.grad = None  # a step makes them again, so that its peak holds them
        inputs, others = split(living(torch.Tensor))
        parts = {
            "parameters": self.trained,
            "buffers": [buffer for module in modules for buffer in module.buffers(recurse=False)],
            "optimizer_state": [
                value for optimizer in optimizers for state in optimizer.state.values()
                for value in state.values()], "inputs": inputs}
        self.parts, self.addresses = {}, set()
        for name, tensors in parts.items():
            self.parts[name] = self.take([*tensors, *foreign(name)], device)
        self.holders = self.held_by_name(others, device)
        self.parts["kept_from_earlier_iterations"] = self.take(others, device)

    def take(self, tensors, device):
        """Bytes of their storages that no part has yet."""
        sizes = {address: size for address, size in storages(tensors, device).items()
                 if address not in self.addresses}
        self.addresses |= set(sizes)
        return sum(sizes.values())

    def held_by_name(self, tensors, device):
        """Storages that are in no part yet, by who holds them; those of most bytes."""
        others = [tensor for tensor in tensors
                  if set(storages([tensor], device)) - self.addresses]
        held = {holder.name: {"bytes": sum(storages(some, device).values()), "tensors": len(some),
                              "shape": usual_shape(some), "place": holder.place}
                for holder, some in holders_of(others)}
        return dict(sorted(held.items(), key=lambda one: -one[1]["bytes"])[:MOST_HOLDERS])


def usual_shape(tensors):
    """That of most of them, as "64x3x7x7 fp32"."""
    shape, dtype = Counter((tuple(one.shape), one.dtype) for one in tensors).most_common(1)[0][0]
    return f"{'x'.join(map(str, shape)) or 'scalar'} {name_of(dtype)}"


def beside_kept(step, synchronize, device, made):
    """Bytes at the peak of a plain iteration, less the tensors that lay there before: of the whole
    process, or on a GPU of all that its allocator gave out."""
    alive = sum(Kept(device, made, getattr(step, "kept", None)).parts.values())
    if device == "cuda":
        torch.cuda.reset_peak_memory_stats()
    else:
        forget_peak()
    step()
    if synchronize:
        synchronize()
    return (torch.cuda.max_memory_allocated() if device == "cuda" else peak_bytes()) - alive


def watch_gradients(parameters):
    """Marks each gradient when it is accumulated. Returns the handles that end this."""
    def mark(parameter):
        with record_function(f"{GRADIENT}{parameter.grad.untyped_storage().data_ptr()}"):
            pass
    unique = {id(parameter): parameter for parameter in parameters if parameter.requires_grad}
    return [parameter.register_post_accumulate_grad_hook(mark) for parameter in unique.values()]


def watch_saved():
    """A context that marks each tensor saved for the backward pass."""
    def pack(tensor):
        if is_real(tensor) and tensor.layout == torch.strided:
            with record_function(f"{SAVED}{tensor.untyped_storage().data_ptr()}"):
                pass
        return tensor
    return torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor)
