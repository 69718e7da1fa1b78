"""Why a run has no result: the known causes, and any exception in one line."""


class Unavailable(Exception):
    """The workload cannot run here, for want of a device or a module. The text says what is
    missing."""


class WrongResult(Exception):
    pass


class Faulty(Exception):
    """The workload's own file or its entry in workloads.json is wrong. The text says which, and
    what it needs."""


def last_line(error):
    """The last line of an exception's text, which may be empty."""
    return (str(error).strip().splitlines() or [""])[-1]


def one_line(error):
    """An exception's type, and the last line of its text if there is one."""
    text = last_line(error)
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
