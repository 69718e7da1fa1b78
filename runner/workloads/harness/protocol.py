"""The protocol with the runner: a request on standard input, answers as JSON lines on descriptor
3."""

import json
import os
from dataclasses import dataclass

MAX_ITERATIONS = 1000
PEAK_AT = 30  # iterations after which peak memory is read, unless they are slow
LEAST_PEAK_AT = 6  # the checksum is taken before it


class BadRequest(Exception):
    pass


@dataclass(frozen=True)
class Request:
    workload: str
    version: int
    seed: int
    threads: int
    min_iterations: int
    seconds: float
    fastest_probe: float  # of earlier processes, in seconds; 0: not known
    slow: float = 0.0  # a slow-down to plant, as a share of an iteration's time
    sizes: str = "default"  # or "tiny"
    module: str = "torch"  # what the build under test is of
    kernel_iterations: int = 0  # on a device: profiled after the timed ones, for kernel_time
    peak_at: int = PEAK_AT
    compare_memory: bool = False  # of a run's own second process, see compression.py

    @staticmethod
    def parse(text):
        """Throws BadRequest, which names the field that is wrong."""
        try:
            fields = json.loads(text)
        except ValueError as error:
            raise BadRequest(f"the request is no JSON: {error}") from None
        if not isinstance(fields, dict):
            raise BadRequest("the request is no JSON object")

        def take(name, kind, default, low, high):
            value = fields.get(name, default)
            if isinstance(value, bool) or not isinstance(value, kind):
                raise BadRequest(f"the request's '{name}' is missing or of the wrong type")
            if not low <= value <= high:
                raise BadRequest(f"the request's '{name}' is not between {low} and {high}")
            return value

        if not isinstance(fields.get("workload"), str):
            raise BadRequest("the request's 'workload' is missing or of the wrong type")
        sizes = fields.get("sizes", "default")
        if sizes not in ("default", "tiny"):
            raise BadRequest("the request's 'sizes' is neither \"default\" nor \"tiny\"")
        module = fields.get("module", "torch")
        if not isinstance(module, str) or not all(map(str.isidentifier, module.split("."))):
            raise BadRequest("the request's 'module' is no name of a module")
        return Request(fields["workload"], take("version", int, None, 1, 2**31 - 1),
                       take("seed", int, 0, 0, 2**64 - 1), take("threads", int, 1, 1, 1024),
                       take("min_iterations", int, 10, 1, MAX_ITERATIONS),
                       float(take("seconds", (int, float), 2.0, 0, 3600)),
                       float(take("fastest_probe", (int, float), 0.0, 0, 1)),
                       float(take("slow", (int, float), 0.0, 0, 10)), sizes, module,
                       take("kernel_iterations", int, 0, 0, MAX_ITERATIONS),
                       take("peak_at", int, PEAK_AT, LEAST_PEAK_AT, MAX_ITERATIONS),
                       fields.get("compare_memory") is True)


class Channel:
    """Writes to descriptor 3 if the caller opened it, else to standard output, for a terminal."""

    def __init__(self):
        try:
            os.fstat(3)
            self._descriptor = 3
        except OSError:
            self._descriptor = 1

    def send(self, event, **fields):
        self.send_all([{"event": event, **fields}])

    def send_all(self, messages):
        data = "".join(json.dumps(message) + "\n" for message in messages).encode()
        while data:
            data = data[os.write(self._descriptor, data):]

    def error(self, status, reason, accuracy=None):
        self.send("error", status=status, reason=reason,
                  **({"accuracy": accuracy} if accuracy else {}))
