"""The wheels of deploy/wheel, made twice, installed as people do, and used: here, in a Debian 13,
on Alpine, and on aarch64 under an emulator. tests/run --wheels runs this; it fetches a compiler and
Debian's packages, and takes half an hour. A variable names what is there already:

  WHEELS  a folder with wheels for both processors
  ALPINE  a folder with root file systems as Alpine publishes them (alpine-minirootfs-*.tar.gz)
  ROOTS   a folder where root file systems of Debian stay that were made, for the next time
"""

import json
import os
import pathlib
import platform
import shutil
import subprocess
import sys
import zipfile

import pytest

sys.path.append(str(pathlib.Path(__file__).parent))

from roots import UV, Alpine, Debian, Here, OtherProcessor

ROOT = pathlib.Path(__file__).resolve().parents[2]
MOST_BYTES = 15_000_000
SECONDS = "1780000000"
INSTALLERS = ("pip", "pipx", "uv")
USE = (pathlib.Path(__file__).parent / "use.sh").read_text()
# Kernels since 5.1 number their system calls from 424 on. Before, these do not exist.
ON_KERNEL_4_18 = """
import ctypes, os, sys
class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("code", ctypes.c_char_p)]
allow, refuse = 0x7FFF0000, 0x00050000 | 38  # the latter with ENOSYS
# Load the call's number; skip one if it is less than 424; refuse; allow.
code = [0x20, 0x35 | 1 << 24 | 424 << 32, 0x06 | refuse << 32, 0x06 | allow << 32]
program = Program(len(code), b"".join(one.to_bytes(8, "little") for one in code))
libc = ctypes.CDLL(None)
assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, ctypes.byref(program), 0, 0) == 0
try:
    os.pidfd_open(os.getpid())
    sys.exit("the filter does not hold")
except OSError:
    os.execvp(sys.argv[1], sys.argv[1:])
"""


def make_wheels(checkout, out, *options, **environment):
    done = subprocess.run([checkout / "deploy/wheel", "--out", out, *options],
                          env=os.environ | {"SOURCE_DATE_EPOCH": SECONDS} | environment,
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return out


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    made = os.environ.get("WHEELS")
    return pathlib.Path(made) if made else make_wheels(ROOT, tmp_path_factory.mktemp("wheels"))


@pytest.fixture(scope="session")
def wheels(folder):
    """{processor: wheel}."""
    return {path.stem.rpartition("musllinux_1_1_")[2]: path for path in folder.glob("*.whl")}


@pytest.fixture(scope="session")
def programs(wheels, tmp_path_factory):
    """{processor: program}, unpacked."""
    unpacked = {}
    for architecture, wheel in wheels.items():
        with zipfile.ZipFile(wheel) as archive:
            name, = (one for one in archive.namelist() if one.endswith(".data/scripts/nightjar"))
            unpacked[architecture] = pathlib.Path(
                archive.extract(name, tmp_path_factory.mktemp(architecture)))
        unpacked[architecture].chmod(0o755)
    return unpacked


def check_use(said):
    for words in ("nightjar ", "commit 6", "change: +", "parse"):
        assert words in said, said
    assert "worse" in said.splitlines()[-1]


def test_each_program_is_one_static_file(programs):
    assert sorted(programs) == ["aarch64", "x86_64"]
    for program in programs.values():
        headers = subprocess.run(["readelf", "-lW", program], capture_output=True, text=True,
                                 check=True).stdout
        assert "LOAD" in headers and "INTERP" not in headers and "DYNAMIC" not in headers
        assert program.stat().st_size <= MOST_BYTES
        assert str(ROOT).encode() not in program.read_bytes(), "it names where it was compiled"


def test_the_bill_of_materials_and_the_checksums_fit_the_wheels(folder, wheels):
    subprocess.run(["sha256sum", "--check", "--strict", "SHA256SUMS"], cwd=folder, check=True)
    bill = json.loads(next(folder.glob("*.cdx.json")).read_text())
    parts = {part["name"]: part for part in bill["components"] if part["type"] == "library"}
    assert set(parts) == {"boost", "cli11", "nlohmann-json", "musl", "libc++", "libc++abi",
                          "libunwind", "zig"}
    assert all(part["version"][0].isdigit() for part in parts.values()), parts
    files = {part["name"] for part in bill["components"] if part["type"] == "file"}
    assert files == {path.name for path in wheels.values()}


def test_another_folder_gives_the_same_bytes(wheels, tmp_path):
    """With no compiler, library or compilation that was there before."""
    machine = platform.machine()
    first = make_wheels(ROOT, tmp_path / "first", "--arch", machine)
    checkout = tmp_path / "a folder of another name"
    checkout.mkdir()
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True)
    subprocess.run(["xargs", "-0", "cp", "-P", "--parents", "-t", checkout], cwd=ROOT, check=True,
                   input=names.stdout)
    second = make_wheels(checkout, tmp_path / "second", "--arch", machine, CCACHE_DISABLE="1",
                         ZIG_GLOBAL_CACHE_DIR=str(tmp_path / "compiler"))
    files = [{path.name: path.read_bytes() for path in one.iterdir()} for one in (first, second)]
    assert len(files[0]) == 3 and files[0] == files[1]


