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
SEARCHED = {"reported": "culprit", "recovered": "culprit", "merged": None, "range": "range",
            "inconclusive": "inconclusive", "unattributed": "inconclusive", "bisecting": "open"}
# The states that a regression goes through on its way.
WAY = {
    "suspected": [], "dismissed": ["suspected"], "unconfirmed": ["suspected"],
    "confirmed": ["suspected"], "bisecting": ["suspected", "confirmed"],
    "merged": ["suspected", "confirmed", "bisecting"],
    "range": ["suspected", "confirmed", "bisecting"],
    "unattributed": ["suspected", "confirmed", "bisecting"],
    "inconclusive": ["suspected", "confirmed", "bisecting"],
    "reported": ["suspected", "confirmed", "bisecting", "blamed"],
    "recovered": ["suspected", "confirmed", "bisecting", "blamed", "reported"]}
WHY = {"unconfirmed": "could not be confirmed: two sessions were void; that was the third time: "
                      "compare the two builds by hand",
       "recovered": "three nights in a row were back at the level before",
       "merged": "the same commit as an earlier regression",
       "reported": "an issue was opened", "bisecting": "searching the commits of the day"}
MOST_LEVELS = 14  # of earlier nights that a night is held against
MOST_RUNS = 480   # that a search may have
FEW_RUNS = 12     # of one that ends without an answer
JOBS_OF_OPEN = 2  # after which a search stands still


def interval(good, bad):
    """(ratio, low, high): medians and a normal interval, near enough for a made history."""
    ratio = statistics.median(bad) / statistics.median(good)
    spread = 2.2 * (statistics.stdev(good) / statistics.mean(good) / len(good) ** .5 +
                    statistics.stdev(bad) / statistics.mean(bad) / len(bad) ** .5)
    return ratio, ratio * (1 - spread), ratio * (1 + spread)


