"""Says in sentences what happened between two snapshots of the service. Pure."""

SETTLED = {"reported", "recovered", "dismissed", "inconclusive", "merged", "unconfirmed"}
# The time limit of each stage of a nightly: many times what it takes on two busy cores.
PROOF_SECONDS = 600
NIGHT_SECONDS = 300
MEASURING_SECONDS = 3600
SEARCH_SECONDS = 3600
REPORT_SECONDS = 3600  # the two builds are profiled for the issue


def brief(sha):
    return sha[:12] if sha else "?"


def percent(ratio):
    return f"{(ratio - 1) * 100:+.1f} %"


def change(metric, ratio):
    """The size of a change. A failure has none."""
    return "fails" if metric == "failures" else percent(ratio)


def short(workload):
    return "/".join(workload.split("/")[:3])


def _by_id(items):
    return {item["id"]: item for item in items}


def _named(commits):
    """A few commits by name; of many the first and the number."""
    if len(commits) > 4:
        return f"{brief(commits[0])} and {len(commits) - 1} more"
    return ", ".join(map(brief, commits))


WHEELS = {"nightly": "the nightly", "ci": "CI's wheel", "source": "the wheel compiled here"}


def _origin(build):
    """What a wheel is, and of which commit."""
    return f"{WHEELS.get(build['kind'], build['kind'])} of {brief(build['commit'])}"


def _builds(before, after):
    known, now = _by_id(before["builds"]), _by_id(after["builds"])
    fetched = []
    for build in after["builds"]:
        old = known.get(build["id"])
        if old and old["state"] == build["state"]:
            continue
        if build["state"] in ("unproved", "unusable"):
            yield f"build {build['version']} is {build['state']}: {build['reason']}"
        elif build["state"] != "proved":
            continue
        elif build["kind"] == "nightly":
            yield (f"nightly {build['version']} appeared; "
                   f"it is main's commit {brief(build['commit'])}")
        elif build["kind"] == "ci":
            fetched.append(build["commit"])
        elif build["kind"] == "source":
            yield f"  {brief(build['commit'])} is built: compiled here"
        elif build["kind"] == "overlay" and build["base"] in now:
            yield (f"  {brief(build['commit'])} is built: its files laid over "
                   f"{_origin(now[build['base']])}")
    if fetched:
        yield f"  CI has wheels of {_named(fetched)}; they are fetched and proved"


def _done(snapshot):
    return {night["id"] for night in snapshot["nights"] if night["state"] == "done"}


def _lookups(before, after):
    """What CI has no wheel of: once a night's verdicts are in, and searches begin."""
    known = _by_id(before["lookups"])
    for lookup in after["lookups"]:
        old = known.get(lookup["id"])
        if lookup["state"] == "failed" and (old is None or old["state"] != "failed"):
            yield f"  CI's wheel of {brief(lookup['commit'])} is not to be had: {lookup['reason']}"
    if not after["lookups"] or _done(after) == _done(before):
        return
    groups = {}
    for lookup in after["lookups"]:
        groups.setdefault(lookup["native_state"], []).append(lookup)
    missing = [lookup for group in groups.values()
               if all(one["state"] == "absent" for one in group) for lookup in group]
    if missing:
        count = len({lookup["native_state"] for lookup in missing})
        yield (f"  CI has wheels of {len(groups) - count} native groups and none of {count}: "
               f"{_named([lookup['commit'] for lookup in missing])} cannot be built")


def _nights(before, after):
    known = _by_id(before["nights"])
    words = {"waiting": "waits for a build", "measuring": "is being measured",
             "judging": "is measured; suspects are compared again, old and new build interleaved",
             "done": "is done: every verdict is in"}
    for night in sorted(after["nights"], key=lambda night: night["id"]):
        old = known.get(night["id"])
        if old is None or old["state"] != night["state"]:
            of = f" of {night['build']['date']}" if night["build"] else ""
            yield f"night {night['id']}{of} {words[night['state']]}"


def _jobs(before, after):
    known = _by_id(before["jobs"])
    for job in sorted(after["jobs"], key=lambda job: job["id"]):
        old = known.get(job["id"])
        if job["state"] == "done" and (old is None or old["state"] != "done"):
            workloads = ", ".join(map(short, job["workloads"]))
            yield f"  {job['kind']} session of {job['runs']} runs measured ({workloads})"
        if job["state"] == "failed" and (old is None or old["state"] != "failed"):
            yield f"  {job['kind']} session failed: {job['reason']}"


def _why(item):
    """The words of the evidence of its last change of state."""
    evidence = item["changes"][-1]["evidence"] if "changes" in item else {}
    return evidence.get("rule") or evidence.get("reason")


def _regression(item):
    lead = item["series"][0] if item["series"] else None
    name = f"regression {item['id']}" + (f" ({short(lead['workload'])}, {lead['metric']})"
                                         if lead else "")
    size = change(lead["metric"], lead["ratio"]) if lead else ""
    if lead and lead["metric"] != "failures":
        size += f" [{percent(lead['low'])}, {percent(lead['high'])}]"
    culprit = item["culprit"]
    return name, {
        "suspected": f"is suspected: {size}",
        "confirmed": f"is confirmed: {size}",
        "bisecting": "is real; the search for its commit begins",
        "blamed": culprit and f"is due to {', '.join(map(brief, culprit['commits']))} "
                              f"with probability {culprit['probability']:.3f}",
        "range": item.get("range") and f"lies within {len(item['range']['commits'])} commits "
                                       "of which there are no builds",
        "reported": f"is reported: {item['issue_url']}",
        "recovered": "has recovered",
        "dismissed": f"is dismissed, nobody is blamed: {_why(item)}",
        "unconfirmed": f"could not be confirmed tonight: {_why(item)}",
        "inconclusive": "is real, but the evidence names nobody",
        "merged": f"has the same cause as regression {item['merged_into']}",
    }[item["state"]]


