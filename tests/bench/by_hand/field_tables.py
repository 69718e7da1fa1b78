"""The tables of docs/tables.md, as Markdown: field_tables.py FOLDER.

The folder holds what `nightjar-runner measure … --json` and `nightjar-runner profile … --json`
wrote, in any number of .json files. The page names the commands."""

import collections
import json
import os
import pathlib
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
BIN = pathlib.Path(os.environ.get("NIGHTJAR_BIN", ROOT / "build/bin"))
DOMAINS = {
    "vision": "resnet18 resnet50 mobilenet_v2 vgg16 densenet121 vision_transformer unet dcgan",
    "language": "transformer_encoder bert gpt2 t5", "speech": "tts_angular conformer",
    "recommendation": "dlrm autoencoder", "reinforcement learning": "soft_actor_critic",
    "other": "lennard_jones wave"}
VISION = ("vit_b16 beit_b16 convnext_l resnet50 segformer_b0 mask2former_swin_t maskformer_swin_b "
          "deeplabv3_mobilenet_v2 owlvit_b32 detr_resnet50 detr_resnet101 "
          "conditional_detr_resnet50").split()
MOVING = ("aten::copy_", "aten::_to_copy", "aten::clone", "aten::contiguous", "aten::cat",
          "aten::stack", "aten::fill_", "aten::zero_", "aten::index", "aten::gather",
          "aten::constant_pad_nd", "aten::slice_backward", "aten::select_backward",
          "aten::embedding", "aten::index_select", "aten::_reshape_alias", "aten::index_put_")
MEMORY = ("parameters", "gradients", "optimizer_state", "inputs", "activations", "workspace")
NEVER = "\\*"  # marks a value of a run that was disturbed all the time
LIMITERS = ("math", "memory", "launch", "inefficient")
MIB = 1 << 20


class Name:
    def __init__(self, text):
        self.text = text
        (self.suite, self.model, self.task, self.device, self.precision, self.batch,
         self.backend) = text.split("/")


def read(folder):
    """Measured items and profiles by workload, and the files of the measurements."""
    items, profiles, files = {}, {}, []
    for path in sorted(folder.glob("*.json")):
        found = json.loads(path.read_text(encoding="utf-8"))["items"]
        if found and "operators" in found[0]:
            for item in found:
                if item["status"] == "profiled" or item["workload"] not in profiles:
                    profiles[item["workload"]] = item
        else:
            files.append(path)
            for item in found:
                if item["status"] == "measured" or item["workload"] not in items:
                    items[item["workload"]] = item
    return items, profiles, files


def table(head, rows, text_columns=1):
    marks = ["---"] * text_columns + ["---:"] * (len(head) - text_columns)
    for row in (head, marks, *rows):
        print("| " + " | ".join(str(cell) for cell in row) + " |")
    print()


def latency(item):
    """Seconds and a mark. A run that never saw the machine undisturbed counts by its median."""
    metric = item["metrics"].get("latency")
    if metric is None:
        return None, ""
    if metric["location"] is not None:
        return metric["location"], ""
    return statistics.median(statistics.median(run) for run in metric["runs"] if run), NEVER


def value(item, metric):
    found = item["metrics"].get(metric)
    return found["location"] if found else None


def milliseconds(item):
    if item is None:
        return ""
    if item["status"] != "measured":
        reason = item["reason"] or ""
        if reason.startswith("left out"):
            return "not reached"
        short = {"out_of_memory": "OOM"}.get(reason.split(":")[0])
        return short or ("timed out" if "timed_out" in reason else item["status"])
    seconds, mark = latency(item)
    return f"{seconds * 1e3:.3g}{mark}" if seconds < 1 else f"{seconds * 1e3:.0f}{mark}"


def domain_of(model):
    return next((domain for domain, models in DOMAINS.items() if model in models.split()), None)


def mean(values):
    """None of nothing."""
    known = list(values)
    return statistics.mean(known) if known else None


def percent(part):
    return "" if part is None else f"{100 * part:.0f} %"


def share(part, whole):
    return percent(part / whole) if whole else ""


def work_of(profile):
    """Seconds of an iteration: in operators that compute, in those that move data, and outside."""
    computing = moving = 0.0
    for operator in profile["operators"]:
        seconds = statistics.median(statistics.median(run)
                                    for run in operator["self_seconds"] if run)
        if operator["name"] in MOVING:
            moving += seconds
        else:
            computing += seconds
    outside = statistics.median(statistics.median(run["outside_seconds"])
                                for run in profile["runs"])
    return computing, moving, outside


