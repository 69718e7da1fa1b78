"""Finds what models in this process hold, by the garbage collector: adapters build theirs in
different ways."""

import gc

import torch


def living(kind):
    gc.collect()
    return [thing for thing in gc.get_objects() if issubclass(type(thing), kind)]


def parameters_of(modules):
    """The parameters of these modules, each once. `module.parameters` is not used: TorchBench's
    maml redefines it."""
    return list({
        id(parameter): parameter
        for module in modules
        for _, parameter in torch.nn.Module.named_parameters(module, recurse=False)}.values())
