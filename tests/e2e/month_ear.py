"""What a month's service says, night by night: issues, comments and closings as the tracker has
them, and improvements, marks and obstacles as REST has them."""

import dataclasses
import re

ENVIRONMENT = re.compile(r"the packages did it, not the source: (.+?)\. (?:No commit|Its pin)")
PIN = re.compile(r"^- Where the pin moved: .*?“(.+?) \(#", re.MULTILINE)
DIGEST = "[nightjar] Confirmed slow-downs without a commit, week of "
WORSE = re.compile(r": (\S+ \S+) made it worse")
OPENINGS = {"source", "digest", "environment", "failure", "range", "unattributed"}
COMMENTS = {"**Also seen in": "joined", "**Another ": "joined", "**Worse than": "grew",
            "**Partly recovered": "shrank", "**Back at its level": "back", "**Recovered": "closed",
            "Builds of more commits": "went on"}


@dataclasses.dataclass(frozen=True)
class Said:
    """`what`: subjects of commits, packages, or facts of a machine. `series`: (machine class,
    workload, metric) of all that it is said of. `date`: of the night that said it; of an
    improvement, which the next night says, that of its build."""
    date: str
    kind: str
    what: tuple
    series: frozenset
    issue: int = dataclasses.field(default=0, compare=False)  # nobody planted its number

    def opens(self):
        return self.kind in OPENINGS


def facts_of(mark):
    """What moved the machine, where the mark says it; else the whole reason."""
    return tuple(re.findall(r"\((.*)\): the last build was", mark["reason"]) or [mark["reason"]])


class Ear:
    def __init__(self, month):
        self.month = month
        self.said = []
        self.obstacles = []
        self.heard = set()  # what was said before: numbers of issues, ids of comments and rows

    def new(self, *key):
        """True the first time."""
        known = key in self.heard
        self.heard.add(key)
        return not known

    def listen(self, date):
        """Takes down what was not there before."""
        self.machines = {m["id"]: self.class_of(m["facts"]) for m in (
            runner["machine"] for runner in self.month.items("runners"))}
        by_issue = {r["issue_number"]: r for r in self.rows("regressions")
                    if r["issue_number"] and not r["merged_into"]}
        for issue in self.issues():
            regression = by_issue.get(issue["number"])
            if self.new("issue", issue["number"]):
                self.said.append(self.of_issue(date, issue, regression))
            for comment in issue["comments"]:
                if self.new("comment", comment["id"]):
                    self.said.append(self.of_comment(date, issue, comment, regression))
        self.listen_to_rows(date)
        for obstacle in self.month.get("/readyz")["obstacles"]:
            if self.new("obstacle", obstacle["reason"]):
                self.said.append(Said(date, "operator", (obstacle["reason"],), frozenset()))

    def listen_to_rows(self, date):
        series = {one["id"]: one for one in self.rows("series")}
        for one in self.rows("improvements"):
            if self.new("improvement", one["id"]):
                shown = series[one["series"]]
                self.said.append(Said(one["build"]["date"], "improvement", (),
                                      frozenset({self.named(shown)})))
        for mark in self.rows("marks"):
            if self.new("mark", mark["id"]):
                self.said.append(Said(date, "machine", facts_of(mark), frozenset(
                    {(self.machines[mark["machine"]], mark["workload"], mark["metric"])})))

    def rows(self, collection):
        rows, cursor = [], ""
        while True:
            page = self.month.get(f"/api/v1/{collection}?limit=500{cursor}")
            rows += page["items"]
            if not page["next_cursor"]:
                return rows
            cursor = f"&cursor={page['next_cursor']}"

    def class_of(self, facts):
        from month import CLASSES
        return next(name for name, own in CLASSES.items()
                    if own["cpu_model"] == facts["cpu_model"])

    def named(self, series):
        name = series.get("workload_name", series["workload"])
        return self.machines[series["machine"]], name, series["metric"]

    def issues(self):
        return self.month.tracker.tell("state")["issues"]

    def of_issue(self, date, issue, regression):
        if not regression:
            return Said(date, "issue without a regression", (issue["title"],), frozenset(),
                        issue["number"])
        kind, what = self.verdict(issue, regression)
        series = {*map(self.named, regression["series"]), *self.worse_too(issue, regression)}
        return Said(date, kind, what, frozenset(series), issue["number"])

    def worse_too(self, issue, regression):
        """The series that the issue lists besides those that were measured side by side."""
        lines = re.findall(r"^- Worse too.*$", issue["body"], re.MULTILINE)
        own, metric = regression["machine"], regression["series"][0]["metric"]
        return {(self.machines[int(machine or own)], name, metric) for name, machine in re.findall(
            r"`([^`/]+/[^`]+)`(?: on machine class (\d+))?", "".join(lines))}

    def verdict(self, issue, regression):
        whose = regression["attribution"]
        if whose and whose["cause"] == "environment":
            packages, pins = ENVIRONMENT.findall(issue["body"]), PIN.findall(issue["body"])
            kind = "digest" if issue["title"].startswith(DIGEST) else "environment"
            return kind, (*packages, *pins)
        named = regression["culprit"] or regression["range"]
        what = tuple(one["subject"].split(" (#")[0]
                     for one in named["commit_details"]) if named else ()
        if regression["range"]:
            return "range", what
        if not named:
            return "unattributed", what
        if what[0] not in issue["body"].splitlines()[0]:
            return "another commit in the first line", what
        metric = regression["series"][0]["metric"]
        return "failure" if metric == "failures" else "source", what

    def of_comment(self, date, issue, comment, regression):
        kind = next((kind for start, kind in COMMENTS.items()
                     if comment["body"].startswith(start)), comment["body"][:60])
        what = next(one.what for one in self.said if one.issue == issue["number"])
        if comment["body"].startswith("**Another "):
            what = tuple(WORSE.findall(comment["body"]) + PIN.findall(comment["body"]))
        if kind == "closed":
            what += tuple(re.findall(r"“(.+?) \(#", comment["body"]))
        return Said(date, kind, what, frozenset(), issue["number"])
