import enum

from . import graph, profiler


class DeviceType(enum.Enum):
    CPU = 0
    CUDA = 1
