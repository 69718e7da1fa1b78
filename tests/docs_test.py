"""Every command that README.md and docs/ print works as printed. Each fenced `sh` block runs here
with the real programs, those of one document in their order and in one folder that looks like a
checkout.

A comment right before a fence, which no reader sees, says what else a block is:
  <!-- not run: REASON -->     it cannot run in a test
  <!-- file: NAME -->          the text of a file that later blocks use, in any language
  <!-- run for: 3 s -->        it goes on until somebody ends it, and must be up after that time
  <!-- may exit with: 1 -->    besides 0
  <!-- needs: MODULE -->       of the tests' own Python, which is `python3` there
"""

import functools
import os
import pathlib
import re
import signal
import subprocess
import sys
import textwrap
from dataclasses import dataclass

import pytest
from loop_test import ALPHA, finish, first_night
from world import BIN, ROOT, World, step

DOCUMENTS = [
    "README.md", "CONTRIBUTING.md",
    *sorted(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md"))]
MARK = re.compile(r"<!-- (not run|file|run for|may exit with|needs): (.+?) -->")
OURS = re.compile(r"^(\$ )?(\S*/)?(nightjar|nightjard|nightjar-runner|deploy/\w+|tests/run)( |$)",
                  re.MULTILINE)
LONGEST_SECONDS = 400

# The real programs, told to hurry where the page leaves it to them, and a curl for which HTTP 404
# is a failure.
HURRIED = {
    "nightjar-runner": f"""\
        #!/bin/bash
        case ${{1-}} in
          measure) hurry=(--runs 1 --seconds 0.1) ;;
          profile) hurry=(--runs 1 --iterations 3) ;;
          *) hurry=() ;;
        esac
        for word; do
          for i in "${{!hurry[@]}}"; do
            if [[ ${{hurry[i]}} == "$word" ]]; then unset "hurry[i]" "hurry[i+1]"; fi
          done
        done
        exec {BIN.resolve()}/nightjar-runner "$@" "${{hurry[@]}}"
        """, "curl": """\
        #!/bin/sh
        exec /usr/bin/curl --fail-with-body "$@"
        """, }


@dataclass
class Block:
    document: str
    line: int
    language: str
    marks: dict
    text: str

    @property
    def place(self):
        return f"{self.document}:{self.line}"


def blocks_of(document, text):
    found, marks, inside = [], {}, None
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("```"):
            if inside is None:
                inside = Block(document, number, line[3:].strip(), marks, "")
            else:
                found.append(inside)
                inside, marks = None, {}
        elif inside is not None:
            inside.text += line + "\n"
        elif match := MARK.fullmatch(line.strip()):
            marks = {**marks, match[1]: match[2]}
        elif line.strip():
            marks = {}
    return found


BLOCKS = [
    block for document in DOCUMENTS for block in blocks_of(document, (ROOT / document).read_text())]
COMMANDS = [block for block in BLOCKS if block.language == "sh" and "file" not in block.marks]


@pytest.fixture(scope="module")
def service(tmp_path_factory, request):
    """A daemon that watched a day with one culprit, and what the documents' placeholders stand for
    there."""
    world = World(tmp_path_factory.mktemp("service"))
    request.addfinalizer(world.stop)
    first_night(world, step(ALPHA, 6, latency=1.3))
    world.repo.grow(12)
    world.publish_nightly("2026-08-20")
    finish(world)
    regression = next(one for one in world.items("regressions") if one["state"] == "reported")
    return {
        "url": world.url, "config": world.config, "folder": world.folder,
        "token": world.tokens["admin"], "commit": world.repo.commits[6],
        "regression": regression["id"], "series": world.items("series")[0]["id"],
        "builds": sorted(build["id"] for build in world.items("builds"))}


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """By document: a folder with all of a checkout, into which nothing of the document's is
    written."""
    made = {}

    def folder_of(document):
        if document not in made:
            folder = made[document] = tmp_path_factory.mktemp(
                document.replace("/", "-").replace(".", "-"))
            for entry in ROOT.iterdir():
                if not entry.name.startswith("build") and entry.name != ".git":
                    (folder / entry.name).symlink_to(entry)
            for part in ("build", "home", "hurried"):
                (folder / part).mkdir()
            (folder / "build/bin").symlink_to(BIN.resolve())
            (folder / "other").symlink_to(
                ROOT / ".cache/python")  # another Python with a PyTorch of its own
            for name, text in HURRIED.items():
                (folder / "hurried" / name).write_text(textwrap.dedent(text))
                (folder / "hurried" / name).chmod(0o755)
        return made[document]
    return folder_of


def put_files(folder, document, line):
    for block in BLOCKS:
        if block.document == document and block.line < line and "file" in block.marks:
            path = folder / block.marks["file"]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.text)
            path.chmod(0o755)


def with_places(text, service):
    """Ids and addresses in a page are examples; these are there."""
    there = service()
    for pattern, value in ((r"(http://)?localhost:8187",
                            there["url"]), (r"--config FILE", f"--config {there['config']}"),
                           (r"/backups/", f"{there['folder']}/"),
                           (r"good=\d+&bad=\d+",
                            f"good={there['builds'][0]}&bad={there['builds'][-1]}"),
                           (r"first=\d+&other=\d+", "first=1&other=1"),
                           (r"regressions/\d+", f"regressions/{there['regression']}"),
                           (r"series/\d+", f"series/{there['series']}")):
        text = re.sub(pattern, value, text)
    return text


@pytest.mark.parametrize("block", COMMANDS, ids=lambda block: block.place)
def test_a_printed_command_works(block, folders, request):
    if "not run" in block.marks:
        pytest.skip(f"{block.place} {block.marks['not run']}")
    if "needs" in block.marks:
        pytest.importorskip(block.marks["needs"])
    folder = folders(block.document)
    put_files(folder, block.document, block.line)
    environment = {**os.environ, "PATH": f"{folder}/hurried:{BIN.resolve()}:{os.environ['PATH']}",
                   "HOME": f"{folder}/home"}
    if "needs" in block.marks:
        environment["PATH"] = f"{pathlib.Path(sys.executable).parent}:{environment['PATH']}"
    text = block.text
    if re.search(r"localhost:8187|\$SERVICE|--config FILE", text):
        service = functools.cache(lambda: request.getfixturevalue("service"))
        text = with_places(text, service)
        environment |= {
            "SERVICE": service()["url"], "TOKEN": service()["token"], "COMMIT": service()["commit"]}
    status, output = run(text, folder, environment, block.marks.get("run for"))
    allowed = {0, *map(int, re.findall(r"\d+", block.marks.get("may exit with", "")))}
    assert status in allowed, f"{block.place}: exit status {status}\n{text}\n{output[-4000:]}"


def run(text, folder, environment, up_for=None):
    """(exit status, output); of what is to go on, 0 if it still did after `up_for`."""
    shell = subprocess.Popen(["bash", "-euo", "pipefail", "-c", text], cwd=folder, env=environment,
                             text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, errors="replace", start_new_session=True)
    try:
        output, _ = shell.communicate(
            timeout=float(up_for.split()[0]) if up_for else LONGEST_SECONDS)
        return (shell.returncode if not up_for else "ended by itself"), output
    except subprocess.TimeoutExpired:
        os.killpg(shell.pid, signal.SIGTERM if up_for else signal.SIGKILL)
        output, _ = shell.communicate(timeout=60)
        return (0 if up_for else "over the time limit"), output


def test_every_block_of_commands_is_labelled_sh():
    assert [block.place for block in BLOCKS if not block.language and OURS.search(block.text)] == []
    assert [block.place for block in COMMANDS if block.text.startswith("$ ")] == []


def test_marks_belong_to_the_fence_right_below():
    text = textwrap.dedent("""\
        <!-- not run: needs a GPU -->

        ```sh
        one
        ```
        <!-- file: b.sh -->
        Some words.
        ```sh
        two
        ```
        """)
    first, second = blocks_of("a.md", text)
    assert (first.line, first.language, first.marks,
            first.text) == (3, "sh", {"not run": "needs a GPU"}, "one\n")
    assert (second.marks, second.text) == ({}, "two\n")


def test_what_fails_in_the_middle_of_a_block_or_of_a_pipe_is_seen(tmp_path):
    assert run("false\ntrue\n", tmp_path, os.environ)[0] == 1
    assert run("false | true\n", tmp_path, os.environ)[0] == 1
    assert run("echo up; exec sleep 60\n", tmp_path, os.environ, "0.5 s") == (0, "up\n")
    assert run("true\n", tmp_path, os.environ, "5 s")[0] == "ended by itself"
