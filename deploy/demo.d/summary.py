"""Compares the planted commits with the reported ones. Pure; the only reader of truth.json."""

import narrate


def summarise(truth, snapshot, seconds):
    """The demo's answer, as its --json prints it; `issues` beside it are those that were opened."""
    titles = {report["regression"]: report["title"] for report in snapshot["reports"]
              if report["kind"] == "open_issue" and report["state"] == "sent"}
    reported = [{"commits": item["culprit"]["commits"], "metric": item["series"][0]["metric"],
                 "probability": item["culprit"]["probability"], "ratio": item["culprit"]["ratio"],
                 "title": titles[item["id"]], "issue": item["issue_url"]}
                for item in sorted(snapshot["regressions"], key=lambda item: item["id"])
                if item["culprit"] and item["id"] in titles]
    planted = {plant["commit"] for plant in truth["planted"]}
    blamed = {commit for report in reported for commit in report["commits"]}
    return {
        "commits": truth["commits"],
        "planted": [{"commit": plant["commit"], "metric": plant["metric"]}
                    for plant in truth["planted"]], "reported": reported,
        "missed": sorted(planted - blamed), "innocent": sorted(blamed - planted),
        "builds": sum(build["kind"] != "nightly" for build in snapshot["builds"]),
        "runs": sum(job["runs"]
                    for job in snapshot["jobs"]
                    if job["state"] == "done"), "seconds": seconds, }


def is_right(summary):
    """Whether the planted commits, and only those, were reported, each in one issue."""
    return (not summary["missed"] and not summary["innocent"]
            and len(summary["reported"]) == len(summary["planted"]))


def table(truth, summary):
    """A table of planted and reported commits, one line each."""
    lines = [
        f"{'commit':<14}{'planted':<18}{'reported':<18}{'change':>9}{'certainty':>11}  subject or "
        "title"
    ]
    by_commit = {}
    for report in summary["reported"]:
        for commit in report["commits"]:
            by_commit.setdefault(commit, []).append(report)
    plants = {plant["commit"]: plant for plant in truth["planted"]}
    for commit in list(plants) + summary["innocent"]:
        plant = plants.get(commit)
        for report in by_commit.get(commit, [None]):
            change = narrate.change(report["metric"], report["ratio"]) if report else "-"
            certainty = f"{report['probability'] * 100:.1f} %" if report else "-"
            lines.append(
                f"{commit[:12]:<14}{plant['metric'] if plant else 'nothing':<18}"
                f"{report['metric'] if report else 'MISSED':<18}{change:>9}{certainty:>11}  "
                f"{plant['subject'] if plant else report['title']}")
    if len(lines) == 1:
        lines.append("nothing was planted, nothing was reported")
    return "\n".join(lines)
