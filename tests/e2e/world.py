"""A small truth for end-to-end tests: a git repository, wheels made of its files, a wheel index on
loopback, and the real programs run against them. Levels are scripted (no torch), all else is
real."""
import functools
import hashlib
import http.server
import json
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))

import wheel_file

UV = ROOT / ".cache" / "tools" / "bin" / "uv"
BIN = pathlib.Path(os.environ.get("NIGHTJAR_BIN", ROOT / "build" / "bin"))
GIT_ENV = {
    "GIT_AUTHOR_NAME": "A. Developer", "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "A. Developer", "GIT_COMMITTER_EMAIL": "a@example.org",
    "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null",
}
WORKLOADS = ["python/alpha/eval/cpu/fp32/b1/eager", "python/beta/train/cpu/fp32/b4/eager"]
# A regression does not stay in one of these: something is still to come, if only its report.
OPEN_STATES = {"suspected", "confirmed", "bisecting", "blamed", "range", "unattributed"}


def git(repo, *words, date=None):
    env = dict(os.environ, **GIT_ENV)
    if date:
        env.update(GIT_AUTHOR_DATE=date, GIT_COMMITTER_DATE=date)
    out = subprocess.run(["git", "-C", str(repo), *words], env=env, check=True, capture_output=True,
                         text=True)
    return out.stdout.strip()


def script(*rules, run_seconds=0.0, **more):
    """A scripted runner's file: two workloads at 10 ms and 300 MB, 1 % noise, and the given
    rules."""
    plain = {"when": {}, "metrics": {"latency": {"level": 0.010, "noise": 0.01},
                                     "peak_cpu_memory": {"level": 3e8, "noise": 0.002}}}
    return {"seed": 7, "unpack": True, "download": True, "run_seconds": run_seconds,
            "workloads": [{"name": name, "version": 1} for name in WORKLOADS],
            "rules": [plain, *rules], **more}


def step(workload, commit, **factors):
    """From main's commit number `commit` on, these metrics are multiplied."""
    return {
        "when": {"workload": workload, "file": f"torch/module{commit}.py", "contains": "#"},
        "factors": factors}


class Repository:
    """main with one commit a file change, nightly with commits of the same trees."""

    def __init__(self, path):
        self.path = path
        self.day = "2026-08-20"  # of the commits that come next
        path.mkdir(parents=True)
        git(path, "init", "-q", "-b", "main")
        self.commits = []
        self.write("torch/__init__.py", "from .version import __version__\n")
        self.write("docs/index.md", "documentation\n")
        self.commit("Begin")

    def write(self, name, text):
        file = self.path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def commit(self, subject):
        git(self.path, "add", "-A")
        date = f"{self.day}T{len(self.commits) // 60:02d}:{len(self.commits) % 60:02d}:00Z"
        git(self.path, "commit", "-q", "-m", f"{subject} (#{1000 + len(self.commits)})", date=date)
        self.commits.append(git(self.path, "rev-parse", "HEAD"))
        return self.commits[-1]

    def grow(self, count, native=()):
        for _ in range(count):
            n = len(self.commits)
            name = f"torch/csrc/unit{n}.cpp" if n in native else f"torch/module{n}.py"
            self.write(name, f"# {n}\n")
            self.commit(f"Change number {n}")

    def nightly(self, date):
        """A nightly commit of main's head; returns its sha."""
        main = self.commits[-1]
        tree = git(self.path, "rev-parse", main + "^{tree}")
        parents = []
        known = subprocess.run(
            ["git", "-C",
             str(self.path), "rev-parse", "-q", "--verify", "refs/heads/nightly"],
            capture_output=True, text=True).stdout.strip()
        if known:
            parents = ["-p", known]
        sha = git(self.path, "commit-tree", tree, *parents, "-m",
                  f"{date} nightly release ({main})", date=date + "T07:30:00Z")
        git(self.path, "update-ref", "refs/heads/nightly", sha)
        return sha


def make_wheel(folder, version, git_version, repo, python_tag="cp311", requires=(), extra=None):
    """A wheel of the repository's torch/ folder as it stands, consistent in name, METADATA and
    RECORD. `extra`: files that no commit explains, {name: bytes}."""
    tag = f"{python_tag}-{python_tag}-linux_x86_64"
    files = {
        str(f.relative_to(repo.path)): f.read_bytes()
        for f in sorted((repo.path / "torch").rglob("*.py"))}
    compiled = sorted((repo.path / "torch").rglob("*.cpp"))
    files["torch/lib/compiled.txt"] = b"".join(f.read_bytes() for f in compiled)
    variant = version.partition("+")[2]
    cuda = f"{variant[2:-1]}.{variant[-1]}" if variant.startswith("cu") else None
    hip = variant[4:] if variant.startswith("rocm") else None
    files["torch/version.py"] = (f"__version__ = '{version}'\ndebug = False\ncuda = {cuda!r}\n"
                                 f"git_version = '{git_version}'\nhip = {hip!r}\n").encode()
    files.update(extra or {})
    info = f"torch-{version}.dist-info"
    needs = "".join(f"Requires-Dist: {one}\n" for one in requires)
    files[f"{info}/METADATA"] = (f"Metadata-Version: 2.1\nName: torch\nVersion: {version}\n{needs}"
                                 ).encode()
    files[f"{info}/WHEEL"] = ("Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: false\n"
                              f"Tag: {tag}\n").encode()
    path = folder / f"torch-{version}-{tag}.whl"
    wheel_file.write(path, info, files)
    return path