def test_it_passes_the_tests_of_the_full_program(programs):
    """Less those that ask another program than nightjar."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-c", "tests/pytest.ini", "--rootdir", ROOT,
         "tests/e2e/cli_test.py", "-k", "not help_of_measure"], cwd=ROOT, text=True,
        capture_output=True, env=os.environ | {
            "NIGHTJAR_BIN": str(programs[platform.machine()].parent)})
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("installer", INSTALLERS)
def test_it_is_installed_and_used_here(wheels, installer, tmp_path):
    check_installed(Here(tmp_path), wheels[platform.machine()], installer)


@pytest.fixture(scope="session")
def made_roots(tmp_path_factory):
    """The folder of those that were made."""
    if "ROOTS" in os.environ:
        yield pathlib.Path(os.environ["ROOTS"])
        return
    folder = tmp_path_factory.mktemp("made_roots")
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(scope="session")
def trixie(made_roots):
    return Debian("trixie", made_roots / platform.machine())


@pytest.mark.parametrize("installer", INSTALLERS)
def test_it_is_installed_and_used_on_debian_13(wheels, installer, trixie):
    check_installed(trixie, wheels[platform.machine()], installer)


def check_installed(root, wheel, installer):
    root.install(wheel, installer)
    check_use(root.run("sh", "-c", USE))
    assert root.run("git", "nightjar", "--version").startswith("nightjar ")


def test_it_is_used_on_alpine(wheels, trixie, tmp_path):
    if "ALPINE" not in os.environ:
        pytest.skip("ALPINE names no folder with Alpine's root file systems")
    file, = pathlib.Path(os.environ["ALPINE"]).glob(f"alpine*{platform.machine()}.tar.gz")
    root = Alpine(file, tmp_path / "root", trixie)
    root.install(wheels[platform.machine()])
    check_use(root.run("sh", "-c", USE))


@pytest.mark.parametrize("target", [
    "x86_64-unknown-linux-musl", "aarch64-unknown-linux-musl", "x86_64-manylinux_2_17",
    "aarch64-manylinux_2_17", "x86_64-manylinux2014", "aarch64-manylinux_2_31"])
def test_uv_takes_it_for_each_c_library_and_processor(wheels, target, tmp_path):
    subprocess.run([UV, "pip", "install", "--offline", "--no-index", "--python", sys.executable,
                    "--python-platform", target, "--target", tmp_path,
                    wheels[target.split("-")[0]]], check=True)


def test_pip_of_an_aarch64_python_installs_it_and_it_is_used(wheels, made_roots, tmp_path):
    root = OtherProcessor("trixie", "aarch64", made_roots / "other-aarch64", tmp_path)
    root.install(wheels["aarch64"])
    check_use(root.run("sh", "-c", USE))


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the numbers are those of x86_64")
def test_it_needs_no_system_call_that_linux_4_18_lacks(programs):
    path = f"{programs['x86_64'].parent}:{os.environ['PATH']}"
    done = subprocess.run([sys.executable, "-c", ON_KERNEL_4_18, "sh", "-c", USE], text=True,
                          capture_output=True, env=os.environ | {"PATH": path})
    assert done.returncode == 0, done.stderr
    check_use(done.stdout)