def _regressions(before, after):
    known = _by_id(before["regressions"])
    for item in sorted(after["regressions"], key=lambda item: item["id"]):
        old = known.get(item["id"])
        if old is None or old["state"] != item["state"]:
            yield " ".join(_regression(item))


def _some(commits):
    """The commits by name; if there are many, their number and both ends."""
    if len(commits) > 2:
        return f"one of {len(commits)} commits, {brief(commits[0])} to {brief(commits[-1])},"
    return " or ".join(map(brief, commits))


def _untestable(item, old):
    """Sentences about commits that a search newly knows it cannot measure, by cause."""
    known = {commit["sha"] for commit in (old or {}).get("untestable", [])}
    by_cause = {}
    for commit in item.get("untestable", []):
        if commit["sha"] not in known:
            by_cause.setdefault(commit["untestable_cause"], []).append(commit)
    for cause, commits in by_cause.items():
        yield (f"    {_named([commit['sha'] for commit in commits])} cannot be measured "
               f"({cause.replace('_', ' ')}): {commits[0]['untestable'].split(';')[0]}")


def _bisections(before, after):
    known = _by_id(before["bisections"])
    for item in sorted(after["bisections"], key=lambda item: item["id"]):
        old = known.get(item["id"])
        yield from _untestable(item, old)
        if item["runs"] == (old["runs"] if old else 0):
            continue
        best = max(item["posterior"], key=lambda belief: belief["probability"], default=None)
        leads = (f"; {_some(best['commits'])} with probability {best['probability']:.2f}"
                 if best else "")
        untestable = item["untestable_commits"]
        untestable = f", {untestable} not testable" if untestable else ""
        yield (
            f"  search {item['id']} ({short(item['workload'])}, {item['metric']}): {item['runs']} "
            "runs on "
            f"{item['tested_commits']} of {item['commit_count']} commits{untestable}{leads}")


def sentences(before, after):
    for part in (_builds, _lookups, _nights, _jobs, _regressions, _bisections):
        yield from part(before, after)


def under_way(snapshot, runner_log):
    """Sentences for somebody who waits: what is being measured. `runner_log`: the last line of the
    runner's log."""
    if "compiling native workloads" in runner_log:
        return ["  … a build's C++ headers differ: its native workloads are being compiled"]
    leased = [job for job in snapshot["jobs"] if job["state"] == "leased"]
    return [f"  … a {job['kind']} session of {job['runs']} runs is being measured "
            f"({', '.join(map(short, job['workloads']))})" for job in leased] or [
                "  … no session is being measured just now"]


def night_of(snapshot, date):
    """The newest night that measures the nightly of `date`; None if there is none yet."""
    nights = [n for n in snapshot["nights"] if n["build"] and n["build"]["date"] == date]
    return max(nights, key=lambda night: night["id"], default=None)


def is_settled(snapshot, date):
    """Whether nothing is left to do about the nightly of `date`."""
    night = night_of(snapshot, date)
    return (night is not None and night["state"] == "done"
            and all(item["state"] in SETTLED for item in snapshot["regressions"])
            and all(item["state"] != "open" for item in snapshot["bisections"])
            and all(item["state"] != "pending" for item in snapshot["reports"]))


def _nightly(snapshot, version):
    return next((build for build in snapshot["builds"]
                 if build["kind"] == "nightly" and build["version"] == version), None)


def refusal(snapshot, version):
    """Why the nightly of `version` will never be measured, as a sentence; None if it may be."""
    build = _nightly(snapshot, version)
    if build is None or build["state"] not in ("unproved", "unusable"):
        return None
    return f"the nightly {version} is refused as {build['state']}: {build['reason']}"


def awaited(snapshot, nightly):
    """(what has to happen next to `nightly`, the seconds that it may take, the known obstacle).
    `nightly` must not be settled."""
    build, night = _nightly(snapshot, nightly["version"]), night_of(snapshot, nightly["date"])
    if night is None and (build is None or build["state"] == "found"):
        problem = build["reason"] if build else ""
        return f"the nightly {nightly['version']} to be found and proved", PROOF_SECONDS, problem
    if night is None or night["state"] == "waiting":
        return f"the night of {nightly['version']} to start", NIGHT_SECONDS, night[
            "reason"] if night else ""
    if night["state"] == "measuring":
        return f"night {night['id']} to be measured", MEASURING_SECONDS, ""
    if night["state"] == "judging":
        return f"the suspects of night {night['id']} to be compared again", MEASURING_SECONDS, ""
    # A blamed regression still needs its profile and its report.
    if any(item["state"] not in SETTLED | {"blamed"} for item in snapshot["regressions"]):
        return (f"the commits behind the regressions of night {night['id']} to be found",
                SEARCH_SECONDS, "")
    return f"the culprits of night {night['id']} to be profiled and reported", REPORT_SECONDS, ""
