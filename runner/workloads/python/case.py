"""What a model's file is given: its sizes, inputs and parameters, and the usual kinds of step."""

import torch

import generator


class Case:
    """`sizes` are attributes: case.image. Inputs are made before and lie on the device."""

    def __init__(self, definition, seed):
        self.name = definition.name
        self.task = definition.task
        self.batch = definition.batch
        self.device = torch.device(definition.device)
        self.parameters = 0
        self._seed = seed
        for name, value in definition.sizes.items():
            setattr(self, name, value)

    def uniform(self, label, *shape, bound=1.0):
        return generator.uniform(self._seed, label, shape, bound).to(self.device)

    def integers(self, label, *shape, high):
        return generator.integers(self._seed, label, shape, high).to(self.device)

    def ready(self, module):
        """The module with its parameters set from the seed, on the device, in the task's mode."""
        generator.initialise(module, self._seed)
        self.parameters = sum(parameter.numel() for parameter in module.parameters())
        return module.to(self.device).train(self.task not in ("eval", "act"))

    def evaluation(self, module, *inputs):
        """A step that is one forward pass without gradients."""
        def step():
            with torch.no_grad():
                return module(*inputs)
        return step

    def training(self, module, optimizer, loss):
        """A step that is forward (`loss()`), backward and optimizer; it returns the loss."""
        def step():
            optimizer.zero_grad(set_to_none=True)
            value = loss()
            value.backward()
            optimizer.step()
            return value
        return step


def descend(optimizer, loss):
    """One step down a loss that has been computed, where a model has several optimizers."""
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()


def checksum_of(output):
    """The sum of the magnitudes: it neither cancels nor depends on the layout in memory."""
    return float(output.detach().double().abs().sum())
