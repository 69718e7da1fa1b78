"""Why a run has no result, where the cause is known."""


class Unavailable(Exception):
    """It cannot run here: no such device, a missing module. The text says what."""


class WrongResult(Exception):
    pass


class Faulty(Exception):
    """The workload's own file or its entry in workloads.json is wrong. The text says which and what it needs."""
