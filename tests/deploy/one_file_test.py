"""The program nightjar as one static file (deploy/build --only nightjar), and in a wheel.
tests/wheels has those that deploy/wheel makes (tests/run --wheels)."""

import json
import os
import pathlib
import platform
import re
import subprocess
import sys
import zipfile

import pytest

import pack
from conftest import ROOT

FULL = ROOT / "build" / "bin" / "nightjar"
MOST_BYTES = 15_000_000
# `local` has the first in another form. Of the others only types are used.
NOT_NEEDED = {"service/cli/service_commands.cpp", "runner/build/torch_identity.cpp",
              "runner/catalog/catalog.cpp"}


def compiled():
    """The sources that deploy/static names, as paths from the root."""
    text = (ROOT / "deploy" / "static" / "CMakeLists.txt").read_text()
    found = set()
    for words in re.findall(r"^sources\(([^)]*)\)", text, re.MULTILINE):
        folder, *names = words.split()
        for name in names or ["*"]:
            found |= {path.relative_to(ROOT).as_posix()
                      for path in (ROOT / folder).glob(f"{name}.cpp")}
    left_out, = re.findall(r"foreach\(full ([^)]*)\)", text)
    return (found - {f"service/cli/{name}.cpp" for name in left_out.split()}) | {
        path.relative_to(ROOT).as_posix() for path in (ROOT / "service/cli/local").glob("*.cpp")}


def needed(sources):
    """The sources that stand beside a header which these include, be it through others."""
    seen, open_ = set(), list(sources)
    while open_:
        path = open_.pop()
        if path in seen:
            continue
        seen.add(path)
        for header in re.findall(r'^#include "([^"]+)"', (ROOT / path).read_text(), re.MULTILINE):
            if not (ROOT / header).exists():
                continue  # what the build generates
            open_.append(header)
            source = header.removesuffix(".hpp") + ".cpp"
            if (ROOT / source).exists() and source not in NOT_NEEDED:
                open_.append(source)
    return {path for path in seen if path.endswith(".cpp")}


@pytest.mark.first
def test_the_static_program_has_the_sources_that_it_needs():
    assert needed(compiled()) - compiled() == set()


def test_no_library_that_is_compiled_is_needed():
    headers = {header for path in compiled() for header in
               re.findall(r"^#include <([^>]+/[^>]+)>", (ROOT / path).read_text(), re.MULTILINE)}
    outside = {header.split("/")[0] for header in headers}
    assert outside <= {"sys", "linux", "boost", "nlohmann", "CLI", "openssl"}, outside


