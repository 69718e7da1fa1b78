"""Planted slow-downs, each seen where it was planted and nowhere else.

One changed build has a redundant operation in a function that LibTorch defines in a header, a
redundant check in torch.distributions, memory that is never given back, and a slow pass in
torch/_inductor. Each workload on it and on the build as it is take turns, process by process,
through `nightjar-runner measure`: a shared host has fast and slow minutes, and both sides are to
meet the same. `nightjar compare` judges. A row is `workload metric | control | treatment | ratio or
+difference | verdict | expected`. Exit status 1 if anything else than what was planted is worse, or
something planted is not. Takes half an hour; rounds as an argument make it shorter. """

import base64
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests/workloads"))
import programs  # noqa: E402

BIN = pathlib.Path(os.environ.get("NIGHTJAR_BIN", ROOT / "build/bin"))
ROUNDS = 20
METRICS = ["latency", "peak_cpu_memory", "leaked_memory", "memory_after_import", "compile_time"]
# Native dlrm alone calls at::bmm in its own code; tts_angular alone has LSTMs.
HEADER, DISTRIBUTIONS, LEAK, COMPILED = ("native/dlrm/eval/cpu/fp32/b128/eager",
                                         "python/soft_actor_critic/act/cpu/fp32/b1/eager",
                                         "python/tts_angular/eval/cpu/fp32/b16/eager",
                                         "python/lennard_jones/eval/cpu/fp32/b256/inductor")
INNOCENT = ["native/wave/eval/cpu/fp32/b1/eager", "native/soft_actor_critic/act/cpu/fp32/b1/eager",
            "python/wave/eval/cpu/fp32/b1/eager", "python/lennard_jones/eval/cpu/fp32/b256/eager"]
PLANTED = {(HEADER, "latency"), (DISTRIBUTIONS, "latency"), (LEAK, "leaked_memory")}
EDITS = {
    "torch/include/ATen/ops/bmm.h": (
        "    return at::_ops::bmm::call(self, mat2);\n",
        "    for (int i = 0; i < 16; ++i) at::_ops::bmm::call(self, mat2);\n"
        "    return at::_ops::bmm::call(self, mat2);\n"),
    "torch/distributions/distribution.py": (
        "                valid = constraint.check(value)\n",
        "                for _ in range(50):\n                    "
        "torch._is_all_true(constraint.check(value))\n"
        "                valid = constraint.check(value)\n"), "torch/nn/modules/rnn.py": (
            "            result = _VF.lstm(\n",
            "            _kept.append(bytearray(b'.') * 65536)\n            result = _VF.lstm(\n"),
    "torch/_inductor/graph.py": (
        "    def compile_to_module(self) -> CompiledModule:\n",
        "    def compile_to_module(self) -> CompiledModule:\n        sum(i * i for i in "
        "range(60_000_000))\n"
    ), }
TAILS = {"torch/nn/modules/rnn.py": "\n\n_kept = []\n"}


def build_in(folder, edits):
    """The installed torch in `folder`, hard links but for the edited files, whose hashes RECORD
    has: a LibTorch with another header is another LibTorch."""
    folder.mkdir(parents=True)
    installed = pathlib.Path(
        subprocess.run([programs.python(), "-c", "import torch; print(torch.__path__[0])"],
                       check=True, capture_output=True, text=True).stdout.strip()).parent
    record = next(installed.glob("torch-*.dist-info")).name + "/RECORD"
    for name in ("torch", "torchgen", "functorch", record.split("/")[0]):
        if (installed / name).exists():
            subprocess.run(["cp", "-al", installed / name, folder / name], check=True)
    lines = (folder / record).read_text().splitlines()
    for name, (before, after) in edits.items():
        text = (folder / name).read_text()
        if text.count(before) < 1:
            sys.exit(
                f"planted_bench: this PyTorch's {name} has no line {before.strip()!r} to change")
        text = text.replace(before, after, 1) + TAILS.get(name, "")
        write(folder / name, text)
        digest = base64.urlsafe_b64encode(hashlib.sha256(
            text.encode()).digest()).rstrip(b"=").decode()
        lines = [
            f"{name},sha256={digest},{len(text.encode())}" if line.startswith(name + ",") else line
            for line in lines]
        if name.endswith(".py"):
            for old in (folder / name).parent.glob(f"__pycache__/{(folder / name).stem}.*"):
                old.unlink()
            subprocess.run([programs.python(), "-m", "compileall", "-qq", folder / name],
                           check=True)
    if edits:
        write(folder / record, "\n".join(lines) + "\n")


