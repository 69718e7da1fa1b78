"""The profiler of the stand-in: the same trees and events as PyTorch's, and a trace in Kineto's
format. Its fields are those of Kineto in August 2026, for a build with CUDA or with HIP."""
import contextlib
import json
import os
import time
import types

from .. import gpu, version

HIP = version.hip is not None
BASE = 1_790_857_026_000_000_000  # of a trace's times


class profile:
    def __init__(self, use_kineto, use_device=None, record_shapes=False, profile_memory=False):
        assert use_kineto and use_device in (None, "cuda")
        self._results = Results(use_device == "cuda", profile_memory)

    @property
    def kineto_results(self):
        assert gpu.recorder is None, "the profiler is still on"
        return self._results

    def __enter__(self):
        assert gpu.recorder is None, "another profiler is on"
        gpu.recorder = self._results
        return self

    def __exit__(self, *_):
        gpu.recorder = None


@contextlib.contextmanager
def record_function(name):
    if not gpu.recorder:
        yield
        return
    with gpu.recorder.operator(name, "user_annotation", []):
        yield


class Event:
    def __init__(self, name, on_device, number, linked, start, end):
        self._values = name, on_device, number, linked, start, end

    def name(self):
        return self._values[0]

    def device_type(self):
        from . import DeviceType
        return DeviceType.CUDA if self._values[1] else DeviceType.CPU

    def correlation_id(self):
        return self._values[2]

    def linked_correlation_id(self):
        return self._values[3]

    def start_ns(self):
        return self._values[4]

    def end_ns(self):
        return self._values[5]


class Results:
    """What a profiler has seen; it is the device's recorder meanwhile."""

    def __init__(self, sees_device, sees_memory):
        self._sees_device, self._sees_memory = sees_device, sees_memory
        self._start = time.time_ns()
        self._roots, self._open = [], []
        self._events, self._trace = [], []
        self._operators = 0

    # ---- recording
    @contextlib.contextmanager
    def operator(self, name, kind, inputs):
        self._operators += 1
        number = self._operators
        fields = types.SimpleNamespace(inputs=[
            types.SimpleNamespace(sizes=list(one.shape), dtype=one.dtype) for one in inputs])
        node = types.SimpleNamespace(name=name, tag="_EventType.TorchOp", children=[],
                                     start_time_ns=time.time_ns(), end_time_ns=0,
                                     extra_fields=fields, on_device=[])
        self._append(node)
        self._open.append((number, node))
        try:
            yield
        finally:
            self._open.pop()
            node.end_time_ns = time.time_ns()
            self._events.append(Event(name, False, number, 0, node.start_time_ns,
                                      node.end_time_ns))
            self._write(kind, name, os.getpid(), os.getpid(), node.start_time_ns, node.end_time_ns,
                        {"External id": number, "Record function id": 0, "Ev Idx": number - 1})
            if kind == "user_annotation" and node.on_device:
                self._repeat_on_device(name, number, node.on_device[0][0], node.on_device[-1][1])

    def _repeat_on_device(self, name, number, start, end):
        """A range of the host is told a second time, from its first kernel to its last."""
        self._events.append(Event(name, True, number, number, start, end))
        self._write("gpu_user_annotation", name, 0, 7, start, end, {"External id": number})

    def runtime(self, name, correlation, start, end):
        if not self._sees_device:
            return
        name = ("hip" if HIP else "cuda") + name
        more = {"cbid": 211}
        if HIP:
            more = {"cid": 1, "grid": [8, 16, 1], "block": [256, 1, 1], "shared memory": 0}
        self._events.append(Event(name, False, correlation, self._linked(), start, end))
        self._write("cuda_runtime", name, os.getpid(), os.getpid(), start, end,
                    {"External id": self._linked(), "correlation": correlation, **more})

    def kernel(self, name, correlation, start, took):
        if not self._sees_device:
            return
        more = {"hsa_queue": 1, "kind": "Dispatch Kernel"} if HIP else {
            "queued": 0, "context": 1, "registers per thread": 122, "shared memory": 16384,
            "blocks per SM": 0.969697, "warps per SM": 7.757576, "est. achieved occupancy %": 12}
        for _, node in self._open:
            node.on_device.append((start, start + took))
        self._events.append(Event(name, True, correlation, self._linked(), start, start + took))
        self._write("kernel", name, 0, 7, start, start + took, {
            "External id": self._linked(), "device": 0, "stream": 7, "correlation": correlation,
            "grid": [8, 16, 1], "block": [256, 1, 1], **more})

    def memory(self, address, size):
        if self._sees_memory:
            now = time.time_ns()
            fields = types.SimpleNamespace(device=types.SimpleNamespace(type="cuda"), ptr=address,
                                           alloc_size=size)
            self._append(types.SimpleNamespace(name="[memory]", tag="_EventType.Allocation",
                                               children=[], start_time_ns=now, end_time_ns=now,
                                               extra_fields=fields))

    def _append(self, node):
        (self._open[-1][1].children if self._open else self._roots).append(node)

    def _linked(self):
        return self._open[-1][0] if self._open else 0

    def _write(self, kind, name, process, thread, start, end, args):
        self._trace.append({"ph": "X", "cat": kind, "name": name, "pid": process, "tid": thread,
                            "ts": (start - BASE) / 1000, "dur": (end - start) / 1000, "args": args})

    # ---- reading
    def trace_start_ns(self):
        return self._start

    def experimental_event_tree(self):
        return self._roots

    def events(self):
        return self._events

    def save(self, path):
        begin = (self._start - BASE) / 1000
        process = os.getpid()
        device = {"id": 0, "name": "AMD Instinct MI300X" if HIP else "NVIDIA H100 80GB HBM3",
                  "computeMajor": 9, "computeMinor": 4 if HIP else 0, "warpSize": 64 if HIP else 32}
        versions = ({"hip_driver_version": "70051831"} if HIP
                    else {"cupti_version": 26, "cuda_runtime_version": 13000,
                          "cuda_driver_version": 13000})
        about = [{"ph": "M", "name": "process_name", "ts": begin, "pid": process, "tid": 0,
                  "args": {"name": "python"}},
                 {"ph": "M", "name": "process_labels", "ts": begin, "pid": 0, "tid": 0,
                  "args": {"labels": "GPU 0"}}]
        end = [{"ph": "i", "s": "g", "name": "Iteration Start: PyTorch Profiler", "pid": "Traces",
                "tid": "Trace PyTorch Profiler", "ts": begin},
               {"ph": "i", "s": "g", "name": "Record Window End", "pid": "", "tid": "",
                "ts": (time.time_ns() - BASE) / 1000}]
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"schemaVersion": 1, "deviceProperties": [device], **versions,
                       "host_name": "host", "displayTimeUnit": "ms", "baseTimeNanoseconds": BASE,
                       "traceEvents": about + self._trace + end, "traceName": path}, file)
