"""Commands of a person's own as workloads: described in TOML, started like any other."""

import json
import os
import pathlib
import re
import subprocess
import textwrap

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(os.environ.get("NIGHTJAR_BIN", ROOT / "build" / "bin"))
NAME = "mine/count/eval/cpu/fp32/b1/eager"

SHELL = """#!/bin/sh
read request
echo '{"event": "ready"}' >&3
for i in 1 2 3 4 5 6 7 8 9 10; do
  echo '{"event": "sample", "latency": 0.25, "cpu": 0.25, "wait": 0}' >&3
done
echo "{\\"event\\": \\"result\\", \\"warmup_iterations\\": 1, \\"checksum\\": ${#request}}" >&3
"""


def runner(*arguments):
    return subprocess.run([BIN / "nightjar-runner", *map(str, arguments)], capture_output=True,
                          text=True, timeout=300)


def described(tmp_path, *entries):
    file = tmp_path / "mine.toml"
    file.write_text("".join("[[workload]]\n" + textwrap.dedent(entry) for entry in entries))
    return file


def program(tmp_path, name, text):
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def measured(file, *more):
    done = runner("measure", "mine/**", "--commands", file, "--runs", 2, "--seconds", 0.1, "--json",
                  *more)
    return done.returncode, {
        item["workload"].split("/")[1]: item
        for item in json.loads(done.stdout)["items"]}


def test_each_ends_as_it_does_and_the_others_go_on(tmp_path):
    program(tmp_path, "count.sh", SHELL)
    program(tmp_path, "inner/here.sh",
            SHELL.replace("read request", "read request; test -e here.sh || exit 1"))
    program(
        tmp_path, "elsewhere.sh",
        SHELL.replace(
            '"ready"', '"ready", "torch": {"version": "1", "git_version": "",'
            ' "path": "/usr/lib/torch"}'))
    program(tmp_path, "garbage.sh", "#!/bin/sh\necho all is well >&3\n")
    program(tmp_path, "hangs.sh", "#!/bin/sh\nexec sleep 60\n")
    program(tmp_path, "crashes.sh", "#!/bin/sh\nkill -SEGV $$\n")
    program(
        tmp_path, "says.py",
        textwrap.dedent("""
        import json, sys, torch
        torch.ones(3).sum()
        def say(**event): print(json.dumps(event), file=answers)
        answers = open(3, "w")
        say(event="ready", torch={"version": torch.__version__, "path": torch.__path__[0],
                                  "git_version": torch.version.git_version})
        say(event="sample", latency=0.5, cpu=0.5, wait=0)
        say(event="result", warmup_iterations=0, checksum=len(sys.argv))
        """))

    def entry(model, more):
        return f'name = "mine/{model}/eval/cpu/fp32/b1/eager"\n{more}\n'

    status, items = measured(
        described(tmp_path, entry("count", 'command = ["count.sh"]\nversion = 7\ntorch = false'),
                  entry("here", 'command = ["./inner/here.sh"]\nfolder = "inner"\ntorch = false'),
                  entry("proves", 'command = ["{python}", "says.py", "a"]'),
                  entry("silent", 'command = ["count.sh"]'),
                  entry("elsewhere", 'command = ["elsewhere.sh"]'),
                  entry("garbage", 'command = ["garbage.sh"]\ntorch = false'),
                  entry("hangs", 'command = ["hangs.sh"]\ntimeout = 0.5'),
                  entry("crashes", 'command = ["crashes.sh"]'),
                  entry("missing", 'command = ["no-such-program"]')))
    assert status == 1
    assert items["count"]["version"] == 7
    assert items["count"]["metrics"]["latency"]["runs"] == [[0.25] * 10] * 2
    assert items["count"]["output"]["checksum"] > 100  # the request's length
    assert {name: item["status"]
            for name, item in items.items()} == {
                "count": "measured", "here": "measured", "proves": "measured", "silent": "failed",
                "elsewhere": "failed", "garbage": "failed", "hangs": "failed", "crashes": "failed",
                "missing": "unavailable"}
    for name, words in {"silent": "does not say which torch", "elsewhere": "/usr/lib/torch",
                        "garbage": "all is well", "hangs": "timed_out", "crashes": "crashed",
                        "missing": "no-such-program"}.items():
        assert words in items[name]["reason"]


def test_json_and_table_tell_a_time_out_as_the_page_says(tmp_path):
    program(tmp_path, "hangs.sh", "#!/bin/sh\nexec sleep 60\n")
    file = described(tmp_path,
                     f'name = "{NAME}"\ncommand = ["hangs.sh"]\ntorch = false\ntimeout = 0.5\n')
    done = runner("measure", "mine/**", "--commands", file, "--runs", 1, "--json")
    [item] = json.loads(done.stdout)["items"]
    assert (item["status"], item["reason"]) == ("failed", "timed_out: timed out after 0.5 s")
    (tmp_path / "one.json").write_text(done.stdout)
    assert re.search(f"^{NAME} +timed out$", runner("convert", tmp_path / "one.json").stdout, re.M)
    assert ",timeout," in runner("convert", tmp_path / "one.json", "--format",
                                 "accuracy-csv").stdout
    page = (ROOT / "docs/formats.md").read_text()
    assert f'`{item["reason"]}`' in page.replace("\n", " ")


