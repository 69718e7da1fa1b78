"""Follows the service through a nightly: says what happens, and stops if it would wait in vain."""

import time

import narrate
from service_client import Unreachable
from stage import Broken

RESTART_SECONDS = 30
QUIET_SECONDS = 60  # after which the demo says what it is at


class Patience:
    """Gives each stage of a nightly its own time, from when the stage is first waited for."""

    def __init__(self, folder, clock=time.monotonic):
        self.folder, self.clock = folder, clock
        self.stage, self.since = None, None

    def check(self, stage, seconds, problem=""):
        """Raises Broken if `stage` has been waited for longer than `seconds`. `problem` may say
        why."""
        now = self.clock()
        if stage != self.stage:
            self.stage, self.since = stage, now
        if now - self.since > seconds:
            why = f" ({problem})" if problem else ""
            raise Broken(f"waited {seconds} s for {stage}{why}; see the logs in {self.folder}")


def look(stage):
    """The service's state. Waits for a service that is restarting."""
    end = time.monotonic() + RESTART_SECONDS
    while True:
        try:
            return stage.service.snapshot()
        except Unreachable:
            stage.check_alive()
            if time.monotonic() > end:
                raise
            time.sleep(0.5)


def follow(stage, say, seen, nightly, notice=lambda now: None, clock=time.monotonic):
    """Says what happens until nothing is left to do about `nightly`, and returns the last snapshot.
    When nothing happens for a minute, it says what is under way. `seen` is the snapshot before the
    first, `notice` gets each. Raises Broken if the nightly is refused or a stage takes too long."""
    patience = Patience(stage.folder, clock)
    spoke = clock()
    while True:
        stage.check_alive()
        now = look(stage)
        news = list(narrate.sentences(seen, now))
        if not news and clock() - spoke >= QUIET_SECONDS:
            news = narrate.under_way(now, stage.last_words("nightjar-runner"))
        for sentence in news:
            say(sentence)
            spoke = clock()
        notice(now)
        if refusal := narrate.refusal(now, nightly["version"]):
            raise Broken(refusal)
        if narrate.is_settled(now, nightly["date"]):
            return now
        patience.check(*narrate.awaited(now, nightly))
        seen = now
        time.sleep(1)
