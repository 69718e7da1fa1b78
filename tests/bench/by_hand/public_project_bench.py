"""A public C++ project, with its own history, bisected from source to a commit in C++.

Clones annoy, plants one commit in the middle of its last 33, and puts the later ones on top of it,
as a rebase does. Then it does two things, with the files of docs/watching-another-project.md:

- It times builds. The first commit is built with an empty folder and cache. Then commits that
  change native files are built in three ways, one after the other, so that all ways meet the same
  neighbours on the machine: from scratch; from a clean folder with the compiler cache; and as a
  builder does, in the folder and with the cache of the build before.
- It lets the service find the planted commit: two nightlies, a runner that measures and builds. Its
  compiler cache has what the first commit's build left.

Prints both. Exit status 1 if anything else than the planted commit is blamed. --repository takes a
clone that is there."""

import argparse
import contextlib
import json
import os
import pathlib
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "deploy/demo.d"))
import history  # noqa: E402
import summary  # noqa: E402
from demo import Progress, Stopwatch, run_day  # noqa: E402
from source_day import SourceDay, SourceStage  # noqa: E402
from stage import BIN, PYTHON, Broken  # noqa: E402

PAGE = ROOT / "docs/watching-another-project.md"
PUBLIC = "https://github.com/spotify/annoy"
FIRST = "be83fba"  # 2020-12-03
PARENT = "1bdf0d5"  # of the planted commit
LAST = "379f744"  # 2025-10-29
NATIVE = ("src/", "setup.py", "setup.cfg", "CMakeLists.txt", "debian/")
SUBJECT, FILE = "Sort the neighbours with std::sort", "src/annoylib.h"
OLD = "    std::partial_sort(nns_dist.begin(), nns_dist.begin() + p, nns_dist.end());\n"
NEW = "    std::sort(nns_dist.begin(), nns_dist.end());\n"
ANEW, CACHE, WARM = "from scratch", "compiler cache alone", "warm folder and compiler cache"
WAYS = {ANEW: ([], "none"), CACHE: ([], "auto"), WARM: (["build"], "auto")}  # keep, cache


def run_git(repository, *arguments):
    """Its output, whole."""
    return subprocess.run(["git", "-C", repository, *arguments], check=True, capture_output=True,
                          text=True).stdout


class PublicDay(SourceDay):
    """The commits from FIRST to LAST, one of them planted. The clone's main is the branch with
    it."""

    package, workloads = "annoy", "annoy/**"

    def __init__(self, public):
        super().__init__(argparse.Namespace(seed=0))
        self.public = public

    recipe = property(lambda self: self.folder / "annoy/recipe.toml")
    commands = property(lambda self: self.folder / "annoy/workloads.toml")

    @property
    def ways(self):
        return self.folder / "ways"

    @property
    def cold_cache(self):
        """The compiler cache after the first build."""
        return self.folder / "cold-cache"

    def make(self, folder, say):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir()
        self.repository = str(self.folder / "repository.git")
        for name, text in re.findall(r"<!-- file: (\S+) -->\n```\w+\n(.*?)```\n", PAGE.read_text(),
                                     flags=re.DOTALL):
            (self.folder / name).parent.mkdir(exist_ok=True)
            (self.folder / name).write_text(text)
        say(f"cloning {self.public}")
        subprocess.run(["git", "clone", "-q", "--bare", self.public, self.repository], check=True)
        before, after = self._first_parents(FIRST, PARENT), self._first_parents(PARENT, LAST)
        self.commits = [run_git(self.repository, "rev-parse", FIRST).strip(), *before]
        for commit in [None, *after]:
            self.commits.append(self._on_top(self.commits[-1], commit))
        planted = self.commits[len(before) + 1]
        self.planted = [{"commit": planted, "metric": "latency", "subject": SUBJECT}]
        history.git(self.repository, "symbolic-ref", "HEAD", "refs/heads/main")
        self._set_main(self.commits[-1])

    def native(self):
        """The first commit and those that change native files."""
        return [self.commits[0], *(
            commit for commit in self.commits[1:]
            if any(path.startswith(NATIVE) for path in run_git(
                self.repository, "diff", "--name-only", f"{commit}^", commit).splitlines()))]

    def build_ends(self, say):
        for commit in (self.commits[0], self.commits[-1]):
            say(f"compiling the nightly of {commit[:12]}")
            nightly = self._build(commit)
            day = re.search(r"\.dev(\d{4})(\d\d)(\d\d)", nightly["version"])
            self.nightlies.append({"date": "-".join(day.groups()), **nightly})
        self._set_main(self.commits[0])

    def _first_parents(self, good, bad):
        return run_git(self.repository, "rev-list", "--first-parent", "--reverse",
                       f"{good}..{bad}").split()

    def _on_top(self, parent, commit):
        """`commit` with the planted edit and `parent` as its only one; without a commit, the
        planted one."""
        text = run_git(self.repository, "show", f"{commit or parent}:{FILE}")
        if text.count(OLD) != 1:
            raise Broken(f"{FILE} of {commit or parent} has no place for '{SUBJECT}'")
        edited = self.folder / "edited"
        edited.write_text(text.replace(OLD, NEW))
        blob = history.git(self.repository, "hash-object", "-w", str(edited))
        index = {"GIT_INDEX_FILE": str(self.folder / "index")}
        history.git(self.repository, "read-tree", commit or parent, **index)
        history.git(self.repository, "update-index", "--cacheinfo", f"100644,{blob},{FILE}",
                    **index)
        tree = history.git(self.repository, "write-tree", **index)
        names = [f"GIT_{who}_{what}" for who in ("AUTHOR", "COMMITTER")
                 for what in ("NAME", "EMAIL", "DATE")]
        facts = run_git(self.repository, "log", "-1", "--date=raw",
                        "--format=%an%n%ae%n%ad%n%cn%n%ce%n%cd", commit or parent).splitlines()
        message = commit and run_git(self.repository, "log", "-1", "--format=%B", commit)
        if not commit:  # nobody of the project made it
            facts[0:2] = facts[3:5] = "Planted", "planted@example.org"
        return history.git(self.repository, "commit-tree", tree, "-p", parent, "-m",
                           message or SUBJECT, **dict(zip(names, facts)))


