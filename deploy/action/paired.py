"""Measures two commits in turn, each in a work tree of its own, so that what changes on the machine
meanwhile meets both."""

import json
import os
import subprocess

LOST_IN_A_ROW = 3


class Broken(Exception):
    pass


def git(repository, *arguments):
    done = subprocess.run(["git", "-C", repository, *arguments], capture_output=True, text=True,
                          check=False)
    if done.returncode != 0:
        raise Broken(f"git {arguments[0]} failed: {done.stderr.strip()}. Is the whole history "
                     "checked out (fetch-depth: 0)?")
    return done.stdout.strip()


def _run(command, tree, commit):
    return subprocess.run(["sh", "-c", command], cwd=tree, stdout=subprocess.PIPE, text=True,
                          env={**os.environ, "NIGHTJAR_COMMIT": commit}, check=False)


def _number(command, tree, commit):
    for _ in range(LOST_IN_A_ROW):
        done = _run(command, tree, commit)
        words = done.stdout.strip().splitlines()[-1:]
        try:
            if done.returncode == 0:
                return float(words[0])
        except (IndexError, ValueError):
            pass
    raise Broken(f"the measure gave no number at {commit[:12]} {LOST_IN_A_ROW} times in a row: "
                 f"exit code {done.returncode}, last line {words}")


def measure(folder, repository, commits, build, command, runs):
    """Two lists of files in `folder`, one for each commit: a run each, as `nightjar compare` reads
    them. The order turns around each time, so that neither is always first."""
    trees = []
    try:
        for side, commit in enumerate(commits):
            tree = folder / f"tree{side}"
            git(repository, "worktree", "add", "--detach", "--quiet", str(tree), commit)
            trees.append(tree)
            if build and _run(build, tree, commit).returncode != 0:
                raise Broken(f"the build failed at {commit[:12]}")
        files = ([], [])
        for run in range(runs):
            for side in (0, 1) if run % 2 == 0 else (1, 0):
                file = folder / f"side{side}-{run}.json"
                value = _number(command, trees[side], commits[side])
                file.write_text(json.dumps({"name": "measure", "metrics": {"measure": value}}))
                files[side].append(str(file))
        return files
    finally:
        for tree in trees:
            subprocess.run(["git", "-C", repository, "worktree", "remove", "--force", str(tree)],
                           check=False)
