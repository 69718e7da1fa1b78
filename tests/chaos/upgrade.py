"""Plays an upgrade with the real programs of an earlier version, and the way back, while a story is
under way:

    upgrade.py --old FOLDER     the folder with the earlier nightjard and nightjar-runner

In each stage of a story the old service ends and the new one starts with its data, while the old
runner goes on. Later the runner is replaced, too. For the way back the new service is ended in that
stage, the backup of before the upgrade is restored as docs/operating.md has it, and both old
programs go on. Either way the planted commit must be blamed, and nothing else.
"""

import argparse
import pathlib
import signal
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests" / "e2e"))

import durability_test  # noqa: E402
import world as worlds  # noqa: E402
from loop_test import ALPHA, STAGES, blamed, finish, first_night, shas  # noqa: E402
from world import World, script, step  # noqa: E402

NEW = worlds.BIN
CULPRIT = 6
RULES = [step(ALPHA, CULPRIT, latency=1.25)]
RUN_SECONDS = 0.05  # of each scripted run, so that an upgrade hits sessions


def use(programs):
    worlds.BIN = durability_test.BIN = programs


def replace_service(world, programs):
    world.kill("nightjard", signal.SIGTERM)
    use(programs)
    world.start_daemon_again()


def replace_runner(world, programs):
    world.kill("nightjar-runner", signal.SIGTERM)
    use(programs)
    world.start_runner(script(*RULES, run_seconds=RUN_SECONDS))


def go_back(world, old):
    """Restores the backup that the upgrade made, and starts the old programs."""
    [backup] = (world.folder / "data").glob("nightjar.sqlite.before-v*")
    world.kill("nightjard", signal.SIGTERM)
    use(old)
    refused = durability_test.start_and_wait(world)
    assert refused.returncode == 3 and "has schema version" in refused.stderr, refused
    restored = durability_test.run_documented(world, "--restore", backup)
    assert restored.returncode == 0, restored.stderr
    world.start_daemon_again()
    replace_runner(world, old)


def play(world, old, stage, goes_back):
    use(old)
    first_night(world, *RULES, run_seconds=RUN_SECONDS)
    world.repo.grow(12)
    world.publish_nightly("2026-08-20")
    world.wait(f"the stage {stage}", lambda: STAGES[stage](world), 180)
    replace_service(world, NEW)
    time.sleep(1)  # the old runner meets the new service
    if goes_back:
        go_back(world, old)
    else:
        replace_runner(world, NEW)
    finish(world, seconds=300)
    found = blamed(world)
    assert list(found) == ["latency"] and shas(found["latency"]) == [world.repo.commits[CULPRIT]]
    assert len(world.issues()) == 1
    # What was measured stays: nothing is done twice but what the way back undid.
    world.repo.grow(1)
    world.publish_nightly("2026-08-21")
    world.wait("a night after it", lambda: world.night_done(3), 180)
    assert len(world.issues()) == 1


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--old", type=pathlib.Path, required=True)
    options = parser.parse_args()
    failed = 0
    stories = [(stage, back) for stage in STAGES for back in (False, True)]
    for stage, goes_back in stories:
        with tempfile.TemporaryDirectory(prefix="nightjar-upgrade-",
                                         ignore_cleanup_errors=True) as folder:
            world = World(pathlib.Path(folder))
            begun = time.monotonic()
            try:
                play(world, options.old.resolve(), stage, goes_back)
                said = "fine"
            except AssertionError as error:
                failed += 1
                said = f"FAILED: {error}\n{world.tail('nightjard')}\n" \
                       f"{world.tail('nightjar-runner')}"
            finally:
                world.stop()
            print(f"{'there and back' if goes_back else 'upgrade'} while {stage}: {said} "
                  f"({time.monotonic() - begun:.0f} s)", flush=True)
    print(f"{len(stories) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
