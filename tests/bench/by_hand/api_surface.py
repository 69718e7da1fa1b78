"""How much of PyTorch's interface the Python workloads call: api_surface.py [GLOB...].

One iteration of each workload is run at the tiny sizes, on the CPU. Counted are ATen's operators
(packets, whatever the overload), as the dispatcher sees them, autograd's included, and classes of
torch.nn.Module that run forward. The table has them by suite, and beside them those of the models
that MLPerf Training has, too. Run it by the Python that has PyTorch."""

import collections
import fnmatch
import importlib
import inspect
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "runner/workloads"))

import torch  # noqa: E402
from torch.utils._python_dispatch import TorchDispatchMode  # noqa: E402

from harness import case, definition  # noqa: E402
from harness.failure import Unavailable  # noqa: E402

# MLPerf Training 1.0 to 2.1: image classification, language model, recommendation, segmentation.
OF_MLPERF = ("resnet50", "bert", "dlrm", "unet")


class Called(TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.operators, self.modules = set(), set()

    def __torch_dispatch__(self, function, _types, arguments=(), keywords=None):
        self.operators.add(str(function.overloadpacket))
        return function(*arguments, **(keywords or {}))

    def note(self, module, _inputs):
        if type(module).__module__.startswith("torch.nn."):
            self.modules.add(type(module).__name__)


def called_by(name, version):
    found = definition.find(name, version, "tiny")
    _, step = case.build(importlib.import_module(found.module), found, 0)
    seen = Called()
    hook = torch.nn.modules.module.register_module_forward_pre_hook(seen.note)
    try:
        with seen:
            step()
    finally:
        hook.remove()
    return seen.operators, seen.modules


def all_operators():
    names = (name.split(".")[0] for name in torch._C._dispatch_get_all_op_names())
    return {name for name in names if name.startswith("aten::")}


def all_modules():
    return {name for name, one in vars(torch.nn).items()
            if inspect.isclass(one) and issubclass(one, torch.nn.Module)}


def main():
    globs = sys.argv[1:] or ["python/*/cpu/fp32/*/eager", "hf/*-small/*/eager", "timm/*-small/*"]
    versions = {item["name"]: item["version"] for item in definition._table()["items"]}
    groups = collections.defaultdict(lambda: (set(), set(), set()))
    for name in definition.names():
        if not any(fnmatch.fnmatchcase(name, glob) for glob in globs):
            continue
        suite, model = name.split("/")[:2]
        try:
            operators, modules = called_by(name, versions[name])
        except (Unavailable, ImportError) as error:
            print(f"{name}: {error}", file=sys.stderr)
            continue
        for group in [suite, "all"] + ["MLPerf's models"] * (model in OF_MLPERF):
            models, called, classes = groups[group]
            models.add(f"{suite}/{model}")
            called |= operators
            classes |= modules
    print("| suite | models | operators | of all | modules | of all |")
    print("|---|---:|---:|---:|---:|---:|")
    known, classes = len(all_operators()), len(all_modules())
    for group, (models, called, modules) in groups.items():
        print(f"| {group} | {len(models)} | {len(called)} | {100 * len(called) / known:.1f} % | "
              f"{len(modules)} | {100 * len(modules) / classes:.0f} % |")
    print(f"\nPyTorch {torch.__version__} has {known} operators of ATen and {classes} classes.")


if __name__ == "__main__":
    main()
