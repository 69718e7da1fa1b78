"""Models of a TorchBench checkout, which NIGHTJAR_TORCHBENCH names: `torchbench/<model>/<train|eval>/...`.

A model is theirs, inputs and batch included; the loop around it is ours. Where the name has the model's
own batch size the model chooses it itself, since some refuse to be told.
"""

import importlib
import os
import sys

import torch

from accuracy import tensors_in
from adapters import images
from case import checksum_of
from failure import Unavailable

INDUCTOR = ["--torchdynamo", "inductor"]
BACKENDS = {"eager": [], "inductor": INDUCTOR, "inductor-dynamic": INDUCTOR + ["--dynamic-shapes"],
            "inductor-max-autotune": INDUCTOR + ["--inductor-compile-mode", "max-autotune"]}


class Step:
    def __init__(self, model):
        self._model = model
        self._invoke = model.invoke

    def __call__(self):
        return self._invoke()

    def checksum(self, output):
        """The sum of the magnitudes of what came out, or where nothing does (training) of the parameters."""
        tensors = list(tensors_in(output)) or list(self.module().parameters())
        return sum(checksum_of(tensor) for tensor in tensors if tensor.is_floating_point())

    def module(self):
        return self._model.get_module()[0]


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
    try:
        case.modules = [step.module()]
        case.parameters = sum(parameter.numel() for parameter in step.module().parameters())
    except (NotImplementedError, AttributeError):
        case.parameters = 0  # not every model shows its module
    return step


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
