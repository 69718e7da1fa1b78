"""A world whose programs read a wall clock that the test sets."""
import datetime
import sys
import time

from world import ROOT, World

sys.path.append(str(ROOT / "tests" / "chaos"))

from clock import Clock, compile_library


class ClockWorld(World):
    def __init__(self, folder, **overrides):
        super().__init__(folder, **overrides)
        self.clock = Clock(folder / "clock", compile_library(folder))

    def environment_of(self, name):
        return self.clock.environment

    def set_time(self, moment):
        """To a time such as 2026-10-25T00:31:00Z, from which it goes on."""
        wanted = datetime.datetime.fromisoformat(moment.replace("Z", "+00:00")).timestamp()
        self.clock.set(int(wanted - time.time()))
