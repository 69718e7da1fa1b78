"""Times iterations on a CUDA device by CUDA events, beside the wall clock, and reads its caching
allocator."""

from harness.measurement import leak_slope


class DeviceClock:
    def __init__(self, torch):
        self._cuda = torch.cuda
        self._begin = torch.cuda.Event(enable_timing=True)
        self._end = torch.cuda.Event(enable_timing=True)
        self._seconds = []
        self._allocated = []
        self._peak = None

    def around(self, step):
        def marked():
            self._begin.record()
            output = step()
            self._end.record()
            return output
        return marked

    def synchronize(self):
        self._cuda.synchronize()

    def observe(self):
        """Call it once after each iteration, outside its time, since the allocator's statistics
        take a while."""
        self._seconds.append(self._begin.elapsed_time(self._end) * 1e-3)
        self._allocated.append(self._cuda.memory_allocated())
        # Read here, since memory used after the iterations is not the workload's.
        self._peak = self._cuda.max_memory_allocated(), self._cuda.max_memory_reserved()

    def metrics(self, warmup_iterations):
        allocated, reserved = self._peak
        return {"cuda_latency": self._seconds[warmup_iterations:], "peak_gpu_memory": [allocated],
                "peak_gpu_memory_reserved": [reserved],
                "leaked_gpu_memory": [leak_slope(self._allocated[warmup_iterations:])]}