def domains(items, profiles):
    print("## 1. Time and memory by domain\n")
    rows = []
    for domain in DOMAINS:
        for task in ("eval", "train"):
            names = [Name(text) for text in items
                     if text.startswith("python/") and text.endswith("/eager")
                     and "/cpu/fp32/" in text]
            names = [name for name in names if domain_of(name.model) == domain
                     and (name.task == "eval" or name.task == "act") == (task == "eval")]
            measured = [items[name.text] for name in names
                        if items[name.text]["status"] == "measured"]
            profiled = [profiles[name.text] for name in names
                        if profiles.get(name.text, {}).get("status") == "profiled"]
            if not measured:
                continue
            shares = [mean(work_of(one)[i] / sum(work_of(one)) for one in profiled)
                      for i in range(3)]
            above = [(value(item, "peak_cpu_memory") - value(item, "memory_after_import")) / MIB
                     for item in measured]
            splits = [one["memory"] for one in profiled if one["memory"]]
            parts = [mean(split[part] / split["peak"] for split in splits) for part in MEMORY]
            spread = sorted(latency(item)[0] * 1e3 for item in measured)
            rows.append([domain, task, len(measured), f"{spread[0]:.3g} to {spread[-1]:.3g} ms",
                         *map(percent, shares), f"{statistics.median(above):.0f}",
                         *map(percent, parts)])
    table(["domain", "task", "models", "iteration", "computing", "moving data", "outside",
           "MiB above import", *(part.replace("_", " ") for part in MEMORY)], rows, 2)


def ratios(items):
    print("## 2. The compiler's ratios to eager\n")
    rows = []
    for text, item in items.items():
        name = Name(text)
        if name.backend == "eager" or name.precision != "fp32":
            continue
        if (item["reason"] or "").startswith("left out"):
            continue
        label = f"{name.suite}/{name.model} {name.task} {name.batch}"
        if name.backend != "inductor":
            label += " " + name.backend
        if item["status"] != "measured":
            rows.append([label, item["reason"] or item["status"], "", "", "", ""])
            continue
        rows.append([label, inverse_of(item, "speedup"), inverse_of(item, "compression_ratio"),
                     "no GPU", seconds_of(item, "compile_time"),
                     seconds_of(item, "warm_compile_time")])
    table(["workload", "time", "CPU memory", "GPU memory", "compile", "compile, warm"], rows)


def inverse_of(item, metric):
    ratio = value(item, metric)
    return f"{1 / ratio:.2f}" if ratio else ""


def seconds_of(item, metric):
    seconds = value(item, metric)
    return "" if seconds is None else f"{seconds:.1f} s"


def summary(files):
    print("## 3. The suites' summary\n")
    done = subprocess.run([BIN / "nightjar", "summary", "--format", "markdown", *files],
                          capture_output=True, text=True)
    print(done.stdout or done.stderr)


def vision(items):
    print("## 4. The vision models by batch and backend\n")
    for size in ("paper", "small"):
        batches, backends = ("b1", "b4", "b16"), ("eager", "inductor", "inductor-reduce-overhead")
        columns = [(batch, backend) for batch in batches for backend in backends
                   if any(f"-{size}/eval/cpu/fp32/{batch}/{backend}" in text for text in items)]
        rows = []
        for model in VISION:
            cells = [items.get(f"hf/{model}-{size}/eval/cpu/fp32/{batch}/{backend}")
                     for batch, backend in columns]
            rows.append([model, *map(milliseconds, cells)])
        print(f"Milliseconds, size `{size}`:\n")
        table(["model", *(" ".join(column) for column in columns)], rows)


def roofline(profiles):
    print("## 5. The roofline\n")
    rows = []
    for profile in profiles.values():
        name, operators = Name(profile["workload"]), profile["operators"]
        if profile["status"] != "profiled":
            why = ":".join(profile["reason"].split(":")[:2])  # without the program's last line
            rows.append([f"{name.model} {name.task}", why, *[""] * 7])
            continue
        seconds = sum(work_of(profile))
        flops, moved = (sum(one[key] for one in operators) for key in ("flops", "bytes"))
        times = {one["name"]: statistics.median(map(statistics.median, one["self_seconds"]))
                 for one in operators}
        limited = collections.Counter()  # stays empty if no iteration was undisturbed
        for one in operators:
            if one["limiter"]:
                limited[one["limiter"]] += times[one["name"]]
        first = max(operators, key=lambda one: times[one["name"]])
        rows.append([f"{name.model} {name.task}", f"{flops / 1e6:.4g}", f"{moved / 1e6:.4g}",
                     f"{flops / moved:.2f}" if moved else "", f"{flops / seconds / 1e9:.1f}",
                     *(share(limited[kind], seconds) if limited else "" for kind in LIMITERS),
                     f"`{first['name']}` {share(times[first['name']], seconds)}"])
    table(["model and task", "MFLOP", "MB moved", "FLOP/B", "GFLOP/s", *LIMITERS,
           "longest operator"], rows)


def main():
    items, profiles, files = read(pathlib.Path(sys.argv[1]))
    domains(items, profiles)
    ratios(items)
    summary(files)
    vision(items)
    roofline(profiles)


if __name__ == "__main__":
    main()
