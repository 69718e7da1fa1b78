"""Measures the ceilings of this machine: `ceilings.py THREADS cpu|cuda` writes one JSON object to
file descriptor 3 (or standard output). It has matrix products in FLOP/s by type, and copying in
bytes/s (read and written).

The fastest of several repetitions counts, since a ceiling is the machine at its best.
"""

import sys
import time

from harness import protocol

SIZE = {"cpu": 512, "cuda": 8192}  # of square matrices
COPIED = {"cpu": 64 << 20, "cuda": 1 << 30}  # bytes, past any cache
TYPES = {"cpu": ("float32", "bfloat16"), "cuda": ("float32", "bfloat16", "float16")}
NAMES = {"float32": "fp32", "bfloat16": "bf16", "float16": "fp16"}
BF16_UNITS = {"avx512_bf16", "amx_bf16", "bf16", "svebf16"}
SECONDS = 0.5  # time of the repetitions, at least
LEAST = 3  # number of repetitions, at least


def main():
    if len(sys.argv) != 3 or not sys.argv[1].isdigit() or sys.argv[2] not in SIZE:
        print("ceilings.py THREADS cpu|cuda", file=sys.stderr)
        return 2
    import torch
    device = sys.argv[2]
    torch.set_num_threads(int(sys.argv[1]))
    synchronize = torch.cuda.synchronize if device == "cuda" else lambda: None
    flops = {
        NAMES[name]: product(torch, getattr(torch, name), device, synchronize)
        for name in TYPES[device]}
    protocol.Channel().send("ceilings", threads=int(sys.argv[1]), device=device, flops=flops,
                            bytes=copy(torch, device, synchronize),
                            emulated=emulated(cpu_features()) if device == "cpu" else [])
    return 0


def cpu_features(file="/proc/cpuinfo"):
    """The names of the CPU's features, as Linux has them on x86 ("flags") and ARM ("Features")."""
    with open(file, encoding="utf-8", errors="replace") as lines:
        found = [line.split(":", 1)[1] for line in lines
                 if line.lower().startswith(("flags", "features"))]
    return set(found[0].split()) if found else set()


def emulated(features):
    """The types of products that the CPU has no units for: oneDNN converts them to float32."""
    return [] if features & BF16_UNITS else ["bf16"]


def product(torch, dtype, device, synchronize):
    size = SIZE[device]
    # Random, since with all ones few of a GPU's bits would switch and its clock would stay higher.
    first, second = (torch.rand(size, size, device=device).sub(0.5).to(dtype) for _ in range(2))
    out = torch.empty_like(first)
    return 2 * size**3 / fastest(lambda: torch.mm(first, second, out=out), synchronize)


def copy(torch, device, synchronize):
    source = torch.ones(COPIED[device], dtype=torch.uint8, device=device)
    target = torch.empty_like(source)
    return 2 * COPIED[device] / fastest(lambda: target.copy_(source), synchronize)


def fastest(work, synchronize):
    work()
    best, begin, done = float("inf"), time.perf_counter(), 0
    while done < LEAST or time.perf_counter() - begin < SECONDS:
        synchronize()
        start = time.perf_counter()
        work()
        synchronize()
        best = min(best, time.perf_counter() - start)
        done += 1
    return best


if __name__ == "__main__":
    sys.exit(main())
