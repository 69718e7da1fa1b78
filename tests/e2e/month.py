"""A month of production: the hosts of four machine classes, thirty days of commits, nightlies of
two variants and packages with what is planted in them, and what the service then says. Levels and
the service's clock are scripted, all else is real."""

import dataclasses
import datetime
import fnmatch
import math
import pathlib
import random
import signal
import sys

from world import OPEN_STATES, ROOT, UV, Double, World, git, make_package, make_wheel

sys.path.append(str(ROOT / "tests" / "chaos"))

from clock import Clock, compile_library

MODELS = ["alexnet", "bert", "dlrm", "gpt2", "lstm", "mobilenet", "resnet18", "unet"]
CPU = [f"python/{model}/eval/cpu/fp32/b4/eager" for model in MODELS]
GPU = [f"python/{model}/train/cuda/amp/b32/inductor" for model in MODELS[:5]]
CLASSES = {
    "epyc": {"cpu_model": "AMD EPYC 9554", "cpu_count": "64", "memory_bytes": str(256 << 30),
             "gpu": "none", "kernel": "6.8.0-45"},
    "xeon": {"cpu_model": "Intel Xeon 8480", "cpu_count": "56", "memory_bytes": str(512 << 30),
             "gpu": "none", "kernel": "6.8.0-45"},
    "h100": {"cpu_model": "AMD EPYC 9654", "cpu_count": "96", "memory_bytes": str(1024 << 30),
             "gpu": ", ".join(["NVIDIA H100 80GB HBM3"] * 8), "kernel": "6.8.0-45"},
    "a100": {"cpu_model": "AMD EPYC 7763", "cpu_count": "64", "memory_bytes": str(512 << 30),
             "gpu": "NVIDIA A100-SXM4-80GB", "kernel": "6.8.0-45"},
}
METRICS = {"epyc": ["peak_cpu_memory"], "xeon": ["peak_cpu_memory"],
           "h100": ["peak_gpu_memory", "kernel_time"], "a100": ["peak_gpu_memory", "kernel_time"]}
HOSTS = {"epyc-1": "epyc", "epyc-2": "epyc", "xeon-1": "xeon", "h100-1": "h100", "a100-1": "a100"}
VARIANTS = {machine: "cu126" if machine == "a100" else "cpu" for machine in CLASSES}
DAYS = 34
SILENT = 15  # seconds, after which nothing is planned for a host that is away


def date_of(day):
    """The date of the month's day 1, 2, ..."""
    return (datetime.date(2026, 8, 1) + datetime.timedelta(days=day - 1)).isoformat()


VERSIONS = [f"2.14.0.dev{date_of(day).replace('-', '')}+cpu" for day in range(1, DAYS + 1)]


def of_variant(version, variant):
    return version.replace("+cpu", "+" + variant)


def workloads_of(machine):
    return {"h100": GPU, "a100": GPU[:2]}.get(machine, CPU)


@dataclasses.dataclass
class Cause:
    """What changes runs wherever a file of site-packages has a text."""
    name: str
    file: str
    contains: str
    workload: str  # glob
    effect: dict  # of a scripted runner's rule
    classes: tuple

    def rule(self):
        when = {"file": self.file, "contains": self.contains}
        if self.effect.get("status") != "broken_environment":
            when["workload"] = self.workload
        return {"when": when, **self.effect}

    def shows_on(self, machine):
        return [name for name in workloads_of(machine)
                if machine in self.classes and fnmatch.fnmatch(name, self.workload)]

    def series(self, metric):
        """All that should be named: (machine class, workload, metric)."""
        return {(machine, name, metric)
                for machine in CLASSES for name in self.shows_on(machine)}


class Levels:
    """The level and noise of each workload by metric, and what the layout of each wheel costs. CVs
    have about the quantiles of real series: half of them are below 1 %."""

    def __init__(self, seed):
        draw = random.Random(seed)
        self.seed = seed
        self.level, self.noise = {}, {}
        for machine in CLASSES:
            for name in workloads_of(machine):
                key = machine, name
                self.level[key] = 0.01 * math.exp(draw.gauss(0, 1))
                self.noise[key] = min(0.03, 0.008 * math.exp(draw.gauss(0, 0.7)))

    def rules(self, machine, versions, noisier=1.0, slower=1.0):
        for name in workloads_of(machine):
            noise = self.noise[machine, name]
            level = self.level[machine, name] * slower
            steady = {"kernel_time": {"level": 0.001 + level / 8, "noise": 0.0015}}
            yield {"when": {"workload": name}, "metrics": {
                "latency": {"level": level, "noise": noise * noisier},
                **{metric: steady.get(metric, {"level": 3e8, "noise": noise / 20})
                   for metric in METRICS[machine]}}}
            for version in (of_variant(one, VARIANTS[machine]) for one in versions):
                layout = random.Random(f"{self.seed} {machine} {name} {version}").gauss(0, 0.003)
                yield {"when": {"workload": name, "version": version},
                       "factors": {"latency": math.exp(layout)}}


