"""The runner that a service starts beside itself."""
import os
import pathlib
import signal

import pytest

from world import BIN


def runner_of(service):
    children = pathlib.Path(f"/proc/{service}/task")
    for task in children.iterdir():
        for child in (task / "children").read_text().split():
            if b"nightjar-runner" in pathlib.Path(f"/proc/{child}/cmdline").read_bytes():
                return int(child)
    return None


def sockets_of(process):
    found = set()
    for descriptor in pathlib.Path(f"/proc/{process}/fd").iterdir():
        try:
            found.add(os.readlink(descriptor))
        except OSError:  # it was closed meanwhile
            pass
    return {name for name in found if name.startswith("socket:")}


def is_alive(process):
    try:
        return "\nState:\tZ" not in pathlib.Path(f"/proc/{process}/status").read_text()
    except OSError:
        return False


@pytest.mark.first
def test_the_runner_beside_a_service_has_none_of_its_sockets_and_ends_with_it(world):
    w = world()
    w.start("nightjard", BIN / "nightjard", "--config", w.config, "--local-runner")
    w.wait("the daemon to listen", w.port_file.exists, 30)
    w.wait("the runner to register", lambda: w.items("runners"))
    service = w.processes["nightjard"].pid
    runner = runner_of(service)
    of_service = sockets_of(service)
    assert of_service and not of_service & sockets_of(runner)
    w.kill("nightjard", signal.SIGKILL)
    w.wait("the runner to end", lambda: not is_alive(runner), 30)