class Searches:
    def __init__(self, history, judge):
        self.history, self.truth, self.judge = history, history.truth, judge
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
        self.evidence = {}
        outcome = self._search(outcome, "fix")
        if outcome != "open":
            self.tables.db.execute("UPDATE fix_search SET evidence = ? WHERE id = ?",
                                   (json.dumps(self.evidence["search"]), self.id))

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
        screened = self._screened(shown[0])
        if screened["verdict"] != "suspect_worse":
            return  # the night's noise hides it, so nobody is told
        self.id = self.tables.add(
            "regression", state=state, night=self.night, machine=self.machine + 1,
            good=self.good["id"], bad=self.bad["id"], lead=self.jobs.series[shown[0]], part=0,
            merged_into=self.first if state == "merged" else None, fingerprint="", issue_url="",
            opened_at_us=microseconds(self.at), updated_at_us=microseconds(self.at))
        self.evidence = {"suspected": screened}
        if state != "suspected":
            state = self._confirm(state)
        self._affected(shown, state)
        if SEARCHED.get(state):
            state = self._state_after(state, self._search(SEARCHED[state], "regression"))
        # A range is reported in its place.
        self.tables.db.execute("UPDATE regression SET state = ? WHERE id = ?",
                               ("reported" if state == "range" else state, self.id))
        self._changes(state)
        if state in ("reported", "recovered", "range"):
            self._report(state)

    @staticmethod
    def _state_after(state, outcome):
        """What the search came to decides, whatever was drawn."""
        if outcome == "culprit":
            return state if state == "recovered" else "reported"
        if outcome == "range":
            return "range"
        return state if state in ("unattributed", "bisecting") else "inconclusive"

    def _affected(self, shown, state):
        """Series with both builds side by side; before that in the night that suspected them."""
        for position, (w, metric, machine) in enumerate(shown):
            workload = self.truth.workloads[w - 1]
            draw = [[self.truth.run(workload, metric, machine, b["index"]) for _ in range(8)]
                    for b in (self.good, self.bad)]
            ratio, low, high = interval(*draw)
            before = statistics.median(draw[0])
            judged = self.evidence.get("confirmed")
            if position == 0 and state not in ("dismissed", "unconfirmed") and judged:
                ratio, low, high = (judged[key] for key in ("ratio", "low", "high"))
                before = statistics.median(judged["good"])
            elif position == 0:
                screened = self.evidence["suspected"]
                before, ratio = screened["reference"], 1 + screened["change"]
                low = high = ratio
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
        """What the rules say of the night, by its runs and the levels before it."""
        runs = self.tables.db.execute(
            "SELECT run, value FROM series_value WHERE series = ? AND build = ? AND screened",
            (self.jobs.series[lead], self.bad["id"])).fetchall()
        levels = self.tables.db.execute(
            "SELECT value FROM level WHERE series = ? AND night < ? ORDER BY night DESC LIMIT ?",
            (self.jobs.series[lead], self.night, MOST_LEVELS)).fetchall()
        if not runs or not levels:
            return {"verdict": "first_night"}
        return self.judge.ask(
            "screening", metric=self.change.metric, levels=[level for level, in levels],
            tonight={"values": [v for _, v in runs], "runs": [r for r, _ in runs]})

    def _confirm(self, state):
        """Sessions of both ends in turns until the rules are content: the state after them."""
        runs, runs_a_side, number = [], 10, 1
        while runs_a_side:
            void = WHY["unconfirmed"] if state == "unconfirmed" else ""
            runs += self._confirmation_session(runs_a_side - len(runs) // 2, number, void)
            if void:
                return state
            sides = [{"values": [r["value"] for r in runs if (r["commit"] > 0) == is_bad],
                      "runs": [r["run"] for r in runs if (r["commit"] > 0) == is_bad]}
                     for is_bad in (False, True)]
            answer = self.judge.ask("confirmation", metric=self.change.metric, good=sides[0],
                                    bad=sides[1])
            runs_a_side, number = answer["more"], number + 1
        said = answer["evidence"]
        self.evidence["confirmed"] = said
        self.numbers = said["ratio"], said["low"], said["high"]
        return state if said["verdict"] == "worse" else "dismissed"

    def _confirmation_session(self, runs_a_side, number, void):
        sides = (self.good, self.bad)
        order = [(i % 2, 0) for i in range(2 * runs_a_side)]
        at = self.at + 20 * (number - 1) * MINUTE
        key = (f"night:{self.night}/machine:{self.machine + 1}/confirm:{self.lead.name}@1/"
               f"{self.good['id']}-{self.bad['id']}/{self.id}/{number}")
        job = self.jobs.add(key, self.night, self.machine, "confirm", sides, [self.lead], order,
                            at, priority=10)
        known = self.tables.db.execute(
            "SELECT 1 FROM confirmation_job WHERE workload = ? AND good = ? AND bad = ? AND "
            "round = ?", (self.lead.id, self.good["id"], self.bad["id"], number)).fetchone()
        if not known:
            self.tables.add("confirmation_job", job=job, workload=self.lead.id,
                            good=self.good["id"], bad=self.bad["id"], round=number)
        self.jobs.finish(job, self.machine, at + 15 * MINUTE, void)
        return [self._measure(job, i, sides[side], 0, 1.0) for i, (side, _) in enumerate(order)]

    def _measure(self, job, position, build, session, factor):
        run, values = self.jobs.run(job, position, build, build["index"], self.lead, self.machine,
                                    self.at, factor, False)
        return {"commit": build["index"] - self.good["index"], "run": run, "session": session,
                "value": values[self.change.metric]}

    # ---- the search
    def _search(self, outcome, explains):
        """`explains`: what `self.id` is, a regression or a fix. The outcome that it came to."""
        self.explains, self.runs, self.untestable, self.jobs_asked = explains, [], {}, 0
        self.bisection = self.tables.add(
            "bisection", **{explains: self.id},
            series=self.jobs.series[self.lead.id, self.change.metric, self.machine],
            state="open", good=self.good["id"], bad=self.bad["id"],
            started_at_us=microseconds(self.at + 20 * MINUTE))
        for position, commit in enumerate(self.commits):
            self.tables.add("bisection_commit", bisection=self.bisection, position=position,
                            commit_sha=commit.sha)
        step = self.change.commit - self.good["index"]
        if outcome == "range":
            self._no_builds(max(1, step - 2), step)
        session, answer = 0, self._next(outcome)
        while "measure" in answer:
            session += answer["new_session"] or session == 0
            if outcome == "open" and self.jobs_asked == JOBS_OF_OPEN:
                break
            if not self._is_given_up(answer["measure"], step):
                self._session(session, answer["measure"])
            answer = self._next(outcome)
        return self._end(answer, session)

    def _next(self, outcome):
        return self.judge.ask(
            "search", metric=self.change.metric, is_better=self.explains == "fix",
            max_runs=FEW_RUNS if outcome == "inconclusive" else MOST_RUNS,
            commits=[c.sha for c in self.commits], runs=self.runs,
            untestable=[{"commit": commit, "cause": cause}
                        for commit, cause in sorted(self.untestable.items())])

    def _is_given_up(self, order, step):
        """Now and then a commit that is asked for does not run."""
        last = len(self.commits) - 1
        for position in sorted(set(order)):
            is_spared = position in (0, step - 1, step, last) or any(
                run["commit"] == position for run in self.runs)
            if not is_spared and self.random.random() < .08:
                self._untestable(position, "does_not_run",
                                 "RuntimeError: expected scalar type Half")
                return True
        return False

    def _no_builds(self, first, last):
        for position in range(first, last + 1):
            if 0 < position < len(self.commits) - 1:
                self._untestable(position, "no_build_here",
                                 "it needs a native build, and no CI wheel of its group is left")

    def _untestable(self, position, cause, reason):
        self.untestable[position] = cause
        self.tables.add("bisection_untestable", bisection=self.bisection, position=position,
                        cause=cause, reason=reason)

    def _session(self, session, order):
        """Runs of these commits, one after the other."""
        positions = sorted(set(order))
        builds = [self._build_of(p) for p in positions]
        planned = [(positions.index(position), 0) for position in order]
        job = self._job(session, builds, planned, self.at + 20 * MINUTE)
        self.jobs.finish(job, self.machine, self.at + (20 + 9 * session) * MINUTE, setup=38.0)
        shared = 1 + random.Random(f"{self.bisection} {session}").gauss(
            0, CLASSES[self.machine][2] / 2)
        for i, (side, _) in enumerate(planned):
            self.runs.append(self._measure(job, i, builds[side], session, shared))

    def _job(self, session, builds, planned, at, **more):
        self.jobs_asked += 1
        job = self.jobs.add(
            f"bisection:{self.bisection}/step:{self.jobs_asked - 1}", self.night, self.machine,
            "bisect", builds, [self.lead], planned, at, priority=20, **more)
        self.tables.add("bisection_job", bisection=self.bisection, job=job, session=session - 1)
        return job

    def _build_of(self, position):
        commit = self.commits[position]
        if position == len(self.commits) - 1:
            return self.bad
        return self.history.build(
            "overlay", f"{self.bad['version']}+{commit.sha[:12]}", commit, self.at,
            base=self.bad["id"], url="")

    def _end(self, answer, sessions):
        """Stores what the search says, and gives its outcome."""
        said = answer.get("evidence")
        outcome = self._outcome_of(said)
        is_open = outcome == "open"
        self.tables.db.execute(
            "UPDATE bisection SET state = ?, outcome = ?, runs = ?, sessions = ?, "
            "spent_seconds = ?, expected_runs = ?, finished_at_us = ? WHERE id = ?",
            (outcome, answer.get("outcome"), len(self.runs), sessions,
             len(self.runs) * 41.0, answer["expected_runs"] if is_open else 0,
             None if is_open else microseconds(self.at + (30 + 9 * sessions) * MINUTE),
             self.bisection))
        for cell in answer["posterior"]:
            self.tables.add("bisection_cell", bisection=self.bisection,
                            **dict(zip(("first", "last", "probability"), cell)))
        for step in answer.get("found", []):
            self.tables.add("bisection_step", bisection=self.bisection, **dict(zip(
                ("first", "last", "probability", "ratio", "low", "high", "isolated"), step)))
        if is_open:
            order = answer["measure"]
            positions = sorted(set(order))
            self._job(sessions, [self._build_of(p) for p in positions],
                      [(positions.index(p), 0) for p in order], self.at + 60 * MINUTE,
                      state="leased",
                      lease_until_us=microseconds(self.at + datetime.timedelta(days=3650)))
            return outcome
        self.evidence["search"] = said
        for named in self._named(said):
            self._name(named)
        is_profiled = self.explains == "regression" and self.change.metric == "latency"
        step = self.change.commit - self.good["index"]
        if is_profiled and outcome == "culprit":
            sides = self._build_of(step - 1), self._build_of(step)
            self.profiles.add(self.id, self.night, self.machine, sides, self.lead,
                              self.change.factor, self.at + (40 + 9 * sessions) * MINUTE)
        return outcome

    @staticmethod
    def _outcome_of(said):
        """A search's state, of what the rules say; None: they want more runs."""
        if said is None:
            return "open"
        known = ("culprit", "range", "not_reproduced")
        return said["outcome"] if said["outcome"] in known else "inconclusive"

    def _named(self, said):
        """The steps that are named. A regression has one of its own; others would be further
        regressions."""
        sha = self.truth.commits[self.change.commit].sha
        if self.explains == "fix":
            return [step for step in said["culprits"] if step.get("isolated", True)]
        return sorted(said["culprits"], key=lambda step: sha not in step["commits"])[:1]

    def _name(self, named):
        shas, is_range = named["commits"], named["range"]
        probability, ratio, low, high = (named[key] for key in (
            "probability", "ratio", "low", "high"))
        self.numbers = ratio, low, high
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
        ended = {"blamed": "search", "inconclusive": "search", "unattributed": "search",
                 "range": "search", "dismissed": "confirmed"}
        for one in [*WAY[state], state, *(["reported"] if state == "range" else [])]:
            evidence = self.evidence.get(ended.get(one, one)) or self.judge.reason(
                WHY.get(one, one))
            self.tables.add("regression_change", regression=self.id, state=one,
                            at_us=microseconds(at), evidence=json.dumps(evidence),
                            rule=evidence.get("rule", evidence.get("reason", "")))
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
        commands = (f"mkdir -p reproduce\npython3.11 -m venv reproduce/old\n"
                    f"reproduce/old/bin/pip install {self.good['url']}\n"
                    f"python3.11 -m venv reproduce/new\n"
                    f"reproduce/new/bin/pip install {self.bad['url']}\n"
                    f"build/bin/nightjar-runner measure {self.lead.name} --runs 5 "
                    "--python reproduce/new/bin/python --json >reproduce/new.json\n")
        body = (f"**{title[11:]}** since `{self.truth.commits[self.change.commit].sha[:12]}`.\n\n"
                f"## Reproduce\n\n```sh\n{commands}```\n")
        kinds = ["open_issue"] + ["close_issue"] * (state == "recovered")
        for kind in kinds:
            self.tables.add(
                "outbox", key=f"{kind}:{fingerprint}", regression=self.id, kind=kind, title=title,
                body=body, state="sent", attempts=1, error="", url=url,
                commands=json.dumps([commands] if kind == "open_issue" else []),
                created_at_us=microseconds(self.at + 150 * MINUTE))
