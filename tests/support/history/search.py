"""The regressions of a made history: suspicion, confirmation, search, report, each with the runs
and the evidence that the service would have stored. And the searches for what got better."""

import datetime
import json
import random
import statistics

from drawn import CLASSES
from profiles import Profiles
from tables import NO_LIMITS, digest, microseconds

MINUTE = datetime.timedelta(minutes=1)
POLICY = {"confidence": .95, "direction": "lower_is_better", "interval_points": .05,
          "repeatability": "noisy", "screen_change": .03, "screen_z": 1.5, "threshold": .07}
SEARCHED = {"reported": "culprit", "recovered": "culprit", "merged": None, "range": "range",
            "inconclusive": "inconclusive", "unattributed": "inconclusive", "bisecting": "open"}
# The states that a regression goes through on its way.
WAY = {
    "suspected": [], "dismissed": ["suspected"], "unconfirmed": ["suspected"],
    "confirmed": ["suspected"], "bisecting": ["suspected", "confirmed"],
    "merged": ["suspected", "confirmed"],
    "range": ["suspected", "confirmed", "bisecting"],
    "unattributed": ["suspected", "confirmed", "bisecting"],
    "inconclusive": ["suspected", "confirmed", "bisecting"],
    "reported": ["suspected", "confirmed", "bisecting", "blamed"],
    "recovered": ["suspected", "confirmed", "bisecting", "blamed", "reported"]}
WHY = {"dismissed": "not worse in interleaved runs: +0.4 % (-1.2 to +1.9 %) over 10 runs a side",
       "unconfirmed": "could not be confirmed: two sessions were void; the next night takes it up",
       "recovered": "three nights in a row were back at the level before",
       "merged": "the same commit as an earlier regression",
       "reported": "an issue was opened", "bisecting": "searching the commits of the day"}


def interval(good, bad):
    """(ratio, low, high): medians and a normal interval, near enough for a made history."""
    ratio = statistics.median(bad) / statistics.median(good)
    spread = 2.2 * (statistics.stdev(good) / statistics.mean(good) / len(good) ** .5 +
                    statistics.stdev(bad) / statistics.mean(bad) / len(bad) ** .5)
    return ratio, ratio * (1 - spread), ratio * (1 + spread)


