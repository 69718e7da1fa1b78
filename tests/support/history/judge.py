"""Asks the service's own rules what made runs say: build/bin/history_judge, which see."""

import json
import os
import pathlib
import subprocess

import drawn

BIN = pathlib.Path(os.environ.get("NIGHTJAR_BIN", drawn.ROOT / "build" / "bin"))


class Judge:
    """One process for a whole history. The caller closes it."""

    def __init__(self):
        program = BIN / "history_judge"
        if not program.exists():
            raise FileNotFoundError(
                f"{program} is missing; make it by ninja -C build history_judge")
        self._process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                         text=True)

    def ask(self, what, **more):
        self._process.stdin.write(json.dumps({"ask": what} | more) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            raise RuntimeError(f"history_judge ended with {self._process.wait()}")
        return json.loads(answer)

    def reason(self, text):
        return self.ask("reason", text=text)

    def close(self):
        self._process.stdin.close()
        self._process.wait(30)
