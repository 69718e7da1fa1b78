"""Files that are handed to the programs: whatever they hold, the answer is one clear line, and the
exit code is that of wrong use."""
import subprocess

import pytest

from world import BIN

DEEP = 50_000


def deep_list(before="", after=""):
    return before + "[" * DEEP + "]" * DEEP + after


FILES = {
    "dots.toml": "x" + ".a" * DEEP + " = 1\n",
    "header.toml": "[x" + ".a" * DEEP + "]\n",
    "lists.toml": "x = " + deep_list() + "\n",
    "tables.toml": "x = " + "{a=" * DEEP + "1" + "}" * DEEP + "\n",
    "lists.json": deep_list(),
    "objects.json": '{"a":' * DEEP + "1" + "}" * DEEP,
    "items.json": deep_list('{"items": ', "}"),
    "metrics.json": deep_list('{"metrics": {"a": ', "}}"),
}
TOML = [name for name in FILES if name.endswith("toml")]
JSON = [name for name in FILES if name.endswith("json")]


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    for name, text in FILES.items():
        (folder / name).write_text(text)
        (folder / f"of_{name}").mkdir()
        (folder / f"of_{name}" / "workloads.json").write_text(text)
    (folder / "folder").mkdir()
    return folder


def refused(place, program, *words):
    """Its one line on standard error."""
    done = subprocess.run([BIN / program, *words], cwd=place, capture_output=True, text=True,
                          timeout=60)
    assert done.returncode == 2, (done.returncode, done.stderr[:500])
    assert done.stdout == ""
    lines = done.stderr.splitlines()
    assert len(lines) == 1 and len(lines[0]) < 500, done.stderr[:2000]
    return lines[0]


@pytest.mark.parametrize("name", [*TOML, "folder"])
def test_a_toml_file_without_bounds(place, name):
    for program, *words in (("nightjard", "--check-config", "--config", name),
                            ("nightjar-runner", "list", "--commands", name)):
        assert name in refused(place, program, *words)


@pytest.mark.parametrize("name", [*JSON, "folder"])
@pytest.mark.parametrize("command", [
    ("nightjar", "verify", None), ("nightjar", "detect", None), ("nightjar", "summary", None),
    ("nightjar", "repeat", None), ("nightjar", "profile-diff", None, None),
    ("nightjar", "compare", "--control", None, "--treatment", None),
    ("nightjar-runner", "convert", None)], ids=lambda command: command[1])
def test_a_json_file_without_bounds(place, command, name):
    line = refused(place, *[name if word is None else word for word in command])
    assert name in line


@pytest.mark.parametrize("name", JSON)
def test_a_list_of_workloads_without_bounds(place, name):
    folder = f"of_{name}"
    assert "workloads.json" in refused(place, "nightjar-runner", "list", "--workloads", folder)


@pytest.mark.parametrize("name", JSON)
def test_results_without_bounds_are_not_imported(place, name):
    done = subprocess.run([BIN / "nightjar", "import", "--dry-run", "torchbench", name], cwd=place,
                          capture_output=True, text=True, timeout=60)
    assert done.returncode == 2, done.stderr[:500]
    assert all(len(line) < 500 for line in done.stderr.splitlines())


@pytest.mark.first
def test_a_folder_in_place_of_a_secret(place):
    config = place / "nightjar.toml"
    config.write_text('[source]\nindex = "http://127.0.0.1:1"\nvariant = "cpu"\n'
                      '[repository]\nurl = "https://github.com/pytorch/pytorch"\n'
                      '[webhook]\nsecret_file = "folder"\n')
    line = refused(place, "nightjard", "--config", config)
    assert "webhook.secret_file" in line and "must name a file, not a folder" in line
    assert "folder" in refused(place, "nightjar-runner", "--service", "http://127.0.0.1:1",
                               "--token-file", "folder", "--cache", "cache")


def test_a_file_without_end(place):
    done = subprocess.run([BIN / "nightjar", "verify", "/dev/zero"], capture_output=True, text=True,
                          timeout=60)
    assert (done.returncode, done.stdout) == (2, "")
    assert "/dev/zero: it has more than 1 GiB" in done.stderr