class Searches:
    def __init__(self, history):
        self.history, self.truth = history, history.truth
        self.tables, self.jobs = history.tables, history.jobs
        self.random = random.Random(23)
        self.issue, self.issues, self.found = 160400, [], set()
        self.searched = set()  # (build, machine) of fixes
        self.profiles = Profiles(self.jobs, self.tables)

    def fill(self):
        by_time = sorted(self.truth.changes, key=lambda change: change.commit)
        self.first = None
        for change in by_time:
            if change.state != "better":
                self._regression(change)
        for fix in filter(None, (change.fix for change in by_time)):
            self._fix(fix)

    # ---- one fix
    def _fix(self, change):
        """On each class that shows it; of one build and class the first one that is drawn."""
        h = self.history
        good, bad = h.around(change.commit)
        for machine in (range(len(CLASSES)) if change.machine is None else [change.machine]):
            lead = next((w for w in sorted(change.workloads)
                         if (w, change.metric, machine) in self.jobs.series), None)
            place = (h.builds[bad]["id"], machine)
            if lead is None or place in self.searched:
                continue
            self.searched.add(place)
            self._search_fix(change, good, bad, machine, self.truth.workloads[lead - 1])

    def _search_fix(self, change, good, bad, machine, lead):
        h = self.history
        self.change, self.machine, self.lead, self.night = change, machine, lead, h.nights[bad]
        self.good, self.bad = h.builds[good], h.builds[bad]
        self.at = self.truth.days[bad] + 200 * MINUTE
        self.commits = self.truth.commits[self.good["index"]:self.bad["index"] + 1]
        is_new = bad + 1 >= len(self.truth.days)
        outcome = "open" if is_new else self.random.choice(["culprit"] * 4 + [
            "range", "inconclusive"])
        series = self.jobs.series[lead.id, change.metric, machine]
        self.id = self.tables.add(
            "fix_search", night=self.night, machine=machine + 1, before=self.good["id"],
            build=self.bad["id"], series=series, opened_at_us=microseconds(self.at), evidence="")
        before, after = (self.truth.level(lead, change.metric, machine, b["index"])
                         for b in (self.good, self.bad))
        self.numbers = tuple(before / after * part for part in (1, .988, 1.012))
        self.evidence, self.runs = {}, []
        self._search(outcome, "fix")
        if outcome != "open":
            evidence = self.evidence["blamed" if outcome == "culprit" else change.state]
            self.tables.db.execute("UPDATE fix_search SET evidence = ? WHERE id = ?",
                                   (json.dumps(evidence | {"is_better": True}), self.id))

    # ---- one regression
    def _regression(self, change):
        h = self.history
        good, bad = h.around(change.commit)
        lead = min(change.workloads)
        self.machine = change.machine
        # Two changes of one night and series would be one finding.
        if bad is None or good is None or (bad, lead, change.metric) in self.found:
            return
        self.found.add((bad, lead, change.metric))
        shown = [(w, change.metric, self.machine) for w in sorted(change.workloads)
                 if (w, change.metric, self.machine) in self.jobs.series]
        self.lead = self.truth.workloads[lead - 1]
        self.change, self.night = change, h.nights[bad]
        self.good, self.bad = h.builds[good], h.builds[bad]
        self.at = self.truth.days[bad] + 180 * MINUTE
        self.commits = self.truth.commits[self.good["index"]:self.bad["index"] + 1]
        state = change.state if change.state != "merged" or self.first else "reported"
        ends_as = "reported" if state == "range" else state  # with the range in its place
        self.id = self.tables.add(
            "regression", state=ends_as, night=self.night, machine=self.machine + 1,
            good=self.good["id"], bad=self.bad["id"], lead=self.jobs.series[shown[0]], part=0,
            merged_into=self.first if state == "merged" else None, fingerprint="", issue_url="",
            opened_at_us=microseconds(self.at), updated_at_us=microseconds(self.at))
        self._affected(shown)
        self.evidence = {"suspected": self._screened(shown[0])}
        if state not in ("suspected",):
            self.evidence["confirmed"] = self._confirm(state)
        if SEARCHED.get(state):
            self._search(SEARCHED[state], "regression")
        self._changes(state)
        if state in ("reported", "recovered", "range"):
            self._report(state)

    def _affected(self, shown):
        for position, (w, metric, machine) in enumerate(shown):
            workload = self.truth.workloads[w - 1]
            draw = [[self.truth.run(workload, metric, machine, b["index"]) for _ in range(8)]
                    for b in (self.good, self.bad)]
            ratio, low, high = interval(*draw)
            before = statistics.median(draw[0])
            self.tables.add("regression_series", regression=self.id, position=position,
                            series=self.jobs.series[w, metric, machine], before=before,
                            after=before * ratio, ratio=ratio, low=low, high=high)
            if position == 0:
                self._classes(workload, metric, ratio, low, high)

    def _classes(self, workload, metric, *change):
        """The lead's class shows it; others that measure the workload did not, the rest did not
        look."""
        for machine, (_, facts, *_) in enumerate(CLASSES):
            measured = (workload.id, metric, machine) in self.jobs.series
            seen = machine == self.machine
            if not seen and self.change.state in ("suspected", "dismissed", "unconfirmed"):
                continue
            state = "seen" if seen else "not_seen" if measured else "not_looked_for"
            ratio, low, high = change if seen else (None, None, None)
            if state == "not_seen":
                ratio = 1 + .002 * machine
            self.tables.add("regression_class", regression=self.id, machine=machine + 1,
                            gpu="" if facts["gpu"] == "none" else facts["gpu"], state=state,
                            first_seen=self.night if seen else None, ratio=ratio, low=low,
                            high=high)

    def _screened(self, lead):
        runs = self.tables.db.execute(
            "SELECT run, value FROM series_value WHERE series = ? AND build = ? AND screened",
            (self.jobs.series[lead], self.bad["id"])).fetchall()
        reference = self.truth.level(self.lead, self.change.metric, self.machine,
                                     self.good["index"])
        level = statistics.median(v for _, v in runs) if runs else reference
        return {"stage": "screening", "rules": 7, "policy": POLICY, "verdict": "suspect_worse",
                "level": level, "levels": [reference], "reference": reference,
                "change": level / reference - 1, "z": 12.0, "tonight": [v for _, v in runs],
                "tonight_runs": [r for r, _ in runs]}

    def _confirm(self, state):
        """A session of both ends in turns."""
        key = (f"night:{self.night}/machine:{self.machine + 1}/confirm:{self.lead.name}@1/"
               f"{self.good['id']}-{self.bad['id']}/{self.id}")
        sides = (self.good, self.bad)
        order = [(i % 2, 0) for i in range(20)]
        job = self.jobs.add(key, self.night, self.machine, "confirm", sides, [self.lead], order,
                            self.at, priority=10)
        known = self.tables.db.execute(
            "SELECT 1 FROM confirmation_job WHERE workload = ? AND good = ? AND bad = ?",
            (self.lead.id, self.good["id"], self.bad["id"])).fetchone()
        if not known:
            self.tables.add("confirmation_job", job=job, workload=self.lead.id,
                            good=self.good["id"], bad=self.bad["id"], round=1)
        void = "19 % of all CPU time was stolen by other machines" if state == "unconfirmed" else ""
        self.jobs.finish(job, self.machine, self.at + 15 * MINUTE, void)
        self.runs = [self._measure(job, i, sides[side], 0, 1.0)
                     for i, (side, _) in enumerate(order)]
        good = [r["value"] for r in self.runs if r["commit"] == 0]
        bad = [r["value"] for r in self.runs if r["commit"]]
        ratio, low, high = interval(good, bad)
        rule = (f"worse by more than the threshold: {100 * (ratio - 1):+.1f} % worse "
                f"({100 * (low - 1):+.1f} to {100 * (high - 1):+.1f} %) over 10 runs a side, "
                "threshold 7.0 %")
        if state in ("dismissed", "unconfirmed"):
            rule = WHY[state]
        self.numbers = ratio, low, high
        return {"stage": "confirmation", "rules": 7, "policy": POLICY, "rule": rule,
                "verdict": "same" if state == "dismissed" else "worse", "good": good, "bad": bad,
                "good_runs": [r["run"] for r in self.runs if r["commit"] == 0],
                "bad_runs": [r["run"] for r in self.runs if r["commit"]],
                "ratio": ratio, "low": low, "high": high}

    def _measure(self, job, position, build, session, factor):
        run, values = self.jobs.run(job, position, build, build["index"], self.lead, self.machine,
                                    self.at, factor, False)
        return {"commit": build["index"] - self.good["index"], "run": run, "session": session,
                "value": values[self.change.metric]}

    # ---- the search
    def _search(self, outcome, explains):
        """`explains`: what `self.id` is, a regression or a fix."""
        last = len(self.commits) - 1
        self.explains = explains
        self.bisection = self.tables.add(
            "bisection", **{explains: self.id},
            series=self.jobs.series[self.lead.id, self.change.metric, self.machine],
            state=outcome, good=self.good["id"], bad=self.bad["id"], posterior="",
            started_at_us=microseconds(self.at + 20 * MINUTE))
        for position, commit in enumerate(self.commits):
            self.tables.add("bisection_commit", bisection=self.bisection, position=position,
                            commit_sha=commit.sha)
        step = self.change.commit - self.good["index"]
        low, high, session, self.untestable = 0, last, 1, {}
        if not self.runs:  # no confirmation measured both ends
            self._session(session, [0, last], 10)
            session += 1
        if outcome == "range":
            self._no_builds(max(1, step - 2), step)
        while high - low > 1 and not (outcome == "open" and session > 2 + (explains == "fix")):
            middle = next((m for m in self._near((low + high) // 2, low, high)
                           if m not in self.untestable), None)
            if middle is None:
                break
            spared = outcome != "culprit" or middle in (step, step - 1)
            if self.random.random() < .08 and not spared:
                self._untestable(middle, "does_not_run", "RuntimeError: expected scalar type Half")
                continue
            self._session(session, [middle], 4)
            low, high = (low, middle) if middle >= step else (middle, high)
            session += 1
        if outcome == "culprit":
            self._session(session, [step - 1, step], 6)
            session += 1
        self._end(outcome, low, high, session)

    @staticmethod
    def _near(middle, low, high):
        return sorted(range(low + 1, high), key=lambda m: abs(m - middle))

    def _no_builds(self, first, last):
        for position in range(first, last + 1):
            if 0 < position < len(self.commits) - 1:
                self._untestable(position, "no_build_here",
                                 "it needs a native build, and no CI wheel of its group is left")

    def _untestable(self, position, cause, reason):
        self.untestable[position] = reason
        self.tables.add("bisection_untestable", bisection=self.bisection, position=position,
                        cause=cause, reason=reason)

    def _session(self, session, positions, runs):
        builds = [self._build_of(p) for p in positions]
        order = [(i % len(builds), 0) for i in range(runs * len(builds))]
        job = self.jobs.add(f"bisection:{self.bisection}/step:{session}", self.night, self.machine,
                            "bisect", builds, [self.lead], order, self.at, priority=20)
        self.jobs.finish(job, self.machine, self.at + (20 + 9 * session) * MINUTE, setup=38.0)
        self.tables.add("bisection_job", bisection=self.bisection, job=job, session=session - 1)
        shared = 1 + self.random.gauss(0, CLASSES[self.machine][2] / 2)
        for i, (side, _) in enumerate(order):
            self.runs.append(self._measure(job, i, builds[side], session, shared))

    def _build_of(self, position):
        commit = self.commits[position]
        if position == 0:
            return self.good
        if position == len(self.commits) - 1:
            return self.bad
        return self.history.build(
            "overlay", f"{self.bad['version']}+{commit.sha[:12]}", commit, self.at,
            base=self.bad["id"], url="")

    def _end(self, outcome, low, high, sessions):
        shas = [c.sha for c in self.commits]
        step = self.change.commit - self.good["index"]
        if outcome == "culprit":
            posterior = [{"commits": [shas[step]], "probability": .9987}]
            named = [shas[step]]
        elif outcome == "range":
            named = shas[low + 1:high + 1]
            posterior = [{"commits": named, "probability": .998}]
        else:
            named = []
            inside = range(low + 1, high + 1)
            weight = {i: 1 / (1 + abs(i - step)) for i in inside}
            posterior = [{"commits": [shas[i]], "probability": weight[i] / sum(weight.values())}
                         for i in inside]
        own = len(self.runs) - 20
        is_open = outcome == "open"
        self.tables.db.execute(
            "UPDATE bisection SET posterior = ?, runs = ?, sessions = ?, spent_seconds = ?, "
            "expected_runs = ?, finished_at_us = ? WHERE id = ?",
            (json.dumps(posterior), len(self.runs), sessions, own * 41.0, 22.0 if is_open else 0,
             None if is_open else microseconds(self.at + (30 + 9 * sessions) * MINUTE),
             self.bisection))
        if is_open:
            self._next_job(sessions, (low + high) // 2)
        if named:
            self._name(named, posterior[0]["probability"], outcome == "range")
        is_regression = self.explains == "regression"
        if is_regression and outcome == "culprit" and self.change.metric == "latency":
            sides = self._build_of(step - 1), self._build_of(step)
            self.profiles.add(self.id, self.night, self.machine, sides, self.lead,
                              self.change.factor, self.at + (40 + 9 * sessions) * MINUTE)
        ratio, below, above = self.numbers
        self.evidence["blamed" if outcome == "culprit" else self.change.state] = {
            "stage": "bisection", "rules": 7, "outcome": outcome, "commits": shas,
            "runs": self.runs, "posterior": posterior, "nothing": 0.0, "too_small": 0.0,
            "culprits": [{"commits": named, "probability": posterior[0]["probability"],
                          "ratio": ratio, "low": below, "high": above,
                          "range": outcome == "range"}] if named else [],
            "untestable": sorted(self.untestable), "smaller": [], "policy": {"threshold": .07},
            "rule": f"P(each named step is real) 0.9987 after {len(self.runs)} runs"
                    if outcome == "culprit" else f"ended as {outcome} after {len(self.runs)} runs"}

    def _next_job(self, session, middle):
        build = self._build_of(middle)
        job = self.jobs.add(
            f"bisection:{self.bisection}/step:{session}", self.night, self.machine, "bisect",
            [build], [self.lead], [(0, 0)] * 4, self.at + 60 * MINUTE, priority=20, state="leased",
            lease_until_us=microseconds(self.at + datetime.timedelta(days=3650)))
        self.tables.add("bisection_job", bisection=self.bisection, job=job, session=session - 1)

    def _name(self, shas, probability, is_range):
        ratio, low, high = self.numbers
        if self.explains == "fix":
            cause = self.tables.add("fix_cause", fix_search=self.id, is_range=is_range,
                                    probability=probability, ratio=ratio, low=low, high=high)
            for position, sha in enumerate(shas):
                self.tables.add("fix_cause_commit", fix_cause=cause, position=position,
                                commit_sha=sha)
            return
        self.tables.db.execute(
            "UPDATE regression SET culprit_probability = ?, culprit_ratio = ?, culprit_low = ?, "
            "culprit_high = ?, is_range = ? WHERE id = ?",
            (probability, ratio, low, high, is_range, self.id))
        for position, sha in enumerate(shas):
            self.tables.add("regression_commit", regression=self.id, position=position,
                            commit_sha=sha)

    # ---- what is told of it
    def _changes(self, state):
        at = self.at
        for one in [*WAY[state], state, *(["reported"] if state == "range" else [])]:
            evidence = self.evidence.get(one) or {"rules": 7, "reason": WHY.get(one, one)}
            if one in ("dismissed", "unconfirmed"):
                evidence = self.evidence["confirmed"]
            self.tables.add("regression_change", regression=self.id, state=one,
                            at_us=microseconds(at), evidence=json.dumps(evidence))
            at += (datetime.timedelta(days=3) if one == "reported" and state == "recovered"
                   else 25 * MINUTE)
        at = min(at, self.truth.days[-1] + 200 * MINUTE)
        self.tables.db.execute("UPDATE regression SET updated_at_us = ? WHERE id = ?",
                               (microseconds(at), self.id))

    def _report(self, state):
        self.issue += self.random.randint(3, 60)
        self.issues.append(self.issue)
        fingerprint = digest(self.id)[:32]
        url = f"https://github.com/pytorch/pytorch/issues/{self.issue}"
        self.tables.db.execute(
            "UPDATE regression SET fingerprint = ?, issue_number = ?, issue_url = ? WHERE id = ?",
            (fingerprint, self.issue, url, self.id))
        self.first = self.first if state == "range" else self.id
        model, task = self.lead.name.split("/")[1:3]
        percent = f"{100 * (self.numbers[0] - 1):+.0f} %"
        title = f"[nightjar] {model} {task}: {self.change.metric} {percent}"
        body = (f"**{title[11:]}** since `{self.truth.commits[self.change.commit].sha[:12]}`.\n\n"
                f"## Reproduce\n\n```sh\nmkdir -p reproduce\npython3.11 -m venv reproduce/old\n"
                f"reproduce/old/bin/pip install {self.good['url']}\n"
                f"python3.11 -m venv reproduce/new\n"
                f"reproduce/new/bin/pip install {self.bad['url']}\n"
                f"build/bin/nightjar-runner measure {self.lead.name} --runs 5 "
                "--python reproduce/new/bin/python --json >reproduce/new.json\n```\n")
        kinds = ["open_issue"] + ["close_issue"] * (state == "recovered")
        for kind in kinds:
            self.tables.add(
                "outbox", key=f"{kind}:{fingerprint}", regression=self.id, kind=kind, title=title,
                body=body, state="sent", attempts=1, error="", url=url,
                created_at_us=microseconds(self.at + 150 * MINUTE))