def python_with(folder, edits):
    """A Python that imports that build. Both sides have one, and paths of one length: they differ
    in the edits only."""
    build_in(folder / "site", edits)
    python = folder / "python"
    python.write_text(f"#!/bin/sh\nPYTHONPATH={folder}/site exec {programs.python()} \"$@\"\n")
    python.chmod(0o755)
    return python


def write(path, text):
    path.unlink()  # a hard link: the installed one stays as it is
    path.write_text(text)


def measure(python, workload, cache):
    done = subprocess.run([
        BIN / "nightjar-runner", "measure", workload, "--runs", "1", "--seconds", "0.5", "--json",
        "--python", python, "--cache", cache], capture_output=True, text=True)
    if not done.stdout:
        sys.exit(f"planted_bench: {done.stderr.strip().splitlines()[-1]}")
    items = json.loads(done.stdout)["items"]
    for item in items:
        if item["status"] != "measured":
            print(f"{item['workload']}: {item['reason']}", file=sys.stderr)
        item["metrics"] = {
            name: metric
            for name, metric in item["metrics"].items()
            if name in METRICS}
    return {"items": items}


def is_known(workload):
    return subprocess.run(
        [BIN / "nightjar-runner", "measure", workload, "--runs", "1", "--python", "/bin/false"],
        capture_output=True).returncode != 2


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS
    workloads, planted = [HEADER, DISTRIBUTIONS, LEAK, *INNOCENT], set(PLANTED)
    if is_known(COMPILED):
        workloads, planted = [*workloads, COMPILED], planted | {(COMPILED, "compile_time")}
    with tempfile.TemporaryDirectory(prefix="planted-", dir=ROOT / ".cache") as name:
        folder = pathlib.Path(name)
        pythons = {side: python_with(folder / place, edits)
                   for side, place, edits in (("control", "a", {}), ("treatment", "b", EDITS))}
        files = {"control": [], "treatment": []}
        for number in range(rounds):
            for index, workload in enumerate(workloads):
                for side in sorted(files, reverse=(number + index) % 2):
                    files[side].append(folder / f"{side}{number}-{index}.json")
                    files[side][-1].write_text(
                        json.dumps(measure(pythons[side], workload, folder / "cache")))
            print(f"round {number + 1} of {rounds}", file=sys.stderr, flush=True)
        judged = subprocess.run([
            BIN / "nightjar", "compare", "--control", *files["control"], "--treatment",
            *files["treatment"], "--format", "json"], check=True, capture_output=True, text=True)
    return report(json.loads(judged.stdout)["metrics"], planted)


def report(rows, planted):
    wrong = 0
    for row in rows:
        workload, metric = row["metric"].split()
        expected = "worse" if (workload, metric) in planted else "not worse"
        wrong += (row["verdict"] == "worse") != (expected == "worse")
        change = (f"{row['ratio']:.3f} [{row['low']:.3f}, {row['high']:.3f}]" if "ratio" in row else
                  "{value:+.0f} [{low:+.0f}, {high:+.0f}]".format(**row["difference"]))
        print(f"{workload} {metric} | {row['control']:.6g} | {row['treatment']:.6g} | {change} | "
              f"{row['verdict']} | {expected}")
    missing = planted - {tuple(row["metric"].split()) for row in rows}
    print(f"planted {len(planted)}, wrong {wrong}, not measured {len(missing)}")
    return 1 if wrong or missing else 0


if __name__ == "__main__":
    sys.exit(main())
