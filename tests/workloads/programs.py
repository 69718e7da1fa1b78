"""Starts a workload as the runner does: request on standard input, answers on descriptor 3."""

import concurrent.futures
import functools
import json
import os
import pathlib
import subprocess
import sys
import threading

ROOT = pathlib.Path(__file__).resolve().parents[2]
WORKLOADS = ROOT / "runner" / "workloads"
LONGEST_SECONDS = 300
TABLE = json.loads((WORKLOADS / "workloads.json").read_text(encoding="utf-8"))


def listed(suite):
    return [item["name"] for item in TABLE["items"] if item["name"].startswith(suite + "/")]


def names(kind):
    """Without the variants of others: compiled, or in another precision (see variants_test.py), and
    without the models of published lists (see lists_test.py)."""
    return [name for name in listed(kind)
            if name.endswith("/eager") and "/fp32/" in name and "-small/" not in name]


@functools.cache
def installed(module):
    return subprocess.run([
        python(), "-c", f"import importlib.util, sys; "
        f"sys.exit(importlib.util.find_spec('{module}') is None)"], check=False).returncode == 0


def python():
    return os.environ.get("NIGHTJAR_PYTHON", str(ROOT / ".cache" / "python" / "bin" / "python"))


@functools.cache
def has_device():
    """Whether that Python's PyTorch sees a GPU."""
    return subprocess.run(
        [python(), "-c", "import sys, torch; sys.exit(not torch.cuda.is_available())"],
        check=False).returncode == 0


@functools.cache
def libtorch():
    """The folder of that Python's PyTorch."""
    return pathlib.Path(
        subprocess.run([
            python(), "-c", "from importlib import util; "
            "print(*util.find_spec('torch').submodule_search_locations)"], check=True,
                       capture_output=True, text=True).stdout.strip())


def runner():
    programs = pathlib.Path(os.environ.get("NIGHTJAR_BIN", ROOT / "build" / "bin"))
    return programs / "nightjar-runner"


@functools.cache
def native():
    """The native workloads as the runner compiles them, once, for that Python's PyTorch."""
    lock = str(ROOT / ".cache" / "native.lock")  # test processes side by side wait for each other
    done = subprocess.run([runner(), "prepare-native", "--python", python()],
                          capture_output=True, text=True,
                          env=dict(os.environ, NIGHTJAR_MACHINE_LOCK=lock))
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.strip()


def command(name):
    if name.startswith("native/"):
        return [native()]
    return [python(), str(WORKLOADS / "run.py")]


def environment():
    return dict(os.environ, OMP_NUM_THREADS="1", MKL_NUM_THREADS="1", OMP_WAIT_POLICY="passive",
                PYTHONHASHSEED="0", PYTHONDONTWRITEBYTECODE="1",
                LD_LIBRARY_PATH=str(libtorch() / "lib"))


def answers(program, request_text, longest=LONGEST_SECONDS, **variables):
    """Exit status and the answers of one run, which ends without a result after `longest` seconds.
    `variables` join its environment."""
    read, write = os.pipe()

    def give_descriptor_three():
        os.dup2(write, 3)

    with subprocess.Popen(program, stdin=subprocess.PIPE,
                          pass_fds=[3] if write == 3 else [3, write],
                          preexec_fn=give_descriptor_three, env={**environment(),
                                                                 **variables}) as process:
        os.close(write)
        watchdog = threading.Timer(longest, process.kill)
        watchdog.daemon = True  # a test that fails below does not wait for it
        watchdog.start()
        process.stdin.write(request_text.encode())
        process.stdin.close()
        with os.fdopen(read, encoding="utf-8") as pipe:
            lines = pipe.read().splitlines()
        watchdog.cancel()
    return process.returncode, [json.loads(line) for line in lines]


def request(name, **fields):
    return json.dumps({"workload": name, "version": 1, "seed": 0, "threads": 1, "min_iterations": 3,
                       "seconds": 0, **fields})


def run(name, **fields):
    """The answers to a request that is understood."""
    status, messages = answers(command(name), request(name, **fields))
    assert status == 0
    return messages


AHEAD = 3  # runs that are started before their test asks for them
TRIO = [{}, {"seed": 3}, {"seed": 3, "min_iterations": 45}]


@functools.cache
def pool():
    """Two runs side by side: no test asks how long they took."""
    native()  # before there are threads: it may have to be compiled
    return concurrent.futures.ThreadPoolExecutor(2)


@functools.cache
def started(name):
    """The future of a run with seed 0 at the sizes that nights measure."""
    return pool().submit(run, name)


def default(name):
    """Its answers, for tests that go through all workloads: the next ones are started as well."""
    every = names("python") + names("native")
    for soon in every[every.index(name):][:1 + AHEAD]:
        started(soon)
    return started(name).result()


@functools.cache
def trio(name):
    """That run, one with seed 3, and one with seed 3 and more iterations."""
    more = [pool().submit(run, name, **fields) for fields in TRIO[1:]]
    return default(name), *(future.result() for future in more)


@functools.cache
def tiny(name):
    """The same three at sizes that take no time."""
    wanted = [json.loads(request(name, sizes="tiny", **fields)) for fields in TRIO]
    if name.startswith("python/"):
        return forked(wanted)
    return tuple(pool().map(lambda fields: run(name, sizes="tiny", **fields), TRIO))


@functools.cache
def forks():
    """See forks.py; it ends when its standard input does."""
    return subprocess.Popen([python(), str(ROOT / "tests" / "workloads" / "forks.py")],
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                            env=environment())


def forked(requests):
    forks().stdin.write(json.dumps(requests) + "\n")
    forks().stdin.flush()
    return json.loads(forks().stdout.readline())


def result(messages):
    assert messages[-1]["event"] == "result", messages[-1]
    return messages[-1]


def put_suite_on_path():
    """Makes the Python suite's own modules importable."""
    sys.path.insert(0, str(WORKLOADS))
