"""Why a run has no result, where the cause is known."""


class Unavailable(Exception):
    """It cannot run here: no such device, a missing module. The text says what."""


class WrongResult(Exception):
    pass
