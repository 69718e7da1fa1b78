"""Makes the models of published lists in a Python that has their libraries: one JSON line for each.
listed_models.py vision | huggingface | timm. Weights in published size are on the meta device, so
they take no memory."""

import json
import sys
import warnings

import programs

programs.put_suite_on_path()
warnings.filterwarnings("ignore")
import torch  # noqa: E402
from adapters import hf, huggingface, timm, vision  # noqa: E402
from harness import case, definition  # noqa: E402

UNUSED = {"deeplabv3_mobilenet_v2": "conv_1x1"}  # layers that transformers has and the paper has not


def parameters(model, without=None):
    return sum(parameter.numel() for name, parameter in model.named_parameters()
               if without is None or without not in name)


def published(build, name):
    with torch.device("meta"):
        return parameters(build(name, "paper"), UNUSED.get(name))


def forward(adapter, suite, name):
    """The parameters of two builds in small size, and the checksum of one forward pass."""
    found = definition.find(f"{suite}/{name}-small/eval/cpu/fp32/b2/eager", 1)
    (one, step), (two, _) = (case.build(adapter, found, 0) for _ in range(2))
    return [one.parameters, two.parameters], case.checksum_of(step())


def main():
    torch.set_num_threads(1)
    adapter, suite, build, names = {
        "vision": (hf, "hf", vision.build, vision.MODELS),
        "huggingface": (hf, "hf", huggingface.build, huggingface.table()["models"]),
        "timm": (timm, "timm", lambda *of: timm.build(*of)[0], sys.argv[2:])}[sys.argv[1]]
    for name in names:
        small, checksum = forward(adapter, suite, name)
        print(json.dumps({"name": name, "paper": published(build, name), "small": small,
                          "checksum": checksum}), flush=True)


main()