@pytest.fixture(scope="module")
def program():
    done = subprocess.run([ROOT / "deploy" / "build", "--only", "nightjar"], capture_output=True,
                          text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return ROOT / "build-one" / "bin" / "nightjar"


def said(program, *arguments, given=""):
    done = subprocess.run([program, *arguments], input=given, capture_output=True, text=True,
                          check=False)
    return done.returncode, done.stdout, done.stderr


def test_it_is_static_and_small(program):
    headers = subprocess.run(["readelf", "-lW", program], capture_output=True, text=True,
                             check=True).stdout
    assert "INTERP" not in headers and "DYNAMIC" not in headers
    assert program.stat().st_size < MOST_BYTES


def test_it_says_what_it_is_and_what_it_lacks(program):
    code, out, _ = said(program, "--version", "--json")
    about = json.loads(out)
    assert code == 0 and about["build"] == "one-file" and "bisect run" in about["commands"]
    assert json.loads(said(FULL, "--version", "--json")[1]) == about | {
        "build": "full", "commands": json.loads(said(FULL, "--version", "--json")[1])["commands"]}
    code, _, problem = said(program, "import", "results", "--to", "http://localhost:1")
    assert code == 2 and problem.count("\n") == 1 and "deploy/build" in problem
    assert "Not in this program" in said(program, "--help")[1]


def test_it_answers_as_the_full_program_does(program, tmp_path):
    series = "".join(f"{i},{1.2345678901234567e9 * (1 + (i > 11) / 4 + i % 3 / 100)}\n"
                     for i in range(24))
    assert said(program, "detect", "-", "--json", given=series) == \
        said(FULL, "detect", "-", "--json", given=series)
    stem = "2026-08-20_07-30/inductor_timm_models_amp_bf16_training_cuda_a100_performance"
    for name in (f"{stem}.csv", f"{stem.replace('08-20', '08-21')}.csv"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text("dev,name,batch_size,speedup,abs_latency\ncuda,vit,8,1.5,2\n")
    files = sorted(str(path) for path in tmp_path.rglob("*.csv"))
    subprocess.run(["gzip", files[0]], check=True)
    files[0] += ".gz"
    for command in (["summary", *files], ["compare", "--control", files[0], "--treatment",
                                          files[1], "--format", "json"]):
        assert said(program, *command) == said(FULL, *command)


COMPLETE = """
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_nightjar
printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.mark.parametrize("words, offered", [
    (("bi",), ["bisect"]), (("bisect", "run", "--go"), ["--good"]), (("import", "--"), ["--help"]),
    (("bisect", "run", "--direction", ""), ["lower", "higher"]), (("detect", "--repo", "x"), []),
    (("comp",), ["compare"])])
def test_bash_completes_what_the_options_are(program, words, offered):
    _, script, _ = said(program, "completion", "bash")
    _, out, problem = said("bash", "-euc", script + COMPLETE, "bash", "nightjar", *words)
    assert out.split() == offered and problem == ""


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_read_their_completion(program, shell):
    code, script, _ = said(program, "completion", shell)
    assert code == 0 and "bisect run" in script and "Change points of a series" in script
    if not any((pathlib.Path(folder) / shell).exists() for folder in os.get_exec_path()):
        pytest.skip(f"there is no {shell} here")
    assert said(shell, "-n", "-c", script) == (0, "", "")


@pytest.fixture(scope="module")
def wheel(program, tmp_path_factory):
    """A wheel of the program that this machine's compiler made."""
    return make_wheel(program, tmp_path_factory.mktemp("wheel"))


def make_wheel(program, folder):
    shared = pack.manual_and_completions(program)
    return pack.write_wheel(folder, "0.1.0", platform.machine(), program, shared,
                            {"musl.txt": b"MIT"})


def test_a_wheel_holds_the_program_and_what_describes_it(wheel, program, tmp_path):
    with zipfile.ZipFile(wheel) as archive:
        members = archive.infolist()
        held = {one.filename.partition("/")[2]: archive.read(one) for one in members}
    assert set(held) == {
        "scripts/nightjar", "scripts/git-nightjar", "METADATA", "WHEEL", "RECORD",
        "licenses/LICENSE", "licenses/musl.txt", "data/share/man/man1/nightjar.1",
        "data/share/man/man1/git-nightjar.1", "data/share/bash-completion/completions/nightjar",
        "data/share/zsh/site-functions/_nightjar",
        "data/share/fish/vendor_completions.d/nightjar.fish"}
    assert held["scripts/nightjar"] == program.read_bytes()
    assert b'.SS "bisect run"' in held["data/share/man/man1/nightjar.1"]
    names = [one.filename for one in members]
    assert names == sorted(names) and {one.date_time for one in members} == {members[0].date_time}
    assert make_wheel(program, tmp_path).read_bytes() == wheel.read_bytes()


@pytest.mark.parametrize("installer", [
    ["pip", "install", "--no-index", "--prefix", "{0}"],
    ["uv", "tool", "install", "--offline", "--no-index", "--python", sys.executable]])
def test_an_installer_puts_the_program_on_the_path(wheel, installer, tmp_path):
    tool, *options = (word.format(tmp_path) for word in installer)
    subprocess.run([ROOT / ".cache/tools/bin" / tool, *options, wheel], check=True,
                   env=os.environ | {"UV_TOOL_DIR": str(tmp_path / "tools"),
                                     "UV_TOOL_BIN_DIR": str(tmp_path / "bin")})
    environment = os.environ | {"PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}"}
    for command in (["nightjar"], ["git", "nightjar"]):
        done = subprocess.run([*command, "--version"], env=environment, capture_output=True,
                              text=True, check=True)
        assert done.stdout.startswith("nightjar ")
