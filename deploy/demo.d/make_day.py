"""Makes a day of PyTorch out of its wheel: a git repository with the day's commits, two nightly
wheels from its ends, and truth.json, which says what was planted and is for the demo's last
comparison only.

    make_day.py --wheel WHEEL --out DIR [--seed N] [--quiet-day] [--date YYYY-MM-DD]

DIR gets pytorch.git (its branches are at the first nightly), wheels/, day.json and truth.json.
`publish` moves the branches to a nightly and lists its wheel in DIR/published, which the index
server reads."""

import argparse
import datetime
import json
import os
import random
import sys

import commits
import history
import wheel


def _before(files):
    """The commits before the day: one with all files, and one more so that main has a history."""
    root = commits.Commit("Import", "Everything so far.", files, "Release Bot")
    notes = {"docs/source/notes.rst": b"Notes\n=====\n"}
    return [
        root,
        commits.Commit("[docs] Begin the notes (#180912)", "Short so far.", notes, "Ada Okafor")]


def make_day(base, out, seed, quiet, date):
    """Returns day.json's content; `date` is that of the second nightly."""
    release, _ = wheel.parts(base)
    variant = wheel.variant(base)
    python = wheel.python_files(base)
    dates = [date - datetime.timedelta(days=1), date]
    cuts = [commits.cut(d) for d in dates]
    past = _before({**python, **commits.support_files()})
    for number, commit in enumerate(past):
        commit.at = cuts[0] - 86400 * (len(past) - number) + 3600
    files = dict(past[0].changes) | past[1].changes
    day, after = commits.draw_day(random.Random(seed), files, quiet, *cuts)

    repository = os.path.join(out, "pytorch.git")
    history.make(repository)
    shas = history.write_main(repository, past + day)
    ends = [shas[len(past) - 1], shas[-1]]
    # The nightly before the first has no wheel any more, as it happens.
    nightly = history.release(repository, dates[0] - datetime.timedelta(days=1), cuts[0] - 86400,
                              shas[0], None)
    changed = [{}, {path: after.get(path) for path in python | after
                    if path.startswith(wheel.FOLDERS) and after.get(path) != python.get(path)}]
    os.makedirs(os.path.join(out, "wheels"))
    nightlies = []
    for d, at, end, changes in zip(dates, cuts, ends, changed):
        nightly = history.release(repository, d, at, end, nightly)
        version = f"{release}.dev{d:%Y%m%d}+{variant}"
        path = wheel.write_nightly(base, os.path.join(out, "wheels"), version, nightly, changes)
        nightlies.append({"date": str(d), "version": version, "main": end, "nightly": nightly,
                          "wheel": os.path.basename(path)})
    planted = [{"commit": sha, "metric": c.metric, "subject": c.subject}
               for sha, c in zip(shas[len(past):], day) if c.metric]
    content = {
        "commits": len(day), "repository": repository, "variant": variant, "nightlies": nightlies}
    for name, value in (("day.json", content), ("truth.json",
                                                {"commits": len(day), "planted": planted})):
        with open(os.path.join(out, name), "w") as file:
            json.dump(value, file, indent=2)
    for nightly in nightlies:
        # Keeps every commit alive; a clone takes branches only.
        history.git(repository, "update-ref", f"refs/made/{nightly['date']}", nightly["nightly"])
        history.git(repository, "update-ref", f"refs/made/{nightly['date']}-main", nightly["main"])
    return content


def publish(out, content, count):
    """Publishes the first `count` nightlies: the branches first, then the wheels' lines on the
    index."""
    nightly = content["nightlies"][count - 1]
    history.git(content["repository"], "update-ref", "refs/heads/main", nightly["main"])
    history.git(content["repository"], "update-ref", "refs/heads/nightly", nightly["nightly"])
    listed = "".join(n["wheel"] + "\n" for n in content["nightlies"][:count])
    temporary = os.path.join(out, "published.new")
    with open(temporary, "w") as file:
        file.write(listed)
    os.replace(temporary, os.path.join(out, "published"))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--wheel", required=True)
    parser.add_argument("--out", required=True, help="a folder; made, must be new or empty")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--quiet-day", action="store_true", help="plant nothing")
    parser.add_argument("--date", type=datetime.date.fromisoformat,
                        default=datetime.datetime.now(datetime.timezone.utc).date(),
                        help="of the second nightly; today by default")
    options = parser.parse_args()
    try:
        content = make_day(options.wheel, options.out, options.seed, options.quiet_day,
                           options.date)
        publish(options.out, content, 2)
    except (OSError, ValueError, RuntimeError) as error:
        print(f"make_day: {error}", file=sys.stderr)
        return 3
    print(json.dumps(content))
    return 0


if __name__ == "__main__":
    sys.exit(main())
