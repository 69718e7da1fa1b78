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
PRECISIONS = ("fp32", "bf16", "amp")
BACKENDS = ("eager", "inductor", "inductor-reduce-overhead", "inductor-max-autotune",
            "inductor-dynamic")


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
    table lists, or a variant of one on another device, in another precision, at another batch size
    or with another backend. Throws UnknownWorkload if there is none, or if the table has another
    version."""
    parts = _parts(name)
    suite, model, task, device, precision, batch, backend = parts
    number = int(batch[1:])
    if suite == "torchbench" and task in ("train", "eval"):
        return Definition(name, version, model, task, device, precision, number, backend, {})
    table = _table()
    same = [item for item in table["items"]
            if item["kind"] in ("python", NATIVE) and item["name"].split("/")[:3] == parts[:3]]
    if not same:
        raise _unknown(name)
    listed = "/".join(parts[:3] + ["cpu"] + parts[4:])
    item = next((item for item in same if item["name"] == listed), same[0])
    if item["version"] != version:
        raise UnknownWorkload(f"{name} is at version {item['version']} here, not {version}")
    own_batch = batch in [item["name"].split("/")[5] for item in same]
    chosen = {} if suite in ADAPTERS else _sizes(table, f"{model}/{task}", name)
    if sizes == "tiny":
        chosen.update(table.get("tiny", {}).get(model, {}))
    return Definition(name, version, model, task, device, precision, number, backend, chosen,
                      own_batch)


def own(name, version, file):
    """The definition of a workload whose step the file makes. It has no sizes."""
    _, model, task, device, precision, batch, backend = _parts(name)
    return Definition(name, version, model, task, device, precision, int(batch[1:]), backend, {},
                      own_file=file.name)


def _unknown(name):
    return UnknownWorkload(f"no workload is called '{name}'")


def _parts(name):
    parts = name.split("/")
    if len(parts) != 7 or not re.fullmatch("b[1-9][0-9]{0,7}", parts[5]):
        raise _unknown(name)
    if parts[3] not in DEVICES or parts[4] not in PRECISIONS or parts[6] not in BACKENDS:
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
