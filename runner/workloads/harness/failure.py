"""The known causes of a run without a result."""


class Unavailable(Exception):
    """The workload cannot run here, for want of a device or a module. The text says what is missing."""


class WrongResult(Exception):
    pass


class Faulty(Exception):
    """The workload's own file or its entry in workloads.json is wrong. The text says which, and what it needs."""