class Month(World):
    """The service, its tracker and its index, and hosts that come and go."""

    def __init__(self, folder, seed):
        self.tracker = Double("github", "--token", "token", "--repository", "owner/name")
        self.levels = Levels(seed)
        self.causes = []
        self.draw = random.Random(f"days {seed}")
        self.requires = ["triton==3.4.0", "sympy==1.13.0", "networkx==3.4", "jinja2==3.1.5"]
        self.commits_of, self._new = {}, []  # subjects by the day of the nightly that has them
        self.clock = Clock(folder / "clock", compile_library(folder))  # of the service
        self.cuda = folder / "cuda"  # wheels of the second source
        self.cuda.mkdir()
        (folder / "token").touch(mode=0o600)
        (folder / "token").write_text("token")
        super().__init__(folder, environment={"indexes": [], "uv": str(UV)}, night={
            "workloads": ["python/**"], "run_seconds": 0.1,
            "metrics": ["latency", "kernel_time", "peak_cpu_memory", "peak_gpu_memory",
                        "failures"]}, report={
                "tracker": "github", "api": self.tracker.url, "repository": "owner/name",
                "token_file": str(folder / "token")},
                         queue={"lease": 30, "tick": 1, "runner_silent": SILENT})
        self.overrides["environment"]["indexes"] = [self.index.url]
        self.write_config()
        for package, version in (("triton", "3.4.0"), ("triton", "3.5.0"), ("sympy", "1.13.0"),
                                 ("sympy", "1.14.0"), ("networkx", "3.4"), ("networkx", "3.5"),
                                 ("jinja2", "3.1.5"), ("jinja2", "3.1.6")):
            make_package(self.index.folder, package, version,
                         {f"{package}/__init__.py": f"version = '{version}'\n"})
        self.hosts = {name: {"kernel": CLASSES[of]["kernel"], "noisier": 1.0, "slower": 1.0}
                      for name, of in HOSTS.items()}

    def stop(self):
        super().stop()
        self.tracker.stop()

    def write_config(self):
        """With a source for each variant."""
        super().write_config()
        tag = self.overrides.get("source", {}).get("python_tag", "cp311")
        more = (f'[[source]]\ndirectory = "{self.cuda}"\nvariant = "cu126"\npython_tag = "{tag}"\n'
                "poll = 1\nkeep_days = 3650\n")
        self.config.write_text(self.config.read_text().replace("[source]", "[[source]]", 1) + more)

    def environment_of(self, name):
        return self.clock.environment if name == "nightjard" else {}

    def configure(self, section, **keys):
        """The operator edits the configuration, and restarts the service."""
        self.kill("nightjard", signal.SIGTERM)
        self.overrides.setdefault(section, {}).update(keys)
        self.start_daemon_again()

    # ---- hosts
    def start_host(self, name, **changes):
        host = self.hosts[name]
        host.update(changes)
        machine = HOSTS[name]
        rules = list(self.levels.rules(machine, VERSIONS, host["noisier"], host["slower"]))
        rules += [cause.rule() for cause in self.causes if machine in cause.classes]
        self.start_scripted(name, name, f"cache-{name}", {
            "seed": self.levels.seed * 100 + list(HOSTS).index(name), "unpack": True,
            "download": True, "facts": CLASSES[machine] | {"kernel": host["kernel"]},
            "control": {"level": 0.01 * host["slower"], "noise": 0.005 * host["noisier"]},
            "workloads": [{"name": one} for one in workloads_of(machine)], "rules": rules},
            "--label", "variant=" + VARIANTS[machine])

    def stop_host(self, name):
        self.kill(name, signal.SIGTERM)

    def take_away(self, name):
        """Stops a host until nothing is planned for it."""
        self.stop_host(name)
        self.wait(f"{name} to be away", lambda: not next(
            one["live"] for one in self.items("runners") if one["name"] == name), 2 * SILENT)

    def restart_hosts(self, *names, **changes):
        for name in names:
            self.stop_host(name)
            self.start_host(name, **changes)

    # ---- days
    def change(self, file, text, subject):
        self.repo.write(file, text)
        self.repo.commit(subject)
        self._new.append(subject)

    def quiet_commits(self):
        for _ in range(self.draw.randint(1, 6)):
            number = len(self.repo.commits)
            self.change(f"torch/module{number}.py", f"# {number}\n", f"Tidy up module {number}")

    def publish(self, day, tag="cp311"):
        """The nightly of a day; without a tag it is listed, but cannot be fetched."""
        self.commits_of[day], self._new = self._new, []
        if tag:
            version = self.publish_nightly(date_of(day), self.requires, tag)
            make_wheel(self.cuda, of_variant(version, "cu126"),
                       git(self.repo.path, "rev-parse", "nightly"), self.repo, tag, self.requires)
            return
        self.repo.nightly(date_of(day))
        self.index.publish(pathlib.Path(f"torch-{VERSIONS[day - 1]}-cp311-cp311-linux_x86_64.whl"))

    def wait_for_a_survey(self):
        """Until the index was listed, and what was found has reached the engine."""
        listings = self.index.server.listings
        self.wait("the index to be listed", lambda: self.index.server.listings > listings + 2)

    def settle(self, day, seconds=180):
        """Until the day's nights are done, nothing is being explained, and the outbox is empty."""
        expected = {of_variant(VERSIONS[day - 1], variant) for variant in VARIANTS.values()}

        def settled():
            nights = self.items("nights")
            if not expected <= {night["build"]["version"] for night in nights}:
                return False
            if any(night["state"] != "done" for night in nights):
                return False
            regressions = self.get("/api/v1/regressions?limit=500")
            reports = self.get("/api/v1/reports?limit=500")
            jobs = self.get("/api/v1/jobs?limit=50")
            if None in (regressions, reports, jobs):
                return False
            return (not any(r["state"] in OPEN_STATES for r in regressions["items"])
                    and not any(r["state"] == "pending" for r in reports["items"])
                    and not any(j["state"] in ("queued", "leased") for j in jobs["items"]))

        def settled_after_a_tick():
            """The engine may be in the middle of a tick; what writes waits for its end."""
            if not settled():
                return False
            self.request("DELETE", "/api/v1/marks/999999999")
            return settled()
        self.wait(f"the nights of day {day} to settle", settled_after_a_tick, seconds)
