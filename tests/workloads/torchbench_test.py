"""TorchBench's models through the runner: a checkout with TorchBench's interface, some of it
broken."""

import json
import os
import pathlib
import subprocess

import pytest

BIN = pathlib.Path(
    os.environ.get("NIGHTJAR_BIN",
                   pathlib.Path(__file__).resolve().parents[2] / "build" / "bin"))

LINEAR = """
import torch
class Layer(torch.nn.Linear):
    def parameters(self):  # as maml's Learner has it
        return [self.weight, self.bias]
class Model:
    DEFAULT_TRAIN_BSIZE = 8
    DEFAULT_EVAL_BSIZE = 16
    def __init__(self, test, device, batch_size=None, extra_args=[]):
        assert not extra_args
        self.batch_size = batch_size or (8 if test == "train" else 16)
        print("chatter on standard output is no answer")
        self.test, self.module = test, Layer(64, 64)
        self.inputs = (torch.rand(self.batch_size, 64),)
        self.optimizer = torch.optim.SGD(self.module.parameters(), lr=1e-3)
    def get_module(self):
        return self.module, self.inputs
    def invoke(self):
        if self.test == "eval":
            with torch.no_grad():
                return (self.module(*self.inputs),)
        self.optimizer.zero_grad()
        self.module(*self.inputs).square().mean().backward()
        self.optimizer.step()
"""
BROKEN = {
    "needs_module": "import no_such_module",
    "fails_at_import": "raise RuntimeError('two of a kind')",
    "only_eval": LINEAR.replace(
        "        assert not extra_args\n",
        "        if test == 'train':\n            raise NotImplementedError('no training')\n"),
    "diverges": LINEAR.replace(".square().mean()",
                               ".mul(0).sqrt().mean()"),  # the root's slope at 0 is infinite
    "gives_nan": LINEAR.replace("(self.module(*self.inputs),)",
                                "(self.module(*self.inputs) * float('nan'),)"),
    "crashes": LINEAR.replace("return (self.module(*self.inputs),)", "raise ValueError('shapes')"),
}


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    folder = tmp_path_factory.mktemp("torchbench")
    for name, source in {"linear": LINEAR, **BROKEN}.items():
        model = folder / "torchbenchmark" / "models" / name
        model.mkdir(parents=True)
        (model / "__init__.py").write_text(source)
    return folder


def runner(*arguments):
    return subprocess.run([BIN / "nightjar-runner", *map(str, arguments)], capture_output=True,
                          text=True, timeout=600)


def measured(checkout, *names):
    done = runner("measure", *names, "--torchbench", checkout, "--runs", 1, "--seconds", 0.05,
                  "--json")
    items = json.loads(done.stdout)["items"]
    assert done.returncode == (0 if all(item["status"] == "measured"
                                        for item in items) else 1), done.stderr
    return {item["workload"]: item for item in items}


def test_its_models_are_listed_at_their_own_batch_sizes(checkout):
    names = runner("list", "--torchbench", checkout).stdout.split()
    assert "torchbench/linear/train/cpu/fp32/b8/eager" in names
    assert "torchbench/linear/eval/cpu/fp32/b16/eager" in names
    assert len([name for name in names if name.startswith("torchbench/")]) == 14


def test_what_is_broken_says_why_and_the_others_go_on(checkout):
    why = {"only_eval/train": ("unavailable", "no training"), "crashes/eval": ("failed", "shapes"),
           "gives_nan/eval": ("failed", "wrong_result: the output's checksum is nan")}
    for task in ("train", "eval"):
        why[f"needs_module/{task}"] = ("unavailable", "no_such_module")
        why[f"fails_at_import/{task}"] = ("unavailable", "two of a kind")
    fine = ["linear/train", "linear/eval", "only_eval/eval", "crashes/train", "diverges/train"]
    items = {
        "/".join(name.split("/")[1:3]): item
        for name, item in measured(checkout, *(f"torchbench/{each}/**"
                                               for each in [*why, *fine])).items()}
    assert set(items) == {*why, *fine}
    for each in fine:
        assert items[each]["status"] == "measured", items[each]
        assert all(latency > 0
                   for run in items[each]["metrics"]["latency"]["runs"]
                   for latency in run)
        checksum = items[each]["output"]["checksum"]
        assert checksum is None if each == "diverges/train" else checksum > 0
    for each, (status, reason) in why.items():
        assert (items[each]["status"], reason
                in items[each]["reason"]) == (status, True), items[each]


def test_another_batch_size_is_asked_for_by_name(checkout):
    name = "torchbench/linear/eval/cpu/fp32/b32/eager"
    assert list(measured(os.path.relpath(checkout), name)) == [name]


def test_a_folder_that_is_no_checkout_is_refused_in_one_line(tmp_path):
    done = runner("measure", "torchbench/**", "--torchbench", tmp_path)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1 and str(tmp_path) in done.stderr


def test_suites_are_files_and_an_unknown_one_names_those_there_are():
    done = runner("measure", "--suite", "weekly")
    assert done.returncode == 2 and "quick" in done.stderr and "nightly" in done.stderr
