"""What a workload's name means: its parts and its sizes, from the table that both twins read.

Imports no torch, so that names can be listed at once.
"""

import json
import pathlib
from dataclasses import dataclass

TABLE = pathlib.Path(__file__).parent.parent / "workloads.json"


class UnknownWorkload(Exception):
    pass


@dataclass(frozen=True)
class Definition:
    name: str
    version: int
    model: str
    task: str
    device: str
    batch: int
    sizes: dict  # by name, whole numbers

    @property
    def module(self):
        """Where the code is."""
        return "torchbench" if self.name.startswith("torchbench/") else f"models.{self.model}"


def names(kind="python"):
    """The names of one kind, in the table's order."""
    return [item["name"] for item in _table()["items"] if item["kind"] == kind]


def find(name, version, sizes="default"):
    """The definition called `name`, at the sizes called "default" or "tiny". The table lists devices as
    `cpu`; `cuda` in their place means the same workload there. Throws UnknownWorkload, also if the
    table has another version."""
    parts = name.split("/")
    if len(parts) != 7 or parts[3] not in ("cpu", "cuda"):
        raise UnknownWorkload(f"no workload is called '{name}'")
    if parts[0] == "torchbench" and parts[2] in ("train", "eval") and parts[5][1:].isdigit():
        return Definition(name, version, parts[1], parts[2], parts[3], int(parts[5][1:]), {})
    listed = "/".join(parts[:3] + ["cpu"] + parts[4:])
    table = _table()
    for item in table["items"]:
        if item["name"] == listed and item["kind"] == "python":
            if item["version"] != version:
                raise UnknownWorkload(f"{name} is at version {item['version']} here, not {version}")
            chosen = dict(table["sizes"][f"{parts[1]}/{parts[2]}"])
            if sizes == "tiny":
                chosen.update(table["tiny"][parts[1]])
            return Definition(name, version, parts[1], parts[2], parts[3], int(parts[5][1:]), chosen)
    raise UnknownWorkload(f"no workload is called '{name}'")


def _table():
    return json.loads(TABLE.read_text(encoding="utf-8"))
