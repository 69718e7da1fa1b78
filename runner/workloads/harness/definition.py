"""Looks up a workload's name: its parts, and its sizes from the table that both twins read.

It does not import torch, so that names can be listed at once.
"""

import json
import pathlib
import re
from dataclasses import dataclass

ADAPTERS = ("torchbench", "hf", "timm", "torchvision")  # suites of other people's models
NATIVE = "native"  # a suite that runs inside Python for profiles only
TABLE = pathlib.Path(__file__).parents[1] / "workloads.json"
DEVICES = ("cpu", "cuda")
PRECISIONS = ("fp32", "tf32", "bf16", "fp16", "amp", "int8")
BACKENDS = ("eager", "inductor", "inductor-reduce-overhead", "inductor-max-autotune",
            "inductor-dynamic")
SIZES = ("paper", "small")  # of a model that has several: "vit_b16-paper", "vit_b16-small"


class UnknownWorkload(Exception):
    """There is no such workload, or the table does not describe it. The text says which one."""


@dataclass(frozen=True)
class Definition:
    name: str
    version: int
    model: str
    task: str
    device: str
    precision: str
    batch: int
    backend: str
    sizes: dict  # by name, whole numbers
    own_batch: bool = True  # the table lists this batch size; another one must mean other work
    own_file: str = ""  # a person's own, which makes its step in place of a listed model
    size: str = ""  # one of SIZES; the model's name is without it
    threads: int | None = None  # which the name asks for
    unchecked: str = ""  # why its author lists it as one whose compiled result is not compared

    @property
    def module(self):
        """The module that makes its step, of a listed model."""
        suite = self.name.split("/")[0]
        return f"adapters.{suite}" if suite in (*ADAPTERS, NATIVE) else f"models.{self.model}"

    @property
    def file(self):
        """That module's file, below the workloads folder, or the name of the own file."""
        return self.own_file or f"{self.module.replace('.', '/')}.py"


def names(kind="python"):
    """The names of one kind, in the table's order."""
    return [item["name"] for item in _table()["items"] if item["kind"] == kind]


def find(name, version, sizes="default"):
    """The definition called `name`, at the sizes called "default" or "tiny". It is one that the
    table lists, or a variant of one: on another device, in another precision or size, at another
    batch size, with another backend or thread count. Throws UnknownWorkload if there is none, or
    if the table has another version."""
    parts = _parts(name)
    suite, model, task, device, precision, batch, backend = parts
    number = int(batch[1:])
    backend, threads = split_threads(backend)
    table = _table()
    unchecked = table.get("unchecked", {}).get(f"{suite}/{model}", "")
    if suite == "torchbench" and task in ("train", "eval"):
        return Definition(name, version, model, task, device, precision, number, backend, {},
                          threads=threads, unchecked=unchecked)
    same = [item for item in table["items"] if item["kind"] in ("python", NATIVE)
            and _same_work(item["name"].split("/"), parts)]
    if not same:
        raise _unknown(name)
    listed = "/".join(parts[:3] + ["cpu"] + parts[4:])
    item = next((item for item in same if item["name"] == listed), same[0])
    if item["version"] != version:
        raise UnknownWorkload(f"{name} is at version {item['version']} here, not {version}")
    own_batch = batch in [item["name"].split("/")[5] for item in same]
    model, size = split_size(model) if suite in ADAPTERS else (model, "")
    chosen = {} if suite in ADAPTERS else _sizes(table, f"{model}/{task}", name)
    if sizes == "tiny":
        chosen.update(table.get("tiny", {}).get(model, {}))
    return Definition(name, version, model, task, device, precision, number, backend, chosen,
                      own_batch, size=size, threads=threads, unchecked=unchecked)


def own(name, version, file):
    """The definition of a workload whose step the file makes. It has no sizes."""
    _, model, task, device, precision, batch, backend = _parts(name)
    backend, threads = split_threads(backend)
    return Definition(name, version, model, task, device, precision, int(batch[1:]), backend, {},
                      own_file=file.name, threads=threads)


def split_size(model):
    """A model's name without its size, and the size; empty if it has one size only."""
    plain, _, size = model.rpartition("-")
    return (plain, size) if plain and size in SIZES else (model, "")


def split_threads(backend):
    """A backend without its thread count, and the count; None if the name has none."""
    found = re.fullmatch("(.+)-t([1-9][0-9]{0,3})", backend)
    return (found[1], int(found[2])) if found else (backend, None)


def _same_work(listed, wanted):
    """Whether two split names are of the same suite, model and task, in whatever size."""
    (plain, size), (other, asked) = split_size(listed[1]), split_size(wanted[1])
    same = listed[1] == wanted[1] or (size and asked and plain == other)
    return bool(same) and (listed[0], listed[2]) == (wanted[0], wanted[2])


def _unknown(name):
    return UnknownWorkload(f"no workload is called '{name}'")


def _parts(name):
    parts = name.split("/")
    if len(parts) != 7 or not re.fullmatch("b[1-9][0-9]{0,7}", parts[5]):
        raise _unknown(name)
    if parts[3] not in DEVICES or parts[4] not in PRECISIONS or split_threads(
            parts[6])[0] not in BACKENDS:
        raise _unknown(name)
    return parts


def _sizes(table, key, name):
    if key not in table.get("sizes", {}):
        raise UnknownWorkload(
            f'workloads.json: {name}: key "{key}" is missing in "sizes"; it needs the model\'s '
            'sizes '
            "by name, or {} if it has none")
    return dict(table["sizes"][key])


def _table():
    try:
        return json.loads(TABLE.read_text(encoding="utf-8"))
    except ValueError as error:
        raise UnknownWorkload(f"{TABLE}: no JSON: {error}") from None
