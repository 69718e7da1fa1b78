"""The day as a bare git repository: main by `git fast-import`, releases by `git commit-tree`."""

import os
import subprocess

import people


def git(repository, *arguments, **environment):
    result = subprocess.run(["git", "-C", repository, *arguments], capture_output=True, text=True,
                            env={**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null", **environment})
    if result.returncode:
        raise RuntimeError(f"git {arguments[0]} in {repository}: {result.stderr.strip()}")
    return result.stdout.strip()


def make(repository):
    os.makedirs(repository)
    git(repository, "init", "-q", "--bare", "-b", "main")


def _stream(commits):
    """The input of fast-import. The n-th commit has mark n."""
    for mark, commit in enumerate(commits, 1):
        who = f"{commit.author} <{people.address(commit.author)}> {commit.at} +0000"
        message = f"{commit.subject}\n\n{commit.body}\n".encode()
        yield f"commit refs/heads/main\nmark :{mark}\nauthor {who}\ncommitter {who}\n".encode()
        yield b"data %d\n%s\n" % (len(message), message)
        if mark > 1:
            yield b"from :%d\n" % (mark - 1)
        for path, content in commit.changes.items():
            if content is None:
                yield f"D {path}\n".encode()
            else:
                yield f"M 100644 inline {path}\ndata {len(content)}\n".encode() + content + b"\n"


def write_main(repository, commits):
    """Writes main from its root commit on. Returns the commits' hashes in order."""
    marks = os.path.join(repository, "marks")
    with subprocess.Popen([
            "git", "-C", repository, "-c", "core.compression=1", "fast-import", "--quiet",
            "--depth=0", f"--export-marks={marks}"], stdin=subprocess.PIPE) as importer:
        for chunk in _stream(commits):
            importer.stdin.write(chunk)
    if importer.returncode:
        raise RuntimeError(f"git fast-import into {repository} failed; is its disk full?")
    with open(marks) as lines:
        named = dict(line.split() for line in lines)
    os.remove(marks)
    return [named[f":{mark}"] for mark in range(1, len(commits) + 1)]


def release(repository, date, at, main_commit, previous):
    """Writes a nightly's commit: the tree of main's commit, on top of the last nightly. Returns its
    hash."""
    who = {f"GIT_{role}_{field}": value for role in ("AUTHOR", "COMMITTER") for field, value in
           (("NAME", "Release Bot"), ("EMAIL", "release-bot@example.org"), ("DATE", f"{at} +0000"))}
    parent = ["-p", previous] if previous else []
    return git(repository, "commit-tree", f"{main_commit}^{{tree}}", *parent,
               "-m", f"{date} nightly release ({main_commit})", **who)
