"""Makes the models of published lists in a Python that has their libraries: one JSON line for each.
listed_models.py vision | huggingface | timm NAMES. Parameters are counted on the meta device, where
they take no memory. A forward pass is made of what has few."""

import json
import sys
import warnings

import programs

programs.put_suite_on_path()
warnings.filterwarnings("ignore")
import torch  # noqa: E402
from adapters import hf, huggingface, timm, vision  # noqa: E402
from harness import case, definition  # noqa: E402

MOST = 6e6  # parameters of a model that is run
UNUSED = {"deeplabv3_mobilenet_v2": "conv_1x1"}  # layers that only transformers has


def parameters(model, without=None):
    return sum(parameter.numel() for name, parameter in model.named_parameters()
               if without is None or without not in name)


def counted(build, name, size, without=None):
    with torch.device("meta"):
        return parameters(build(name, size), without)


def forward(adapter, suite, name):
    """The parameters in small size, and the checksum of one forward pass."""
    found = definition.find(f"{suite}/{name}-small/eval/cpu/fp32/b2/eager", 1)
    made, step = case.build(adapter, found, 0)
    return made.parameters, case.checksum_of(step())


def main():
    torch.set_num_threads(1)
    adapter, suite, build, names = {
        "vision": (hf, "hf", vision.build, vision.MODELS),
        "huggingface": (hf, "hf", huggingface.build, huggingface.table()["models"]),
        "timm": (timm, "timm", lambda *of: timm.build(*of)[0], sys.argv[2:])}[sys.argv[1]]
    for name in names:
        small = counted(build, name, "small")
        run, checksum = forward(adapter, suite, name) if small < MOST else (None, None)
        print(json.dumps({"name": name, "paper": counted(build, name, "paper", UNUSED.get(name)),
                          "small": small, "run": run, "checksum": checksum}), flush=True)


main()
