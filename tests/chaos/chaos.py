"""The service, its agents and the doubles of index and GitHub, with faults between and within them.
"""

import datetime
import http.client
import shutil
import signal
import sqlite3
import threading
import time

from clock import Clock, compile_library
from faults import AGENTS, NEEDS_ROOT, OUTSIDE, PROGRAMS, SERVICE, draw_faults
from place import AGENT_DISK_MIB, SERVICE_DISK_MIB, Place
from proxy import Proxy
from world import BIN, OPEN_STATES, UV, Double, World

WORKLOADS = [f"python/{name}/eval/cpu/fp32/b1/eager"
             for name in ("alpha", "beta", "gamma", "delta", "epsilon", "zeta")]
TICK_SECONDS = 0.05
RUN_SECONDS = 0.2  # of each scripted run, so that faults hit sessions
UNSETTLED = OPEN_STATES | {"unconfirmed"}


class Chaos(World):
    """`faults` are played from begin_faults() to end_faults(), and programs that end by themselves
    are started again, as systemd does."""

    def __init__(self, folder, seed, rules):
        self.seed, self.rules = seed, rules
        self.place = Place(folder)
        self.tracker = Double("github", "--token", "token", "--repository", "owner/name")
        self.links = {"tracker": Proxy(int(self.tracker.url.rsplit(":", 1)[1]))}
        (folder / "token").touch(mode=0o600)
        (folder / "token").write_text("token")
        disk = self.place.add_disk(SERVICE, SERVICE_DISK_MIB)
        super().__init__(
            folder, service={"data": str(disk / "data")},
            queue={"lease": 10, "tick": 1, "runner_silent": 60},
            report={"tracker": "github", "api": self.links["tracker"].url,
                    "repository": "owner/name", "token_file": str(folder / "token")})
        self.links["index"] = Proxy(self.index.server.server_port)
        self.index.url = self.links["index"].url
        self.index.write()
        self.overrides["source"] = {"index": self.index.url}
        self.write_config()
        library = compile_library(folder)
        self.clocks = {name: Clock(folder / f"clock-{name}", library) for name in PROGRAMS}
        self.lock = threading.RLock()
        self.away = {}  # programs that were killed: when they are started again
        self.told = []  # faults as they were played, and ends that nobody asked for
        self.crashes = []
        self.begun = time.monotonic()  # of the faults, once they are played
        self.faults_end = threading.Event()
        self.stopped = threading.Event()

    # ---- programs
    def start(self, name, *arguments):
        super().start(name, *self.place.prefixes.get(name, []), *arguments)

    def environment_of(self, name):
        return self.clocks[name].environment

    def start_all(self):
        """The first start. Afterwards, watch() keeps them running."""
        self.start_daemon()
        port = int(self.port_file.read_text())
        self.overrides["service"]["port"] = port
        self.write_config()
        for number, name in enumerate(AGENTS):
            address = self.place.add_network(number, name)
            self.links[name] = Proxy(port, address)
            self.place.add_disk(name, AGENT_DISK_MIB)
            self.start_agent(name)
        threading.Thread(target=self.watch, daemon=True).start()

    def start_agent(self, name):
        self.start_scripted(name, name, f"disk-{name}/cache", {
            "seed": self.seed * 10 + AGENTS.index(name), "unpack": True, "download": True,
            "workloads": [{"name": one, "version": 1} for one in WORKLOADS],
            "run_seconds": RUN_SECONDS, "rules": self.rules}, service=self.links[name].url)

    def start_again(self, name):
        if name == SERVICE:
            self.start(name, BIN / "nightjard", "--config", self.config)
        else:
            self.start_agent(name)

    def watch(self):
        """Starts again what ended."""
        while not self.stopped.wait(TICK_SECONDS):
            with self.lock:
                for name in PROGRAMS:
                    self.watch_one(name)

    def watch_one(self, name):
        if name in self.away:
            if time.monotonic() >= self.away[name]:
                del self.away[name]
                self.start_again(name)
            return
        status = self.processes[name].poll()
        if status is None:
            return
        self.tell(f"{time.monotonic() - self.begun:7.1f} s  {name} ended by itself with {status}")
        if status < 0 or status not in (1, 3):
            self.crashes.append(f"{name} ended with {status}: {self.tail(name)[-600:]}")
        self.away[name] = time.monotonic() + 1

    def tell(self, what):
        self.told.append(what)
        print(f"  {what}", flush=True)

    # ---- faults
    def begin_faults(self):
        self.begun = time.monotonic()
        without = () if self.place.has_namespaces else NEEDS_ROOT
        self.player = threading.Thread(target=self.play, args=(draw_faults(self.seed, without),))
        self.player.start()

    def play(self, faults):
        ends = []  # (time, what ends the fault)
        fault = next(faults)
        while not self.faults_end.wait(TICK_SECONDS):
            now = time.monotonic() - self.begun
            for end in [one for one in ends if one[0] <= now]:
                ends.remove(end)
                end[1]()
            if fault.at <= now:
                with self.lock:
                    self.tell(str(fault))
                    ends.append((now + fault.seconds, self.begin(fault)))
                fault = next(faults)
        for end in ends:
            end[1]()

    def begin(self, fault):
        """Returns what ends it."""
        target = fault.target
        if fault.kind in ("kill", "reboot"):
            end = self.kill_for(target, fault.seconds)
            if fault.kind == "reboot":
                self.clocks[target].set(fault.value)
            return end
        if fault.kind == "freeze":
            return self.freeze(self.processes[target])
        if fault.kind == "unplugged":
            self.place.set_link(target, "down")
            return lambda: self.place.set_link(target, "up")
        if fault.kind == "full":
            self.place.fill_disk(target)
            return lambda: self.place.free_disk(target)
        if fault.kind == "clock":
            self.clocks[target].set(fault.value)
            return lambda: None
        if fault.kind == "refused":
            self.tracker.tell("faults", items=[{"on": ".", "kind": fault.value, "times": 1}])
            return lambda: None
        self.links[target].set(fault.kind)
        return lambda: self.links[target].set("open")

    def kill_for(self, name, seconds):
        if name not in self.away:
            self.processes[name].kill()
            self.processes[name].wait(30)
            self.away[name] = time.monotonic() + seconds
        return lambda: None

    def freeze(self, process):
        process.send_signal(signal.SIGSTOP)
        return lambda: process.send_signal(signal.SIGCONT)

    def end_faults(self):
        self.faults_end.set()
        self.player.join()

    def stop_programs(self):
        self.stopped.set()
        self.faults_end.set()
        with self.lock:
            for name in list(self.processes):
                self.kill(name)

    def keep_database(self):
        """Beside the logs, since its disk ends with the run."""
        for file in self.database().parent.glob("nightjar.sqlite*"):
            shutil.copy(file, self.folder)

    def stop(self):
        self.stop_programs()
        self.index.server.shutdown()
        for link in self.links.values():
            link.stop()
        self.tracker.stop()
        self.place.stop()

    # ---- what is seen
    def get(self, path, raw=False):
        try:
            return super().get(path, raw)
        except http.client.HTTPException:
            return None

    def wait(self, what, condition, seconds=60):
        """Unlike a world's, programs may end meanwhile."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if result := condition():
                return result
            time.sleep(.2)
        raise AssertionError(f"waited {seconds} s for {what}")

    def rows(self, collection):
        """All of them; None if the service does not answer."""
        rows, cursor = [], ""
        while True:
            page = self.get(f"/api/v1/{collection}?limit=500{cursor}")
            if page is None:
                return None
            rows += page["items"]
            if not page["next_cursor"]:
                return rows
            cursor = f"&cursor={page['next_cursor']}"

    def unfinished(self, versions):
        """What is still to be done; empty once all is settled."""
        asked = [self.rows(one) for one in ("nights", "regressions", "reports", "jobs")]
        if None in asked:
            return ["the service does not answer"]
        nights, regressions, reports, jobs = asked
        done = {one["build"]["version"] for one in nights if one["state"] == "done"}
        return ([f"no night of {version} is done" for version in versions if version not in done]
                + [f"night {one['id']} is {one['state']}" for one in nights
                   if one["state"] != "done"]
                + [f"regression {one['id']} is {one['state']}" for one in regressions
                   if one["state"] in UNSETTLED]
                + [f"message {one['id']} is {one['state']}: {one['error']}" for one in reports
                   if one["state"] != "sent"]
                + [f"{one['kind']} job {one['id']} is {one['state']}" for one in jobs
                   if one["state"] in ("queued", "leased")])

    def longest_pause(self):
        """Seconds until the last message that waits is tried again. Each failure doubles the pause,
        up to an hour."""
        now = time.time() + self.clocks[SERVICE].offset
        until = [datetime.datetime.fromisoformat(one["not_before"].replace("Z", "+00:00"))
                 for one in self.rows("reports") or []
                 if one["state"] == "pending" and one["not_before"]]
        return max((one.timestamp() - now for one in until), default=0)

    def issues(self):
        return self.tracker.tell("state")["issues"]

    def database(self):
        return self.folder / f"disk-{SERVICE}/data/nightjar.sqlite"

    def integrity(self):
        connection = sqlite3.connect(f"file:{self.database()}?mode=ro", uri=True)
        try:
            return connection.execute("PRAGMA integrity_check").fetchone()[0]
        finally:
            connection.close()
