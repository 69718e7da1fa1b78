"""Makes a day of PyTorch out of its wheel: a git repository with the day's commits, two nightly
wheels from its ends, and truth.json, which says what was planted and is for the demo's last
comparison only. CI's wheels of commits between are made in memory, for the demo.

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

import ci_day
import commits
import culprits
import history
import native
import wheel


def _before(files):
    """The commits before the day: one with all files, and one more so that main has a history."""
    root = commits.Commit("Import", "Everything so far.", files, "Release Bot")
    notes = {"docs/source/notes.rst": b"Notes\n=====\n"}
    return [
        root,
        commits.Commit("[docs] Begin the notes (#180912)", "Short so far.", notes, "Ada Okafor")]


class Drawn:
    """A day as it is drawn from a seed. Nothing is written yet."""

    def __init__(self, base, seed, quiet, date):
        self.stock = wheel.source_files(base)
        self.dates = [date - datetime.timedelta(days=1), date]
        self.cuts = [commits.cut(d) for d in self.dates]
        files = {**self.stock, **native.add_hooks(self.stock), **commits.support_files()}
        self.past = _before(files)
        for number, commit in enumerate(self.past):
            commit.at = self.cuts[0] - 86400 * (len(self.past) - number) + 3600
        before = files | self.past[1].changes
        kinds = [] if quiet else culprits.draw(random.Random(f"kinds {seed}"))
        self.day = commits.draw_day(random.Random(seed), before, kinds, *self.cuts)
        self.trees = commits.trees(before, self.day)  # of the first nightly and of each commit
        self.groups = ci_day.groups_of(self.trees)
        self.wheels = ci_day.draw(seed, self.day, self.groups)  # positions among the trees

    def plan(self):
        """Lines that say what was drawn, planted commits and all."""
        yield "planted: " + (", ".join(c.kind.name for c in self.day if c.kind) or "nothing")
        native_count = sum(commit.native for commit in self.day)
        yield (f"{len(self.day)} commits, {native_count} of them native; "
               f"{len(set(self.groups))} native groups, CI has wheels of {len(self.wheels)}")
        yield (f"Python's workloads take {native.CI_SLOWER} % longer with a wheel of CI, at every "
               "commit: it is compiled with other flags")
        numbers = {group: number for number, group in enumerate(dict.fromkeys(self.groups))}
        for position, commit in enumerate(self.day, 1):
            marks = [commit.kind.name if commit.kind else "", "CI's wheel" * (
                position in self.wheels)]
            kind = "native" if commit.native else "Python" if any(
                map(wheel.installed, commit.changes)) else "none"
            yield (f"{position:3d} {kind:<7}group {numbers[self.groups[position]]:<3d}"
                   f"{commit.subject}  {'; '.join(filter(None, marks))}".rstrip())


def make_day(base, out, seed, quiet, date, compiler=None):
    """Returns day.json's content, and the archives of CI's wheels by commit. `date` is that of the
    second nightly. `compiler` makes the libraries of each
    tree."""
    release, tags = wheel.parts(base)
    variant = wheel.variant(base)
    drawn = Drawn(base, seed, quiet, date)
    compiler = compiler or native.Compiler(os.path.join(out, "objects"))

    def members(tree, library):
        return wheel.changed_members(drawn.stock, tree, library)
    repository = os.path.join(out, "pytorch.git")
    history.make(repository)
    shas = history.write_main(repository, drawn.past + drawn.day)
    on_main = shas[len(drawn.past) - 1:]  # as the trees
    # The nightly before the first has no wheel any more, as it happens.
    nightly = history.release(repository, drawn.dates[0] - datetime.timedelta(days=1),
                              drawn.cuts[0] - 86400, shas[0], None)
    os.makedirs(os.path.join(out, "wheels"))
    nightlies = []
    for d, at, position in zip(drawn.dates, drawn.cuts, (0, -1)):
        nightly = history.release(repository, d, at, on_main[position], nightly)
        version = f"{release}.dev{d:%Y%m%d}+{variant}"
        tree = drawn.trees[position]
        name, made = wheel.make(base, version, nightly, members(tree, compiler.library(tree)))
        made.write(os.path.join(out, "wheels", name))
        nightlies.append({"date": str(d), "version": version, "main": on_main[position],
                          "nightly": nightly, "wheel": name})
    archives = {}
    for position in drawn.wheels:
        commit, tree = on_main[position], drawn.trees[position]
        archives[commit] = ci_day.archive(base, release, commit,
                                          members(tree, compiler.ci_library(tree)))
    planted = [{"commit": sha, "metric": c.kind.metric, "kind": c.kind.name, "subject": c.subject}
               for sha, c in zip(on_main[1:], drawn.day) if c.kind]
    content = {
        "commits": len(drawn.day), "native": sum(commit.native for commit in drawn.day),
        "groups": len(set(drawn.groups)), "ci_wheels": len(drawn.wheels), "repository": repository,
        "variant": variant, "python_tag": tags.split("-")[0],
        "environment": ci_day.environment(tags), "nightlies": nightlies, "shas": on_main[1:]}
    for name, value in (("day.json", content), ("truth.json",
                                                {"commits": len(drawn.day), "planted": planted})):
        with open(os.path.join(out, name), "w") as file:
            json.dump(value, file, indent=2)
    for nightly in nightlies:
        # Keeps every commit alive; a clone takes branches only.
        history.git(repository, "update-ref", f"refs/made/{nightly['date']}", nightly["nightly"])
        history.git(repository, "update-ref", f"refs/made/{nightly['date']}-main", nightly["main"])
    return content, archives


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
                        help="date of the second nightly; today by default")
    options = parser.parse_args()
    try:
        content, _ = make_day(options.wheel, options.out, options.seed, options.quiet_day,
                           options.date)
        publish(options.out, content, 2)
    except (OSError, ValueError, RuntimeError, native.CannotCompile) as error:
        print(f"make_day: {error}", file=sys.stderr)
        return 3
    print(json.dumps(content))
    return 0


if __name__ == "__main__":
    sys.exit(main())