class Double:
    """A double of tests/support as a process: its requests and answers are checked against GitHub's
    description."""

    def __init__(self, name, *options):
        description = ROOT / ".cache" / "testdata" / "api.github.com.deref.json"
        command = [sys.executable, ROOT / "tests" / "support" / name / "server.py", "--description",
                   description, *options]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.url = f"http://127.0.0.1:{json.loads(self.process.stdout.readline())['port']}"

    def tell(self, what, **value):
        request = urllib.request.Request(f"{self.url}/_double/{what}",
                                         json.dumps(value).encode(), method="POST")
        with urllib.request.urlopen(request, timeout=120) as answer:
            return json.load(answer)

    def stop(self):
        self.process.stdin.close()
        self.process.wait(30)


class Server(http.server.ThreadingHTTPServer):
    # The five of http.server are reset where many connect while the machine is busy.
    request_queue_size = 128
    listings = 0  # of PyTorch's wheels that were read


class Index:
    """A PEP 503 index of a folder, as PyTorch's: absolute links for torch, no hashes."""

    def __init__(self, folder):
        self.folder = folder
        (folder / "torch").mkdir(parents=True)
        handler = functools.partial(QuietHandler, directory=str(folder))
        self.server = Server(("127.0.0.1", 0), handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        self.names = []
        self.write()

    def publish(self, wheel):
        self.names.append(wheel.name)
        self.write()

    def write(self):
        anchors = "".join(
            f'<a href="{self.url}/{name.replace("+", "%2B")}" '
            f'data-core-metadata="sha256=00">{name}</a><br/>\n'
            for name in self.names)
        page = f"<!DOCTYPE html><html><body><h1>Links for torch</h1>\n{anchors}</body></html>\n"
        (self.folder / "torch" / "index.html").write_text(page)


def make_package(folder, name, version, files):
    """A wheel of pure Python in a PEP 503 index below `folder`, with its page."""
    (folder / name).mkdir(exist_ok=True)
    info = f"{name}-{version}.dist-info"
    files = {path: text.encode() for path, text in files.items()}
    files[f"{info}/METADATA"] = (
        f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n").encode()
    files[f"{info}/WHEEL"] = (b"Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\n"
                              b"Tag: py3-none-any\n")
    wheel_file.write(folder / name / f"{name}-{version}-py3-none-any.whl", info, files)
    list_packages(folder / name)


def list_packages(folder):
    """Writes the index's page of the wheels in `folder`."""
    anchors = "".join(
        f'<a href="{wheel.name}#sha256={hashlib.sha256(wheel.read_bytes()).hexdigest()}">'
        f"{wheel.name}</a>\n" for wheel in sorted(folder.glob("*.whl")))
    (folder / "index.html").write_text(f"<!DOCTYPE html><html><body>{anchors}</body></html>")


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    def do_GET(self):
        self.server.listings += self.path == "/torch/"
        super().do_GET()

    def log_message(self, *_):
        pass


class Late(AssertionError):
    """What was waited for did not come."""


class World:
    """Repository, index, configuration and the running programs, in one temporary folder."""

    def __init__(self, folder, **overrides):
        self.folder = folder
        self.repo = Repository(folder / "repository")
        self.index = Index(folder / "index")
        self.config = folder / "nightjar.toml"
        self.port_file = folder / "port"
        self.tokens = {role: f"{role}-token-for-tests"
                       for role in ("read", "import", "runner", "builder", "admin")}
        self.processes = {}
        self.environment = {}  # see environment_of
        self.overrides = overrides
        for role, token in self.tokens.items():
            self.write_secret(f"{role}.token", token)
        self.write_secret("webhook.secret", "a webhook secret")
        self.write_config()

    def write_secret(self, name, text):
        (self.folder / name).touch(mode=0o600)
        (self.folder / name).write_text(text + "\n")

    def write_config(self):
        tokens = "".join(
            f'[[token]]\nname = "{role}"\nrole = "{role}"\nsha256 = '
            f'"{hashlib.sha256(t.encode()).hexdigest()}"\n' +
            ("imports = true\n" if role == "runner" else "")
            for role, t in self.tokens.items())
        settings = {
            "service": {
                "data": str(self.folder / "data"), "port": 0,
                "port_file": str(self.port_file)}, "source": {
                    "index": self.index.url, "variant": "cpu", "python_tag": "cp311", "poll": 1,
                    "keep_days": 3650}, "repository": {"url": str(self.repo.path)},
            "night": {"workloads": ["python/**"], "profiles": 0,
                      "run_seconds": 0.1}, "queue": {"lease": 3, "tick": 1}, "webhook": {
                          "secret_file": str(self.folder / "webhook.secret"),
                          "repository": "pytorch/pytorch"},
            "report": {"directory": str(self.folder / "reports")}, }
        for section, keys in self.overrides.items():
            settings.setdefault(section, {}).update(keys)
        text = ""
        for section, keys in settings.items():
            text += f"[{section}]\n" + "".join(f"{k} = {json.dumps(v)}\n" for k, v in keys.items())
        self.config.write_text(text + tokens)

    # ---- a day of builds
    def publish_nightly(self, date, requires=(), tag=None, extra=None):
        nightly = self.repo.nightly(date)
        source = self.overrides.get("source", {})
        version = f"2.14.0.dev{date.replace('-', '')}+{source.get('variant', 'cpu')}"
        tag = tag or source.get("python_tag", "cp311")
        self.index.publish(
            make_wheel(self.index.folder, version, nightly, self.repo, tag, requires, extra))
        return version

    # ---- programs
    def environment_of(self, name):
        """What a program gets besides this process's environment, such as a clock of its own."""
        return self.environment

    def start(self, name, *arguments):
        with open(self.folder / f"{name}.log", "ab") as log:
            self.processes[name] = subprocess.Popen(
                [str(a) for a in arguments], stdout=log, stderr=log, start_new_session=True,
                env={**os.environ, **self.environment_of(name)})

    def start_daemon_again(self):
        """After a kill, on the port that the runner knows."""
        self.overrides.setdefault("service", {})["port"] = int(self.port_file.read_text())
        self.write_config()
        self.start_daemon()

    def start_daemon(self):
        self.port_file.unlink(missing_ok=True)
        self.start("nightjard", BIN / "nightjard", "--config", self.config)
        self.wait("the daemon to listen", self.port_file.exists, 30)
        self.wait("the daemon to answer", lambda: self.get("/healthz", raw=True), 30)

    def start_runner(self, script):
        self.start_scripted("nightjar-runner", "scripted", "cache", script)

    def start_scripted(self, process, name, cache, script, *options, service=None):
        """`service`: where it is reached, if not at its own port."""
        path = self.folder / f"{process}.json"
        path.write_text(json.dumps(script))
        self.start(process, BIN / "nightjar-runner", "--service", service or self.url,
                   "--token-file", self.folder / "runner.token", "--name", name, "--cache",
                   self.folder / cache, "--uv", UV, "--scripted", path, *options)

    def kill(self, name, how=signal.SIGKILL):
        process = self.processes.pop(name, None)
        if process and process.poll() is None:
            process.send_signal(how)
            return process.wait(30)
        return process.returncode if process else None

    def stop(self):
        for name in list(self.processes):
            self.kill(name)
        self.index.server.shutdown()

    # ---- REST
    @property
    def url(self):
        return f"http://127.0.0.1:{self.port_file.read_text().strip()}"

    def request(self, method, path, body=None, token="admin", headers=None):
        data = json.dumps(body).encode() if isinstance(body, (dict, list)) else body
        request = urllib.request.Request(self.url + path, data, headers or {}, method=method)
        if token:
            request.add_header("Authorization", "Bearer " + self.tokens[token])
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as error:
            return error.code, error.read()

    def get(self, path, raw=False):
        try:
            status, body = self.request("GET", path)
        except (OSError, ValueError):
            return None
        if status != 200:
            return None
        return body if raw else json.loads(body)

    def items(self, collection):
        answer = self.get(f"/api/v1/{collection}?limit=200")
        return answer["items"] if answer else []

    def wait(self, what, condition, seconds=60):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if result := condition():
                return result
            for name, process in self.processes.items():
                if process.poll() is not None:
                    raise AssertionError(
                        f"{name} ended with {process.returncode} while waiting for {what}\n"
                        + self.tail(name))
            time.sleep(.05)
        raise Late(f"waited {seconds} s for {what}\n" + self.tail("nightjard"))

    def tail(self, name):
        log = self.folder / f"{name}.log"
        return log.read_text(errors="replace")[-4000:] if log.exists() else ""

    def night_done(self, count):
        nights = self.items("nights")
        return len([n for n in nights if n["state"] == "done"]) >= count and nights

    def issues(self):
        return sorted((self.folder / "reports").glob("*.md"))