def test_list_takes_names_and_globs_and_prints_json():
    asked = ["python/dlrm/**", "native/resnet18/eval/cpu/**"]
    names = runner("list", *asked).stdout.split()
    assert names and all(re.match("python/dlrm/|native/resnet18/eval/cpu/", name) for name in names)
    assert set(names) < set(runner("list").stdout.split())
    items = json.loads(runner("list", *asked, "--json").stdout)["items"]
    assert [item["workload"] for item in items] == names
    for item in items:
        assert item["version"] >= 1 and item["kind"] == item["workload"].split("/")[0]
    none = runner("list", "python/no_such_model/**")
    assert (none.returncode, len(none.stderr.splitlines())) == (2, 1)


@pytest.mark.parametrize(
    "command", ["", "list", "measure", "convert", "profile", "control", "doctor", "prepare-native"])
def test_each_option_has_a_text_and_a_command_an_example(command):
    text = runner(*command.split(), "--help").stdout
    options = [line for line in text.splitlines() if re.match(" +(-|file|workload)", line)]
    assert options
    lines = text.splitlines()
    for option in options:  # a long one has its text on the next line
        after = lines[lines.index(option) + 1:][:1]
        told = re.search(r"\S {2,}\S", option.strip()) or after and re.match(" {20,}", after[0])
        assert told, option
    if command in ("list", "measure", "convert", "profile", "doctor"):
        assert "\n  nightjar-runner " + command in text


@pytest.mark.parametrize("arguments", [
    ("--service", "http://localhost:1", "--token-file", "absent"),
    ("--service", "http://localhost:1", "--token-file", "token", "--scripted", "absent"),
    ("convert", "absent"), ("list", "--commands", "absent"), ("list", "--workloads", "absent"),
    ("list", "--torchbench", "absent"), ("list", "--suite", "absent"),
    ("measure", "native/resnet18/eval/cpu/fp32/b4/eager", "--libtorch", "absent"),
    ("measure", "native/resnet18/eval/cpu/fp32/b4/eager", "--python", "absent"),
])
def test_a_named_file_that_is_missing_is_wrong_use(tmp_path, arguments):
    (tmp_path / "token").write_text("secret")
    done = subprocess.run(
        [BIN.resolve() / "nightjar-runner", "--cache", tmp_path / "cache", *arguments],
        cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert "absent" in done.stderr.splitlines()[-1]


def test_a_measurement_without_a_workload_is_wrong_use(tmp_path):
    (tmp_path / "none.json").write_text('{"items": []}')
    done = runner("convert", tmp_path / "none.json")
    assert (done.returncode, done.stdout) == (2, "")
    assert "the file holds no workload" in done.stderr


def test_all_measured_is_exit_status_0_and_they_are_listed(tmp_path):
    program(tmp_path, "count.sh", SHELL)
    file = described(tmp_path, f'name = "{NAME}"\ncommand = ["count.sh"]\ntorch = false\n')
    assert measured(file)[0] == 0
    assert NAME in runner("list", "--commands", file).stdout.split()


def test_an_exception_in_ones_own_program_is_told_with_its_place(tmp_path):
    program(tmp_path, "mine.py",
            "import json\n\ndef work(text):\n    return json.loads(text)\n\nwork('no JSON')\n")
    status, items = measured(
        described(tmp_path, f'name = "{NAME}"\ncommand = ["{{python}}", "mine.py"]\n'))
    assert status == 1
    assert "exit code 1: mine.py, line 4: json.decoder.JSONDecodeError: Expecting value" in items[
        "count"]["reason"]
    assert items["count"]["details"].startswith("Traceback (most recent call last):")


@pytest.mark.parametrize("entry, words", [
    ('name = "mine/count"\ncommand = ["a"]\n', "suite/model/task"),
    ('name = "python/x/eval/cpu/fp32/b1/eager"\ncommand = ["a"]\n', "'python' is Nightjar's own"),
    (f'name = "{NAME}"\n', "mine.toml:1: workload.command: is required"),
    (f'name = "{NAME}"\ncommand = "count.sh"\n', "command: must be a list"),
    (f'name = "{NAME}"\ncommand = ["a"]\nversion = 0\n', "version: must be"),
    (f'name = "{NAME}"\ncommand = ["a"]\ntimeout = -1\n', "timeout: must be"),
    (f'name = "{NAME}"\ncommand = ["a"]\ntime = 1\n', "time: unknown key; there are command"),
    (f'name = "{NAME}"\ncommand = ["a"]\n[[workload]]\nname = "{NAME}"\ncommand = ["a"]\n',
     "same name"), ('name = \n', "mine.toml:2: "), ])
def test_a_wrong_entry_is_one_line_that_names_file_and_key(tmp_path, entry, words):
    file = described(tmp_path, entry)
    done = runner("measure", "mine/**", "--commands", file)
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1), done.stderr
    assert str(file) in done.stderr and words in done.stderr


def test_a_file_that_is_none_is_named(tmp_path):
    for text, lines in ((None, 1), ("", 1), ("[other]\n", 2)):
        file = tmp_path / "mine.toml"
        if text is not None:
            file.write_text(text)
        done = runner("list", "--commands", file)
        assert (done.returncode, len(done.stderr.splitlines())) == (2, lines), done.stderr
        assert all(str(file) in line for line in done.stderr.splitlines())
