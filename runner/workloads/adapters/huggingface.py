"""The models of the Hugging Face suite of PyTorch's compiler dashboard:
`hf/<name>-<paper|small>/<train|eval>/...`.

huggingface.json has them: their class in transformers, the tokens of a text, the dashboard's batch
size for a GPU of 40 GB, and their configurations. `paper` is the dashboard's size, `small` is for
tests. The dashboard takes most configurations from the defaults of transformers. They are written
out there, so that another release of transformers does not change them."""

import functools
import importlib
import json
import pathlib
import re

import torch

from adapters import images
from harness.failure import Unavailable

TABLE = pathlib.Path(__file__).with_suffix(".json")
SMALL_LENGTH = 32  # tokens
ADAM_COPIES = 4  # of each weight: itself, its gradient, and two moments


@functools.cache
def table():
    return json.loads(TABLE.read_text(encoding="utf-8"))


def build(name, size):
    """The model; on the meta device if that is the default one."""
    images.make_torchvision_importable()  # transformers imports it if it is installed
    transformers = importlib.import_module("transformers")
    described = table()["models"][name]
    sizes = table()["configurations"][described["configuration"]]
    values = sizes["paper"] | (sizes["small"] if size == "small" else {})
    configuration = getattr(transformers, sizes["type"])(**values)
    configuration.use_cache = False  # as the dashboard does
    return getattr(transformers, described["class"])(configuration)


def memory_here(device):
    """Free bytes of the device's memory."""
    if device.type == "cuda":
        return torch.cuda.mem_get_info(device)[0]
    with open("/proc/meminfo", encoding="ascii") as file:
        return int(re.search(r"^MemAvailable:\s+(\d+) kB", file.read(), re.MULTILINE)[1]) * 1024


def require_room(case):
    """Throws Unavailable if the weights alone do not fit, since Linux might end other processes."""
    with torch.device("meta"):
        model = build(case.definition.model, case.definition.size)
    weights = sum(parameter.numel() for parameter in model.parameters())
    wanted = weights * case.dtype.itemsize * (ADAM_COPIES if case.task == "train" else 1)
    there = memory_here(case.device)
    if wanted > there:
        raise Unavailable(f"its weights need {wanted / 1e9:.1f} GB to {case.task}, and "
                          f"{there / 1e9:.1f} GB of memory are free")


def make(case):
    from adapters.hf import Answer, Answers
    require_room(case)
    described = table()["models"][case.definition.model]
    model = build(case.definition.model, case.definition.size)
    kind, configuration = described["class"], model.config
    length = described["length"] if case.definition.size == "paper" else SMALL_LENGTH

    def text(label):
        return case.integers(label, case.batch, length, high=configuration.vocab_size)
    if kind.startswith("Whisper"):  # two frames of sound for each source position
        inputs = {"input_features": case.uniform("sound", case.batch, configuration.num_mel_bins,
                                                 2 * configuration.max_source_positions)}
    else:
        inputs = {"input_ids": text("tokens")}
    if case.task == "eval":
        if kind.endswith("ForConditionalGeneration"):  # they read one text and write another
            inputs["decoder_input_ids"] = text("labels")
        wanted = ("start_logits", "end_logits") if "Question" in kind else ("logits", )
        return case.evaluation(case.ready(Answers(model, list(inputs), wanted)), *inputs.values())
    if "Question" in kind:
        for label in ("start_positions", "end_positions"):
            inputs[label] = case.integers(label, case.batch, high=length)
    elif "SequenceClassification" in kind:
        inputs["labels"] = case.integers("labels", case.batch, high=configuration.num_labels)
    else:
        inputs["labels"] = text("labels")
    model = case.ready(Answer(model, list(inputs), "loss"))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    return case.training(model, optimizer, lambda: model(*inputs.values()))
