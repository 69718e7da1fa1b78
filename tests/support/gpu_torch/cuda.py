"""torch.cuda of the stand-in; ROCm's builds have it under this name, too."""
from . import gpu
from .gpu import synchronize

memory_allocated, max_memory_allocated = gpu.held, gpu.most
reset_peak_memory_stats = gpu.forget_most


def is_available():
    return True


def max_memory_reserved():
    return -(-gpu.most() // (2 << 20)) * (2 << 20)


class Event:
    def __init__(self, enable_timing=False):
        assert enable_timing
        self._at = 0

    def record(self):
        self._at = gpu.free_at()

    def elapsed_time(self, end):
        """Milliseconds."""
        return (end._at - self._at) * 1e-6
