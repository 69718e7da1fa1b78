"""What models in this process hold, found by the garbage collector: adapters' models are built in ways of their own."""

import gc

import torch


def living(kind):
    gc.collect()
    return [thing for thing in gc.get_objects() if issubclass(type(thing), kind)]


def parameters_of(modules):
    """Their own, each once. Not by `module.parameters`: TorchBench's maml has a method of that name without arguments."""
    return list({id(parameter): parameter for module in modules
                 for _, parameter in torch.nn.Module.named_parameters(module, recurse=False)}.values())
