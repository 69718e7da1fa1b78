"""What a model's file uses: its sizes, inputs and parameters, and the usual kinds of step."""

import difflib
import random
import sys

import torch

from harness import generator, precision, raised
from harness.failure import Faulty, Unavailable

DTYPES = {
    "fp32": torch.float32, "tf32": torch.float32, "amp": torch.float32, "int8": torch.float32,
    "bf16": torch.bfloat16, "fp16": torch.float16, "fp64": torch.float64}
# The arguments of torch.compile for each backend; eager is not compiled.
COMPILED = {"inductor": {}, "inductor-dynamic": {"dynamic": True},
            "inductor-reduce-overhead": {"mode": "reduce-overhead"},
            "inductor-max-autotune": {"mode": "max-autotune"}}
PART = 1 << 14  # elements of an output that are summed at once
# What a case offers a model's file beside its sizes.
FOR_AUTHORS = ("backend", "batch", "device", "dtype", "evaluation", "integers", "network",
               "precision", "ready", "task", "training", "uniform")


class Case:
    """A workload's sizes are attributes, such as case.image. Its inputs lie on the device."""

    def __init__(self, definition, seed):
        self.name = definition.name
        self.task = definition.task
        self.device = torch.device(definition.device)
        self.dtype = DTYPES[definition.precision]
        self.parameters = 0
        self.modules = []  # whose gradients and parameters belong to the result
        self.definition = definition
        self.seed = seed
        self.networks = 0  # made by network()
        self.is_quantised = False
        self._knows_batch = False
        for name, value in definition.sizes.items():
            setattr(self, name, value)

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        sizes = ", ".join(self.definition.sizes) or "none"
        near = difflib.get_close_matches(name, [*self.definition.sizes, *FOR_AUTHORS], 1)
        meant = f"; did you mean case.{near[0]}?" if near else ""
        raise AttributeError(
            f'the case has no "{name}": the sizes of "{self.definition.model}/{self.task}" in '
            f"workloads.json are {sizes}, and every case has {', '.join(FOR_AUTHORS)}{meant}")

    @property
    def batch(self):
        self._knows_batch = True
        return self.definition.batch

    @property
    def precision(self):
        return self.definition.precision

    @property
    def backend(self):
        return self.definition.backend

    def uniform(self, label, *shape, bound=1.0):
        return generator.uniform(self.seed, label, shape, bound).to(self.device, self.dtype)

    def integers(self, label, *shape, high):
        return generator.integers(self.seed, label, shape, high).to(self.device)

    def ready(self, module):
        """The module with its parameters set from the seed, on the device, in the precision and the
        task's mode."""
        generator.initialise(module, self.seed)
        self.parameters = sum(parameter.numel() for parameter in module.parameters())
        self.modules.append(module)
        return module.to(self.device, self.dtype).train(self.task not in ("eval", "act"))

    def network(self, function):
        """`function` (a module, or a function that calls one) autocast and compiled as the
        workload's name says. Give it models and losses, not optimizers, as users of torch.compile
        do."""
        self.networks += 1
        if self.precision == "amp":
            function = self._autocast(function)
        if self.backend != "eager":
            function = torch.compile(function, **COMPILED[self.backend])
        return function

    def _autocast(self, function):
        def mixed(*inputs):
            with torch.autocast(self.device.type):
                return function(*inputs)
        return mixed

    def evaluation(self, module, *inputs):
        """A step that is one forward pass without gradients."""
        raised.making_a_step()
        if self.precision == "int8":
            module = precision.quantised(module, inputs)
            self.is_quantised = True
        forward = self.network(module)

        def step():
            with torch.no_grad():
                return forward(*inputs)
        return step

    def training(self, module, optimizer, loss):
        """A step that is forward (`loss()`), backward and optimizer; it returns the loss."""
        raised.making_a_step()
        forward = self.network(loss)

        def step():
            optimizer.zero_grad(set_to_none=True)
            value = forward()
            value.backward()
            optimizer.step()
            return value
        return step

    def compared_modules(self):
        """Modules whose gradients, parameters and buffers are part of the result."""
        return self.modules

    def require_all_of_its_name(self):
        """Throws Unavailable if the model ignored a part of the name, since its series would be
        wrong."""
        what = f"{self.definition.model}/{self.task}"
        if not self.definition.own_batch and not self._knows_batch:
            raise Unavailable(f"{what} does the same work at every batch size")
        if (self.backend != "eager" or self.precision == "amp") and not self.networks:
            raise Unavailable(f"{what} names no network that could be compiled or autocast")
        if self.precision == "int8" and not self.is_quantised:
            raise Unavailable(f"{what} has no single forward pass that could be quantised")


def build(model, definition, seed):
    """The case and its step. Both twins draw the same from here on, whatever their constructors
    drew."""
    precision.require(definition)
    torch.manual_seed(seed)
    case = Case(definition, seed)
    if not callable(getattr(model, "make", None)):
        raise Faulty(
            f"{definition.file}: there is no function make(case); it returns the step to measure")
    step = model.make(case)
    if not callable(step):
        raise Faulty(
            f"{definition.file}: make(case) returned {type(step).__name__}; it must return a "
            "step, a function "
            "without arguments that does one iteration")
    raised.made_by(step, model.make)
    case.require_all_of_its_name()
    torch.manual_seed(seed)
    random.seed(seed)
    if numpy := sys.modules.get("numpy"):
        numpy.random.seed(seed % (1 << 32))
    return case, step


def descend(optimizer, loss):
    """Backward and one optimizer step from a computed loss, for models with several optimizers."""
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()


def checksum_of(output):
    """The sum of the magnitudes, which neither cancels nor depends on the layout in memory. It sums
    in parts, so that copies of a large output or parameter do not become the peak of memory."""
    if not isinstance(output, torch.Tensor):
        place = raised.step_place()
        raise Faulty(
            f"the step returned {type(output).__name__}; it must return a tensor, for the checksum"
            + (f" ({place})" if place else ""))
    return float(sum(part.double().abs().sum() for part in output.detach().flatten().split(PART)))
