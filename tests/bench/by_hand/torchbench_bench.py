"""TorchBench's models through the harness against a bare loop over the same model: latency in turns
in one process (as harness_bench.py does), and peak memory of a process of each. NIGHTJAR_TORCHBENCH
names a checkout and NIGHTJAR_PYTHON a Python that has psutil and pyyaml, and what else models need;
without a checkout nothing is compared. Arguments: models, else all that docs/adapters.md names.
Exit status 1 if a ratio is over its bound or unclear, or a model runs in only one of both. Takes an
hour, and a quiet machine. """

import functools
import json
import os
import pathlib
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(HERE), str(HERE.parent / "workloads")]
import harness_bench  # noqa: E402
import programs  # noqa: E402

programs.LONGEST_SECONDS = 3600  # sixteen iterations of a minute, and more
BOUND = 1.02
SECONDS, PROCESSES, PRECISE = (10, 60), 5, 0.015
PAIRS = 12, 100  # of a process: the least, and the most as far as the seconds go
PATIENCE = 600  # seconds of a row, unless its first process takes longer
MODELS = """lennard_jones maml nanogpt phlippe_resnet phlippe_densenet pyhpc_equation_of_state
    pyhpc_isoneutral_mixing pyhpc_turbulent_kinetic_energy dcgan llama tts_angular BERT_pytorch
    nvidia_deeprecommender pytorch_unet microbench_unbacked_tolist_sum cm3leon_generate
    soft_actor_critic
    basic_gnn_gcn basic_gnn_gin basic_gnn_sage basic_gnn_edgecnn opacus_cifar10 functorch_dp_cifar10
    dlrm hf_Bert timm_vovnet""".split()
ALLOCATOR = {"MALLOC_MMAP_THRESHOLD_": str(32 << 20),
             "MALLOC_TRIM_THRESHOLD_": str(1 << 30)}  # as a run has it
# An iteration of these takes up to a minute at the batch that TorchBench chooses.
SMALLER = {
    "BERT_pytorch": 1, "nvidia_deeprecommender": 1, "pytorch_unet": 1, "dcgan": 2, "nanogpt": 1,
    "llama/eval": 2, "phlippe_densenet": 4, "phlippe_resnet": 8, "tts_angular/eval": 2,
    "timm_vovnet": 1, "hf_Bert": 1, "pyhpc_equation_of_state": 65536,
    "pyhpc_isoneutral_mixing": 65536, "dlrm": 128, "opacus_cifar10": 2, "functorch_dp_cifar10": 2}


@functools.cache
def listed():
    done = subprocess.run([
        programs.ROOT / "build/bin/nightjar-runner", "list", "--torchbench",
        os.environ["NIGHTJAR_TORCHBENCH"]], check=True, capture_output=True, text=True)
    return done.stdout.split()


def smaller(model, task):
    """Or None: the model's own. Told a batch, llama's empty training passes for one."""
    return SMALLER.get(f"{model}/{task}", SMALLER.get(model))


def name_of(model, task):
    batch = smaller(model, task)
    if batch is None:
        batch = next(
            name.split("/")[5]
            for name in listed()
            if name.startswith(f"torchbench/{model}/{task}/"))[1:]
    return f"torchbench/{model}/{task}/cpu/fp32/b{batch}/eager"


def bare_peak(name):
    """Bytes, or why there is none."""
    _, model, task, *_ = name.split("/")
    done = subprocess.run([
        programs.python(),
        str(HERE / "bare" / "torchbench_peak.py"), os.environ["NIGHTJAR_TORCHBENCH"], model, task,
        str(smaller(model, task) or "")], capture_output=True, text=True,
                          env={**programs.environment(), **ALLOCATOR})
    return int(
        done.stdout.split()[-1]) if done.returncode == 0 else done.stderr.strip().splitlines()[-1]


def peak(name, latencies):
    *samples, answer = programs.run(name)
    if answer["event"] != "result":
        return answer["reason"]
    latencies += [sample["latency"] for sample in samples if sample["event"] == "sample"]
    return answer["metrics"]["peak_cpu_memory"][0]


def peaks(name):
    """Measures the peaks of both sides, and our median latency. Each side has one process, or three
    if their peaks differ by more than the bound. A side without a peak is the reason instead."""
    latencies = []
    mine, theirs = [peak(name, latencies)], [bare_peak(name)]
    if isinstance(mine[0], str) or isinstance(theirs[0], str):
        return mine[0], theirs[0], None
    if abs(mine[0] / theirs[0] - 1) > BOUND - 1:
        mine += [peak(name, latencies) for _ in range(2)]
        theirs += [bare_peak(name) for _ in range(2)]
    return mine, theirs, statistics.median(latencies)


def differ(mine, theirs):
    """Whether the sides differ by more than the bound, and by more than processes of one side do:
    a bare loop's own peaks differ by up to 8 %."""
    apart = max(min(mine) - max(theirs), min(theirs) - max(mine))
    return apart > 0 and abs(statistics.median(mine) / statistics.median(theirs) - 1) > BOUND - 1


def shown(peaks):
    return ", ".join(f"{each / 2**20:.0f}" for each in peaks) + " MiB"


def row(name):
    """Prints it; True if it is over its bound, or the machine too noisy to say so."""
    mine, theirs, latency = peaks(name)
    if isinstance(mine, str) or isinstance(theirs, str):
        print(f"{name} | {mine} | bare loop {theirs} | | |", flush=True)
        return isinstance(mine, str) != isinstance(theirs, str)
    memory = statistics.median(mine) / statistics.median(theirs)
    least, most = (2 * pairs * latency for pairs in PAIRS)
    seconds = max(least, min(max(SECONDS[0], most), SECONDS[1]))
    processes = 1, max(1, min(PROCESSES, int(PATIENCE / seconds)))
    ours, bare, ratio, error, pairs = harness_bench.compare(name, seconds, processes, PRECISE)
    over = differ(mine, theirs) or abs(ratio - 1) - error > BOUND - 1
    unclear = not over and error > BOUND - 1
    print(
        f"{name} | {ours * 1e3:.2f} ms | {bare * 1e3:.2f} ms | {ratio:.4f} ± {error:.4f} ({pairs} "
        "pairs) | "
        f"{shown(mine)} | {shown(theirs)} | "
        f"{memory:.4f}{' | OVER' if over else ' | latency unclear' if unclear else ''}",
        flush=True)
    return over or unclear


def main():
    if "NIGHTJAR_TORCHBENCH" not in os.environ:
        print("no comparison: NIGHTJAR_TORCHBENCH names no checkout of TorchBench")
        return 0
    print("name | latency | bare loop | ratio | peak memory | bare loop | ratio (all within 2 %)")
    failed = [
        name for model in sys.argv[1:] or MODELS for task in ("train", "eval")
        if row(name := name_of(model, task))]
    print(json.dumps({"over or unclear": failed}))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
