"""The commits of a made history, as a real repository."""

import subprocess


def make(folder, commits, address):
    """Writes them by git fast-import and tells each its hash."""
    subprocess.run(["git", "init", "-q", "--bare", "-b", "main", folder], check=True)
    stream = []
    for number, commit in enumerate(commits, 1):
        who = f"{commit.author} <{address(commit.author)}> {int(commit.at.timestamp())} +0000"
        body = f"# {number}\n"
        stream.append(f"commit refs/heads/main\nmark :{number}\nauthor {who}\ncommitter {who}\n"
                      f"data {len(commit.subject)}\n{commit.subject}\n"
                      + (f"from :{number - 1}\n" if number > 1 else "")
                      + f"M 644 inline torch/module{number % 97}.py\n"
                      f"data {len(body)}\n{body}\n")
    marks = f"{folder}/marks"
    subprocess.run(["git", "-C", folder, "fast-import", "--quiet", f"--export-marks={marks}"],
                   input="".join(stream).encode(), check=True)
    subprocess.run(["git", "-C", folder, "branch", "nightly", "main"], check=True)
    with open(marks) as file:
        by_mark = dict(line.split() for line in file)
    for number, commit in enumerate(commits, 1):
        commit.sha = by_mark[f":{number}"]


def fetch(clone):
    """What the service would fetch before it measures a build."""
    subprocess.run(["git", "-C", clone, "fetch", "-q", "origin"], check=True)
