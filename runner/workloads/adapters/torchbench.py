"""Models of a TorchBench checkout, which NIGHTJAR_TORCHBENCH names: `torchbench/<model>/<train|eval>/...`.

A model is theirs, inputs and batch included; the loop around it is ours. Where the name has the model's
own batch size the model chooses it itself, since some refuse to be told.
"""

import contextlib
import importlib
import math
import os
import sys

import torch

from harness.accuracy import tensors_in
from adapters import images
from harness.case import checksum_of
from harness.failure import Unavailable
from harness.living import living, parameters_of

INDUCTOR = ["--torchdynamo", "inductor"]
BACKENDS = {"eager": [], "inductor": INDUCTOR, "inductor-dynamic": INDUCTOR + ["--dynamic-shapes"],
            "inductor-max-autotune": INDUCTOR + ["--inductor-compile-mode", "max-autotune"]}


class Step:
    def __init__(self, model):
        self._invoke = model.invoke
        self.parameters = living_parameters()

    def __call__(self):
        return self._invoke()

    def checksum(self, output):
        """The sum of the magnitudes of what came out, or where nothing does (training) of the parameters. None if
        training made those NaN: TorchBench runs a model whose loss diverges, and so its time is measured here."""
        outputs = list(tensors_in(output))
        total = math.fsum(checksum_of(tensor) for tensor in outputs or self.parameters if tensor.is_floating_point())
        return total if outputs or math.isfinite(total) else None


def make(case):
    _, name, task, device, *_ = case.name.split("/")
    precision = case.precision
    if case.backend not in BACKENDS or precision == "fp64":
        raise Unavailable(f"TorchBench has no backend {case.backend} in {precision}")
    kind = model_class(name)
    default = getattr(kind, f"DEFAULT_{task.upper()}_BSIZE", None) or 1
    arguments = [] if (device, precision) == ("cpu", "fp32") else ["--precision", precision]
    try:
        model = kind(test=task, device=device, batch_size=None if case.batch == default else case.batch,
                     extra_args=arguments + BACKENDS[case.backend])
    except (NotImplementedError, ImportError, OSError) as error:  # OSError: weights that are not here
        raise Unavailable(one_line(error)) from error
    step = Step(model)
    case.networks += 1  # TorchBench compiles and casts them itself
    case.parameters = sum(parameter.numel() for parameter in step.parameters)
    if case.backend != "eager":
        with contextlib.suppress(NotImplementedError, AttributeError):  # not every model shows its module
            case.modules = [model.get_module()[0]]
    return step


def living_parameters():
    """Of all modules that there are. get_module() would name the model's own, but makes inputs for it on the way, which
    the peak of memory would show."""
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
    except Exception as error:  # whatever a model's dependencies throw is that model's affair
        raise Unavailable(one_line(error)) from error


def one_line(error):
    text = (str(error).strip().splitlines() or [""])[-1]
    return f"{type(error).__name__}: {text}"[:400]
