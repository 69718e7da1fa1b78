"""The device of this stand-in: its memory, and a stream that runs one kernel after another. A
process is 0.25 % faster or slower than another, a kernel 2 % than the next, as an H100's were.
Times are nanoseconds since the epoch."""
import contextlib
import math
import random
import time

LAUNCH_NS = 4_000  # from a call to the kernel's start

_draw = random.Random()
_speed = math.exp(_draw.gauss(0, 0.0025))
_free_at = 0  # when the stream has run all that was launched
_next_address, _held, _most = 0x7F0000000000, 0, 0
_correlations = 0
recorder = None  # of the profiler that is on


def synchronize():
    from_now = _free_at - time.time_ns()
    with call("DeviceSynchronize"):
        if from_now > 0:
            time.sleep(from_now * 1e-9)


def free_at():
    return max(_free_at, time.time_ns())


def launch(kernel, usual_ns):
    global _free_at
    with call("LaunchKernel") as number:
        start = max(_free_at, time.time_ns() + LAUNCH_NS)
        took = int(usual_ns * _speed * math.exp(_draw.gauss(0, 0.02)))
        _free_at = start + took
    if recorder:
        recorder.kernel(kernel, number, start, took)


@contextlib.contextmanager
def call(name):
    """A call of CUDA's or HIP's runtime, with the number that its kernel has, too."""
    global _correlations
    _correlations += 1
    begin = time.time_ns()
    yield _correlations
    if recorder:
        recorder.runtime(name, _correlations, begin, time.time_ns())


@contextlib.contextmanager
def operator(name, inputs):
    if not recorder:
        yield
        return
    with recorder.operator(name, "cpu_op", inputs):
        yield


# ---- memory
def take(size):
    global _next_address, _held, _most
    _next_address += 2 * size
    _held += size
    _most = max(_most, _held)
    if recorder:
        recorder.memory(_next_address, size)
    return _next_address


def give_back(address, size):
    global _held
    _held -= size
    if recorder:
        recorder.memory(address, -size)


def held():
    return _held


def most():
    return _most


def forget_most():
    global _most
    _most = _held
