"""The table of docs/workloads.md: latency, how it repeats from process to process, and peak memory
of each workload in both suites. workloads_table.py MEASUREMENT, which is what `nightjar-runner
measure … --runs 12 --json` wrote."""

import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
BIN = pathlib.Path(os.environ.get("NIGHTJAR_BIN", ROOT / "build/bin"))
VARIANT = "cpu/fp32"


def repeats(path):
    done = subprocess.run([BIN / "nightjar", "repeat", path, "--format", "json"],
                          capture_output=True, text=True)
    if not done.stdout:
        sys.exit(done.stderr.strip())
    return {row["workload"]: row for row in json.loads(done.stdout)["workloads"]}


def time_of(seconds):
    return f"{seconds * 1e3:.3g} ms"


def cells(item, repeat):
    if item is None or item["status"] != "measured":
        return ["", "", "", ""]
    peak = f"{item['metrics']['peak_cpu_memory']['location'] / 2**20:.0f} MiB"
    latency = item["metrics"].get("latency")
    if latency is None or latency["location"] is None:
        return ["never undisturbed", "", "", peak]
    if repeat is None:
        return [time_of(latency["location"]), "", "", peak]
    kind = "" if repeat["noise_class"] == "unknown" else f" {repeat['noise_class']}"
    return [time_of(latency["location"]), f"{100 * repeat['cv']:.1f} %{kind}",
            f"{repeat['ratio']:.3f} ({repeat['low']:.2f} to {repeat['high']:.2f})", peak]


def main():
    path = sys.argv[1]
    items = {item["workload"]: item for item in json.loads(pathlib.Path(path).read_text())["items"]}
    known = repeats(path)
    names = dict.fromkeys(
        name.split("/", 1)[1]
        for name in items
        if f"/{VARIANT}/" in name and name.endswith("/eager"))
    print(
        "| model and task | Python latency | CV | A/A ratio | peak | native latency | CV | A/A "
        "ratio | peak |"
    )
    print("|---|" + "---:|---:|---|---:|" * 2)
    for name in names:
        model, task, *_ = name.split("/")
        both = [cell for suite in ("python", "native")
                for cell in cells(items.get(f"{suite}/{name}"), known.get(f"{suite}/{name}"))]
        print("| " + " | ".join([f"{model} {task}", *both]) + " |")


if __name__ == "__main__":
    main()
