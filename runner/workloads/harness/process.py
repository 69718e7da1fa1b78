"""What Linux says about this process: memory, CPU time, time spent waiting for a CPU."""

import ctypes
import os
import re
import time

MMAP_FROM, TRIM_ABOVE = 32 << 20, 1 << 30  # bytes, see steady_allocator
OWN_THRESHOLD = "MALLOC_MMAP_THRESHOLD_"  # glibc's variable; whoever sets it chose another layout
_PAGE = os.sysconf("SC_PAGE_SIZE")


class Counters:
    """Cheap readings around an iteration: the files stay open, and each reading is one pread."""

    def __init__(self):
        self._memory = os.open("/proc/self/statm", os.O_RDONLY)
        try:
            self._schedule = os.open("/proc/self/schedstat", os.O_RDONLY)
        except OSError:  # a kernel without scheduler statistics
            self._schedule = None

    def cpu_ns(self):
        """CPU time of all threads of this process."""
        return time.process_time_ns()

    def wait_ns(self):
        """Time in which the main thread was ready to run but had no CPU; 0 if not known."""
        if self._schedule is None:
            return 0
        return int(os.pread(self._schedule, 96, 0).split()[1])

    def resident_bytes(self):
        return int(os.pread(self._memory, 96, 0).split()[1]) * _PAGE


def peak_bytes():
    """The process's VmHWM. ru_maxrss would inherit the parent's peak through fork and exec."""
    with open("/proc/self/status", encoding="ascii") as status:
        return int(re.search(r"^VmHWM:\s+(\d+) kB", status.read(), re.MULTILINE)[1]) * 1024


def forget_peak():
    """Lets VmHWM begin again at what is resident now. False where /proc is read-only: it stays."""
    try:
        with open("/proc/self/clear_refs", "w", encoding="ascii") as file:
            file.write("5")
        return True
    except OSError:
        return False


def settings(threads):
    """The settings of this process that two comparable runs share."""
    given = os.environ.get
    record = {
        "threads": str(threads), "interop_threads": "1", "denormals": "flushed",
        "cpus": ",".join(map(str, sorted(os.sched_getaffinity(0)))),
        "omp_wait_policy": given("OMP_WAIT_POLICY", "default"),
        "allocator": f"glibc, {OWN_THRESHOLD}={given(OWN_THRESHOLD)}" if given(OWN_THRESHOLD) else
        f"glibc, mmap from {MMAP_FROM >> 20} MiB, trim above {TRIM_ABOVE >> 20} MiB",
        "cuda_allocator": given("PYTORCH_ALLOC_CONF", given("PYTORCH_CUDA_ALLOC_CONF", "default"))}
    preloaded = {"preloaded": given("LD_PRELOAD")} if given("LD_PRELOAD") else {}
    return record | preloaded


def steady_allocator():
    """Fixes glibc's thresholds for mapping and trimming memory at the values that its adaptation
    reaches anyway. Otherwise peak memory depends on the order in which the first blocks are freed.
    Call it before torch allocates. Does nothing if the environment sets a threshold."""
    if OWN_THRESHOLD in os.environ:
        return
    mmap_threshold, trim_threshold = -3, -1  # malloc.h
    libc = ctypes.CDLL(None)
    libc.mallopt(mmap_threshold, MMAP_FROM)
    libc.mallopt(trim_threshold, TRIM_ABOVE)