def recipe_of(day, way, folder):
    """The day's recipe, but for what stays between two builds."""
    keep, cache = WAYS[way]
    text, found = re.subn(r"^keep = .*$", f"keep = {json.dumps(keep)}", day.recipe.read_text(),
                          flags=re.MULTILINE)
    if found != 1:
        raise Broken(f"{day.recipe} has no key keep")
    path = folder / "recipe.toml"
    path.write_text(text + f'\n[cache]\nprogram = "{cache}"\n')
    return path


def build(day, commit, way, say):
    """CPU seconds, seconds and compiled units of one build. The units are unknown without a
    cache."""
    folder = day.ways / way.replace(" ", "-")
    folder.mkdir(parents=True, exist_ok=True)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([
        BIN / "nightjar-runner", "build", commit, "--recipe", recipe_of(day, way, folder), "--repo",
        day.repository, "--python", PYTHON, "--work", folder / "work", "--out", folder / "out",
        "--json"], capture_output=True, text=True)
    if done.returncode:
        raise Broken(f"{way}, {commit[:12]}: {(done.stdout or done.stderr).strip()}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    made = json.loads(done.stdout)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    units = made["cache"]["cxx"]
    compiled = units["misses"] if WAYS[way][1] != "none" else None
    say(f"{commit[:12]} {way}: {cpu:.0f} s of CPU, {made['seconds']:.0f} s, "
        f"{'all' if compiled is None else compiled} units compiled")
    return cpu, made["seconds"], compiled


def time_builds(day, count, say):
    """What build() gave: the first of all, and a list for each way."""
    first, *native = day.native()
    cold = build(day, first, WARM, say)
    shutil.copytree(day.ways / WARM.replace(" ", "-") / "work/cache", day.cold_cache)
    shutil.copytree(day.cold_cache, day.ways / CACHE.replace(" ", "-") / "work/cache")
    made = {way: [] for way in WAYS}
    for commit in native[::max(1, len(native) // count)][:count]:
        for way in WAYS:
            made[way].append(build(day, commit, way, say))
    return cold, made


def spread(values):
    known = [value for value in values if value is not None]
    return (f"{statistics.median(known):.0f} ({min(known):.0f} to {max(known):.0f})" if known
            else "all")


def table_of(cold, made):
    lines = ["| way | builds | CPU seconds | seconds | units compiled |",
             "|---|---:|---:|---:|---:|"]
    for way, builds in {"the first, with nothing": [cold], **made}.items():
        cells = " | ".join(spread(column) for column in zip(*builds))
        lines.append(f"| {way} | {len(builds)} | {cells} |")
    return "\n".join(lines)


def search(day, folder, say):
    """Lets the service find the commit. Returns whether it did, and says it in sentences."""
    watch = Stopwatch()
    if day.cold_cache.exists():
        shutil.copytree(day.cold_cache, folder / "builder/cache")
    day.build_ends(say.say)
    stage = SourceStage(folder, day)
    day.open(stage)
    stage.start_service()
    try:
        stage.start_runner()
        end = run_day(stage, day, say, watch)
        made = [stage.service.get(f"/api/v1/jobs/{job['id']}")["source_build"]["result"]
                for job in end["jobs"] if job["kind"] == "build" and job["state"] == "done"]
    finally:
        stage.stop()
    result = summary.summarise(day.truth(), end, watch.rounded())
    print("\n" + summary.table(day.truth(), result))
    print(f"\n{len(day.commits) - 1} commits, {len(day.native()) - 1} of them native; "
          f"{len(made)} built by the builder in {spread([one['seconds'] for one in made])} s each, "
          f"{sum(one['seconds'] for one in made):.0f} s together; seconds: {result['seconds']}")
    return summary.is_right(result)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repository", default=PUBLIC, help=f"a clone of {PUBLIC}")
    parser.add_argument("--builds", type=int, default=6, help="commits to build in each way (6)")
    parser.add_argument("--folder", help="works in this new folder and keeps it")
    options = parser.parse_args()
    say = Progress()
    with contextlib.ExitStack() as stack:
        folder = pathlib.Path(options.folder or stack.enter_context(
            tempfile.TemporaryDirectory(prefix="nightjar-public-")))
        folder.mkdir(parents=True, exist_ok=True)
        day = PublicDay(options.repository)
        day.make(folder / "day", say.say)
        if options.builds:
            load = os.getloadavg()[0]
            cold, made = time_builds(day, options.builds, say.say)
            print(f"load average {load:.1f} before, {os.getloadavg()[0]:.1f} after; "
                  f"{os.cpu_count()} cores\n\n{table_of(cold, made)}\n", flush=True)
        return 0 if search(day, folder, say) else 1


if __name__ == "__main__":
    sys.exit(main())
