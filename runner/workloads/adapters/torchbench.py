"""Models of a TorchBench checkout, which NIGHTJAR_TORCHBENCH names:
`torchbench/<model>/<train|eval>/...`.

The model, its inputs and its batch are TorchBench's; the loop around it is ours. If the name has
the model's own batch size, none is passed, since some models refuse one. """

import contextlib
import importlib
import math
import os
import sys

import torch

from adapters import images
from harness.accuracy import tensors_in
from harness.case import checksum_of
from harness.failure import Unavailable, one_line
from harness.living import living, parameters_of

INDUCTOR = ["--torchdynamo", "inductor"]
BACKENDS = {"eager": [], "inductor": INDUCTOR, "inductor-dynamic": INDUCTOR + ["--dynamic-shapes"],
            "inductor-max-autotune": INDUCTOR + ["--inductor-compile-mode", "max-autotune"]}
LONGEST_REASON = 400  # characters


class Step:
    def __init__(self, model):
        self._invoke = model.invoke
        self.parameters = living_parameters()

    def __call__(self):
        return self._invoke()

    def checksum(self, output):
        """The sum of the magnitudes of the output or, where there is none (training), of the
        parameters. None if training made those NaN. TorchBench runs models whose loss diverges, so
        their time is measured here too."""
        outputs = tensors_in(output)
        total = math.fsum(
            checksum_of(tensor)
            for tensor in outputs or self.parameters
            if tensor.is_floating_point())
        return total if outputs or math.isfinite(total) else None


def make(case):
    _, name, task, device, *_ = case.name.split("/")
    precision = case.precision
    if case.backend not in BACKENDS or precision in ("fp64", "int8"):
        raise Unavailable(f"TorchBench has no backend {case.backend} in {precision}")
    kind = model_class(name)
    default = getattr(kind, f"DEFAULT_{task.upper()}_BSIZE", None) or 1
    arguments = [] if (device, precision) == ("cpu", "fp32") else ["--precision", precision]
    try:
        model = kind(test=task, device=device,
                     batch_size=None if case.batch == default else case.batch,
                     extra_args=arguments + BACKENDS[case.backend])
    except (NotImplementedError, ImportError,
            OSError) as error:  # OSError: its weights are not here
        raise Unavailable(one_line(error)[:LONGEST_REASON]) from error
    step = Step(model)
    case.networks += 1  # TorchBench compiles and autocasts them itself
    case.parameters = sum(parameter.numel() for parameter in step.parameters)
    case.compared_modules = lambda: modules_of(model)
    return step


def modules_of(model):
    """Asked after its iterations, since get_module makes inputs, too. Not every model shows its
    module."""
    with contextlib.suppress(NotImplementedError, AttributeError):
        return [model.get_module()[0]]
    return []


def living_parameters():
    """The parameters of all modules that exist. get_module() would return the model's own, but also
    makes inputs, which would show in the peak of memory."""
    return [parameter for parameter in parameters_of(living(torch.nn.Module))
            if not torch.nn.parameter.is_lazy(parameter)]


def model_class(name):
    folder = os.environ.get("NIGHTJAR_TORCHBENCH")
    if not folder:
        raise Unavailable("no TorchBench checkout; --torchbench names one")
    sys.path.insert(0, folder)
    images.make_torchvision_importable()
    try:
        return importlib.import_module(f"torchbenchmark.models.{name}").Model
    except Exception as error:  # a model's dependencies may throw anything
        raise Unavailable(one_line(error)[:LONGEST_REASON]) from error
