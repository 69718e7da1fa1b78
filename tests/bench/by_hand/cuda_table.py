"""The table of docs/cuda.md: what the suites take on a GPU, and what holds them back there.
cuda_table.py MEASUREMENT PROFILE..., which are what `nightjar-runner measure --suite native
--device cuda --json` and `nightjar-runner profile 'python/*/*/cuda/**' --json` wrote."""

import collections
import json
import pathlib
import statistics
import sys


def items_of(path):
    text = pathlib.Path(path).read_text()
    return {item["workload"].split("/", 1)[1]: item
            for item in json.loads(text)["items"]} if text else {}


def held_back(profile):
    """Shares of the kernels' time by what limits them, the greatest first."""
    shares = collections.Counter()
    for row in profile["operators"]:
        if taken := statistics.median(row["device_seconds"][0]):
            shares[row["limiter"]] += taken
    return ", ".join(
        f"{name} {100 * taken / shares.total():.0f} %" for name, taken in shares.most_common(2))


def profile_cells(profile):
    if profile is None or profile["status"] != "profiled":
        return ["", "", "", ""]
    run = profile["runs"][0]
    active = statistics.median(run["active_seconds"])
    return [
        f"{1e3 * run['plain_seconds']:.3g} ms", f"{1e3 * active:.3g} ms",
        f"{100 * active / run['plain_seconds']:.0f} %",
        held_back(profile)]


def measured_cells(item):
    metrics = item["metrics"]
    quiet = [value for value in metrics["latency"]["values"] if value is not None]
    latency = f"{1e3 * statistics.median(quiet):.3g} ms" if quiet else "never undisturbed"
    peaks = (metrics[name]["location"] / 2**20
             for name in ("peak_gpu_memory", "peak_gpu_memory_reserved"))
    return [latency, *(f"{peak:.0f} MiB" for peak in peaks)]


def main():
    measured = items_of(sys.argv[1])
    profiles = {name: item for path in sys.argv[2:] for name, item in items_of(path).items()}
    print(
        "| model and task | native latency | peak memory | reserved | Python iteration | kernels "
        "| busy | kernels held back by |"
    )
    print("|---|" + "---:|" * 6 + "---|")
    for name, item in measured.items():
        model, task, *_ = name.split("/")
        print("| " + " | ".join([
            f"{model} {task}", *measured_cells(item), *profile_cells(profiles.get(name))]) + " |")


if __name__ == "__main__":
    main()
