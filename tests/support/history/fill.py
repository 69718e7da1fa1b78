"""Fills an empty database of the service with what a Truth would have been measured to be."""

import collections
import datetime
import json
import random
import statistics

import search
from drawn import CLASSES, VARIANT
from judge import Judge
from tables import Jobs, Tables, digest, microseconds

MINUTE = datetime.timedelta(minutes=1)
RUNS = 3          # of a workload, build and night
TAGS = "cp311-cp311-manylinux_2_28_x86_64"
GONE = "rtx"      # the class whose runner fell silent after three quarters of the time
TOGETHER = 20     # workloads of a screening job
BAD_LUCK = 1.14   # by how much a disturbed machine is slower
RESTLESS = ("4 of 28 series of latency on machine class 1 are unclear: their machine moved, or was "
            "restless")


class History:
    def __init__(self, path, truth, wheels, progress):
        self.truth, self.tables, self.wheels = truth, Tables(path), wheels
        self.progress = progress
        self.jobs = Jobs(self.tables, truth)
        self.random = random.Random(11)
        self.flaky = random.Random(14)
        self.builds = {}   # night index -> build
        self.nights = {}   # night index -> id
        self.newest = {}   # series -> what the last nights were, for levels

    def fill(self):
        self._base()
        last = len(self.truth.days) - 1
        for night, day in enumerate(self.truth.days):
            if night % 50 == 0:
                self.progress(f"night {night} of {len(self.truth.days)} is made")
            if self.random.random() < .03 and last - 3 > night > 3:
                self._night_without_build(night, day)
            else:
                self._night(night, day, is_open=night == last)
        self.progress("findings and searches are made")
        judge = Judge()
        try:
            searches = search.Searches(self, judge)
            searches.fill()
        finally:
            judge.close()
        self.issues = searches.issues
        self._beside()
        self.tables.close()

    # ---- what everything refers to
    def _base(self):
        add = self.tables.add
        for w in self.truth.workloads:
            add("workload", id=w.id, name=w.name, version=1)
        for number, (name, facts, _, _) in enumerate(CLASSES):
            facts = facts | {
                "arch": "x86_64", "kernel": "6.8.0-64-generic", "libc": "glibc 2.39",
                "governor": "performance", "memory_bytes": str(64 << 30), "numa_nodes": "1",
                "turbo": "off", "driver": "580.65.06" if facts["gpu"] != "none" else "none"}
            add("machine", id=number + 1, fingerprint=digest(name), facts=json.dumps(facts))
            self._facts(number, facts)
            able = [f"{w.name}@1" for w in self.truth.workloads if number in w.classes]
            add("runner", id=number + 1, name=f"bench-{name}", machine=number + 1,
                labels=json.dumps({"room": "b"}), workloads=json.dumps(able), version="0.1.0",
                seen_at_us=microseconds(
                    self.truth.days[len(self.truth.days) * 3 // 4] if name == GONE
                    else self.truth.now),
                facts=self.jobs.facts[number][-1][1],
                trouble="its agent was restarted while it held job 7" if name == GONE else "")
        for w in self.truth.workloads:
            for machine in w.classes:
                for metric in w.metrics:
                    self.jobs.series[w.id, metric, machine] = add(
                        "series", workload=w.id, metric=metric, machine=machine + 1,
                        variant=VARIANT)

    def _facts(self, machine, now):
        """What the class was: its kernel was updated after two thirds of the time."""
        days = self.truth.days
        for day, facts in ((days[0], now | {"kernel": "6.8.0-48-generic"}),
                           (days[len(days) * 2 // 3], now)):
            row = self.tables.add("machine_facts", machine=machine + 1, facts=json.dumps(facts),
                                  first_seen_us=microseconds(day))
            self.jobs.facts.setdefault(machine, []).append((day, row))

    def build(self, kind, version, commit, at, **more):
        """A proved build of this commit."""
        row = {"date": "", "url": f"file://{self.wheels}/torch-{version}-{TAGS}.whl", "base": None,
               "nightly_commit": None, "state": "proved", "reason": ""} | more
        # Two searches may build one commit.
        known = self.tables.db.execute("SELECT id FROM build WHERE version = ? AND kind = ?",
                                       (version, kind)).fetchone()
        id = known[0] if known else self.tables.add(
            "build", kind=kind, version=version, variant=VARIANT, commit_sha=commit.sha,
            sha256=digest(version), found_at_us=microseconds(at), python_tag="cp311",
            platform_tag="manylinux_2_28_x86_64", glibc="2.28",
            gpu_architectures="sm_80 sm_90 compute_90", **row)
        return {"id": id, "version": version, "url": row["url"], "sha256": digest(version),
                "commit": commit.sha, "index": commit.index,
                "nightly_commit": row["nightly_commit"] or ""}

    # ---- nights
    def _night_without_build(self, night, day):
        self.nights[night] = self.tables.add(
            "night", trigger="schedule", state="done", build=None, reason="no new build appeared",
            started_at_us=microseconds(day), finished_at_us=microseconds(day + 180 * MINUTE))

    def _night(self, night, day, is_open):
        head = self.truth.of_night(night)[-1]
        version = f"2.15.0.dev{day:%Y%m%d}+{VARIANT}"
        build = self.build("nightly", version, head, day, date=f"{day:%Y-%m-%d}",
                           nightly_commit=digest(version)[:40])
        self.builds[night] = build
        took = self.random.randint(140, 260)
        self.nights[night] = self.tables.add(
            "night", trigger="schedule", state="judging" if is_open else "done", build=build["id"],
            reason="" if night % 3 else RESTLESS, started_at_us=microseconds(day),
            finished_at_us=None if is_open else microseconds(day + took * MINUTE))
        for machine in range(len(CLASSES)):
            if CLASSES[machine][0] == GONE and night > len(self.truth.days) * 3 // 4:
                continue
            able = [w for w in self.truth.workloads if machine in w.classes]
            for part in range(0, len(able), TOGETHER):
                self._screen(night, machine, part // TOGETHER, able[part:part + TOGETHER], day)

    def _screen(self, night, machine, part, workloads, day):
        build, id = self.builds[night], self.nights[night]
        order = [(0, w) for w in range(len(workloads))] * RUNS
        key = f"night:{id}/machine:{machine + 1}/screen:{part}"
        at = day + (20 + 45 * part) * MINUTE
        again = {}
        if self.random.random() < .02:
            void = self.jobs.add(key, id, machine, "screen", [build], workloads, order, at)
            self.jobs.finish(void, machine, at + 30 * MINUTE, self.random.choice([
                f"the control workload was {self.random.uniform(11, 32):+.1f} % off its level",
                "19 % of all CPU time was stolen by other machines of this host",
                "the GPU was throttled: sw_power_cap"]))
            key, again, at = f"{key}/again:1", {"repeats": void}, at + 40 * MINUTE
        job = self.jobs.add(key, id, machine, "screen", [build], workloads, order, at, **again)
        self.jobs.finish(job, machine, at + 35 * MINUTE)
        self.jobs.read_control(job)
        session = 1 + self.random.gauss(0, CLASSES[machine][2])
        found = {}
        ends = [self._end_of(night, w) for w in workloads]
        for position, (_, w) in enumerate(order):
            _, values = self.jobs.run(
                job, position, build, build["index"], workloads[w], machine,
                at + position * MINUTE / 4, session * self._luck(night, workloads[w], machine),
                True, ends[w])
            for metric, value in values.items():
                found.setdefault((workloads[w].id, metric, machine), []).append(value)
        for series, values in found.items():
            self._level(series, night, values)

    def _luck(self, night, workload, machine):
        """A disturbed machine makes a suspicion of nothing, which the confirmation drops."""
        is_chance = any(change.is_chance and change.machine == machine
                        and workload.id in change.workloads
                        and self.around(change.commit)[1] == night for change in self.truth.changes)
        return BAD_LUCK if is_chance else 1.0

    def _end_of(self, night, workload):
        """How its runs of this night end. Now and then what is compiled is wrong for a night."""
        is_wrong = self.flaky.random() < .02 and night > 3
        if is_wrong and not workload.fails and not workload.name.endswith("/eager"):
            return "wrong_result"
        return workload.fails or "measured"

    def _level(self, series, night, values):
        """A level is accepted where the night is near the newest one, or again after three."""
        value = statistics.median(values)
        level, waited = self.newest.get(series, (value, 0))
        if abs(value / level - 1) > .07 and waited < 3:
            self.newest[series] = level, waited + 1
            return
        self.newest[series] = value, 0
        self.tables.add("level", series=self.jobs.series[series], night=self.nights[night],
                        build=self.builds[night]["id"], value=value, runs=len(values))

    # ---- what stands beside the nights
    def _beside(self):
        self._improvements()
        self._marks()
        self._calibration()
        self._trust()
        self._ci()

    def _improvements(self):
        """What got better from one night with a build to the next. A repair of a regression is one,
        too. Two changes of a night are one improvement of a series, as they are one step."""
        for night, series, before, after in sorted(set(self._steps_to_better())):
            self.tables.add(
                "improvement", night=self.nights[night], series=series,
                build=self.builds[night]["id"], before=before, after=after,
                at_us=microseconds(self.truth.days[night] + 200 * MINUTE))

    def around(self, commit):
        """The nights of the last build without this commit and of the first one with it; None for
        one that there is not."""
        night = self.truth.commits[commit].night
        return (max((n for n in self.builds if n < night), default=None),
                min((n for n in self.builds if n >= night), default=None))

    def _steps_to_better(self):
        """(night, series, level before, level after), more than once where changes meet."""
        for change in filter(None, (change.fix for change in self.truth.changes)):
            good, night = self.around(change.commit)
            newest = [self.builds[n]["index"] for n in (good, night)]
            for (w, metric, machine), series in self.jobs.series.items():
                workload = self.truth.workloads[w - 1]
                shows_it = change.machine in (None, machine)
                if w in change.workloads and metric == change.metric and shows_it:
                    before, after = (self.truth.level(workload, metric, machine, one)
                                     for one in newest)
                    if after < before:
                        yield night, series, before, after

    def _marks(self):
        for night, actor, machine, reason in (
                (3, "token:operator", 3, "the driver was updated to 580.65.06"),
                (len(self.truth.days) // 2, "nightjar", 5,
                 "the machine has another level now: three void sessions agree")):
            if night in self.nights:
                self.tables.add("mark", at_us=microseconds(self.truth.days[night]), actor=actor,
                                after_night=self.nights[night], machine=machine, workload="**",
                                metric="*", reason=reason)

    def _calibration(self):
        timed = [(key, id) for key, id in self.jobs.series.items() if key[1] == "latency"]
        for case in range(min(120, 4 * len(self.truth.days))):
            (w, metric, machine), series = self.random.choice(timed)
            planted = self.random.choice((0, .05, .1))
            workload = self.truth.workloads[w - 1]
            day = case * len(self.truth.days) // 121
            night = max(n for n in self.builds if n <= max(day, min(self.builds)))
            build, at = self.builds[night], self.truth.days[night] + 400 * MINUTE
            job = self.jobs.add(f"calibrate:{case}", self.nights[night], machine, "calibrate",
                                [build], [workload], [(0, 0)] * 10, at)
            self.jobs.finish(job, machine, at)
            ratio = (1 + planted) * (1 + self.random.gauss(0, .006))
            seen = ratio > 1.03
            self.tables.add(
                "calibration", job=job, series=series, planted=planted,
                verdict="worse" if seen else "same", ratio=ratio, low=ratio - .012,
                high=ratio + .013, runs=10, at_us=microseconds(at))

    def _trust(self):
        """What was counted of all nights, and searches that were replayed."""
        drawn, first = random.Random(12), self.truth.days[min(self.nights)]
        series = collections.Counter((machine, metric) for _, metric, machine in self.jobs.series)
        for (machine, metric), number in sorted(series.items()):
            nights, smallest = len(self.nights), .072 + .001 * drawn.random()
            self.tables.add(
                "judged", machine=machine + 1, metric=metric, since_us=microseconds(first),
                nights=nights, series_nights=nights * number, suspicions=nights // 3,
                dismissed=nights // 4, noise_series=number, smallest=smallest,
                smallest_low=smallest * .98, smallest_high=smallest * 1.03)
        timed = [id for key, id in self.jobs.series.items() if key[1] == "latency"]
        for night in list(self.nights)[-25:]:
            for one in drawn.sample(timed, min(8, len(timed))):
                replay = self.tables.add(
                    "replay", night=self.nights[night], series=one, planted=.15, outcome="exact",
                    runs=90, at_us=microseconds(self.truth.days[night] + 500 * MINUTE))
                stated = [drawn.uniform(low, high) for low, high in (
                    (.1, .25), (.25, .5), (.5, .75), (.75, .9), (.9, .99))] + [.995]
                for number, probability in enumerate(stated):
                    self.tables.add(
                        "replay_prediction", replay=replay, number=number,
                        named=number + 1 == len(stated), probability=probability,
                        was_right=drawn.random() < probability)

    def _ci(self):
        """Wheels of CI and builders, for the newest days' commits."""
        recent = self.truth.commits[-80:]
        for number, commit in enumerate(recent):
            group = digest(f"native {number // 3}")
            self.tables.add("commit_state", commit_sha=commit.sha, rules=1, native_state=group,
                            library_state=group)
            state = self.random.choice(["fetched"] * 3 + ["absent", "found", "failed"])
            build = self.build("ci", f"2.15.0a0+git{commit.sha[:7]}", commit, commit.at)[
                "id"] if state == "fetched" else None
            self.tables.add(
                "ci_lookup", commit_sha=commit.sha, variant=VARIANT, native_state=group,
                state=state, fetch=1, urgent=0, build=build, bytes=2 ** 20 * number, failures=0,
                reason={"absent": "no run of this commit has built a wheel",
                        "failed": "the artifact has expired",
                        "found": "linux-jammy-py3.11-gcc11"}.get(state, ""),
                looked_at="trunk / linux-jammy-py3.11-gcc11", wanted_at_us=microseconds(commit.at),
                looked_at_us=microseconds(commit.at))
        self._source_builds(recent)

    def _source_builds(self, recent):
        night = self.nights[max(self.nights)]
        for number, commit in enumerate(recent[::9]):
            state = ("built", "built", "does_not_compile", "waiting")[number % 4]
            job = self.tables.add(
                "job", key=f"build:{commit.sha}", night=night, machine=None, kind="build",
                spec=json.dumps({"kind": "build", "environments": [], "workloads": [], "order": [],
                                 "limits": search.NO_LIMITS, "source": {
                                     "repository": "https://example.org/pytorch",
                                     "commit": commit.sha, "recipe": "cmake",
                                     "recipe_sha256": digest("recipe")}}),
                state="queued" if state == "waiting" else "done", priority=5, attempt=1, reason="",
                runner=None, created_at_us=microseconds(commit.at))
            build = self.build("source", f"2.15.0a0+src{commit.sha[:7]}", commit, commit.at)[
                "id"] if state == "built" else None
            self.tables.add(
                "source_build", job=job, native_state=digest(f"native {number * 3}"),
                variant=VARIANT, recipe_sha256=digest("recipe"), commit_sha=commit.sha, state=state,
                build=build, not_before_us=0, result="",
                reason="error: no member named 'sizes_v2'" if state == "does_not_compile" else "")
