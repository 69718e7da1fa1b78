"""Profiles at both sides of a made culprit, as the service asks for them before a report."""

import json
import random

from drawn import CLASSES

RUNS, ITERATIONS = 5, 6
MEMORY = ("parameters", "buffers", "gradients", "optimizer_state", "inputs", "activations",
          "workspace")
# Operator, share of the time, calls, FLOP a second of its time in GFLOP/s, GB/s.
OPERATORS = {
    True: [("aten::convolution_backward", .3, 20, 60, 9), ("aten::mm", .18, 40, 80, 6),
           ("aten::addmm", .12, 38, 75, 7), ("aten::add_", .1, 160, 1.2, 14),
           ("aten::native_layer_norm", .07, 24, 4, 11), ("aten::copy_", .06, 60, 0, 15),
           ("aten::_softmax", .04, 12, 3, 10), ("aten::embedding", .02, 2, 0, 8)],
    False: [("aten::addmm", .34, 38, 82, 6), ("aten::mkldnn_convolution", .2, 20, 70, 8),
            ("aten::_softmax", .1, 12, 3, 10), ("aten::add", .08, 62, 1.2, 14),
            ("aten::native_layer_norm", .07, 24, 4, 11), ("aten::copy_", .04, 30, 0, 15),
            ("aten::gelu", .03, 12, 8, 9)]}
CEILINGS = {"cpu": ({"fp32": 93e9, "bf16": 120e9}, 16.4e9),
            "cuda": ({"fp32": 19e12, "fp16": 290e12, "bf16": 290e12}, 1.6e12)}


class Profiles:
    def __init__(self, jobs, tables):
        self.jobs, self.tables, self.random = jobs, tables, random.Random(31)

    def add(self, regression, night, machine, sides, workload, factor, at):
        """One session with runs of both sides in turns; the later side is `factor` slower."""
        order = [(i % 2, 0) for i in range(2 * RUNS)]
        job = self.jobs.add(f"regression:{regression}/profile", night, machine, "profile", sides,
                            [workload], order, at, priority=10)
        self.jobs.finish(job, machine, at)
        slower = self.random.randrange(3)
        for position, (side, _) in enumerate(order):
            run = self.tables.add(
                "run", job=job, position=position, build=sides[side]["id"], workload=workload.id,
                status="measured", reason="", checksum=1.0, warmup_iterations=5,
                started_at_us=int(at.timestamp() * 1e6), seconds=3.1)
            body = self._body(sides[side], workload, machine, slower, factor if side else 1)
            self.tables.add("profile", run=run, body=json.dumps(body))

    def _body(self, build, workload, machine, slower, factor):
        cuda, train = workload.device == "cuda", "/train/" in workload.name
        flops, bandwidth = CEILINGS[workload.device]
        faster = (flops["fp32"] / 93e9, bandwidth / 16.4e9)
        seconds = workload.seconds * CLASSES[machine][3]
        operators, total = [], 0
        for place, (name, share, calls, giga_flops, giga_bytes) in enumerate(OPERATORS[train]):
            own = share * seconds
            added = (factor - 1) * seconds if place == slower else 0
            times = [self._around(own + added) for _ in range(ITERATIONS)]
            total += own + added
            operators.append({
                "name": name, "calls": calls, "flops": int(giga_flops * 1e9 * own * faster[0]),
                "bytes": int(giga_bytes * 1e9 * own * faster[1]), "unknown": 0, "dtype": "fp32",
                "self_seconds": [[t * .1 for t in times] if cuda else times],
                "device_seconds": [times if cuda else [0.0] * ITERATIONS]})
        outside = seconds * .16
        whole = total + outside
        zeros = [self._around(outside) for _ in range(ITERATIONS)] if cuda else []
        return {
            "workload": workload.name, "version": 1, "status": "profiled", "reason": None,
            "build": {"version": build["version"], "commit": build["commit"]}, "machine": {},
            "threads": 1, "operators": operators, "memory_reason": None, "hints": [],
            "memory": self._memory(workload, train),
            "ceilings": {"device": workload.device, "threads": 1, "flops": flops,
                         "bytes": bandwidth},
            "runs": [{
                "plain_seconds": whole * .8, "slowdown": [1.0] * ITERATIONS,
                "iteration_seconds": [self._around(whole) for _ in range(ITERATIONS)],
                "outside_seconds": [self._around(outside) for _ in range(ITERATIONS)],
                "active_seconds": [t * 5 for t in zeros], "moving_seconds": [t * .3 for t in zeros],
                "idle_seconds": zeros}]}

    def _around(self, seconds):
        return seconds * (1 + abs(self.random.gauss(0, .004)))

    @staticmethod
    def _memory(workload, train):
        shares = (.25, .01, .2, .25, .02, .22, .05) if train else (.7, .02, 0, 0, .03, 0, .25)
        parts = {name: int(workload.bytes * share) for name, share in zip(MEMORY, shares)}
        return parts | {"peak": sum(parts.values()), "gradients_made": parts["gradients"]}
