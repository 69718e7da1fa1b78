"""Which faults a seed plays, and when."""

import dataclasses
import itertools
import random

AGENTS = ("agent-1", "agent-2", "agent-3")
SERVICE = "nightjard"
PROGRAMS = (SERVICE, *AGENTS)
OUTSIDE = ("tracker", "index")  # what the service asks
DAY = 86_400
MEAN_GAP = 2.0  # seconds between two faults
# By kind: its weight, its targets, and its longest time in seconds.
KINDS = {
    "kill": (4, PROGRAMS, 3),  # SIGKILL, and started again after that time
    "reboot": (2, PROGRAMS, 3),  # the same, and its clock is set while it is away
    "freeze": (3, PROGRAMS, 12),  # SIGSTOP, then SIGCONT
    "cut": (3, (*AGENTS, *OUTSIDE), 8),
    "unplugged": (2, AGENTS, 15),  # the link of its network is down
    "stalled": (2, (*AGENTS, *OUTSIDE), 15),
    "delayed": (2, (*AGENTS, *OUTSIDE), 10),
    "half-closed": (2, (*AGENTS, *OUTSIDE), 5),
    "full": (2, PROGRAMS, 8),  # its disk
    "clock": (3, PROGRAMS, 0),  # its wall clock is set
    "refused": (2, ("tracker",), 0),  # GitHub's double fails one request
}
NEEDS_ROOT = {"unplugged", "full"}
REFUSALS = ("502", "503", "502_after", "cut_before", "cut_after", "cut_within", "not_json",
            "403_retry_after", "429", "401")


@dataclasses.dataclass(frozen=True)
class Fault:
    at: float  # seconds since faults began
    kind: str
    target: str
    seconds: float
    value: object = None  # seconds that a clock is off from then on, or how GitHub refuses

    def __str__(self):
        value = "" if self.value is None else f" {self.value}"
        lasts = f" for {self.seconds:.1f} s" if self.seconds else ""
        return f"{self.at:7.1f} s  {self.kind} {self.target}{value}{lasts}"


def draw_faults(seed, without=()):
    """Faults without end, in order of time. The same seed draws the same ones."""
    draw = random.Random(f"faults {seed}")
    kinds = [kind for kind in KINDS if kind not in without]
    weights = [KINDS[kind][0] for kind in kinds]
    at = 0.0
    for _ in itertools.count():
        at += draw.expovariate(1 / MEAN_GAP)
        [kind] = draw.choices(kinds, weights)
        _, targets, longest = KINDS[kind]
        value = None
        if kind in ("clock", "reboot"):
            value = draw.choice([-DAY, DAY, draw.randint(-DAY, DAY)])
        if kind == "refused":
            value = draw.choice(REFUSALS)
        yield Fault(at, kind, draw.choice(targets), draw.uniform(0, longest), value)
