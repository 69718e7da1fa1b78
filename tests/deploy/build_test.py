"""Which PyTorch deploy/build takes: its shell functions, with a pip and a network that only
pretend."""

import pathlib
import subprocess

import pytest

import day_wheel

ROOT = pathlib.Path(__file__).resolve().parents[2]
PRETENCES = """
cache=$1; source deploy/build.d/steps.sh; source deploy/build.d/python.sh
source deploy/build.d/packages.sh
python_digits() { echo 311; }
imports_torch() { say imported; }
make_venv() {
  mkdir -p "$1/bin"
  printf '#!/bin/bash\\necho "$@" >>%s/pip\\n\
[[ $1 != download || " $* " != *" --index-url "* ]] || exit 1\\n\
[[ $1 != download ]] || cp %s/index/*.whl %s/wheels\\n' \
    "$cache" "$cache" "$cache" >"$1/bin/pip"
  printf '#!/bin/bash\\n' >"$1/bin/python"
  chmod +x "$1/bin"/*
}
"""


@pytest.fixture
def build(tmp_path):
    for folder in ("index", "wheels", "log"):
        (tmp_path / folder).mkdir()

    def call(script):
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", PRETENCES + script, "-", tmp_path],
                              cwd=ROOT, capture_output=True, text=True, timeout=60)
        notes = tmp_path / "log" / "notes.new"
        asked = tmp_path / "pip"
        return (done.returncode, done.stdout, notes.read_text() if notes.exists() else "",
                asked.read_text().splitlines() if asked.exists() else [])
    call.folder = tmp_path
    return call


def cuda_wheel(folder):
    return day_wheel.make(folder, "2.13.0+cu130", "", cuda="13.0")


def test_of_two_wheels_the_cpus_is_installed_alone(build):
    cuda_wheel(build.folder / "wheels")
    cpu = day_wheel.make(build.folder / "wheels")
    status, _, notes, asked = build("curl() { return 6; }; install_torch")
    assert (status, notes, asked) == (0, "", [f"install -q --no-compile numpy {cpu}"])


@pytest.mark.parametrize("network", ["curl() { return 6; }", "curl() { return 0; }"])
def test_where_no_cpu_wheel_is_to_be_had_the_default_indexs_build_is_installed_and_noted(
        build, network):
    cuda_wheel(build.folder / "index")
    status, _, notes, asked = build(f"{network}; df() {{ echo 90000000; }}; install_torch")
    assert status == 0
    assert asked[-1].endswith("torch-2.13.0-cp311-cp311-manylinux_2_28_x86_64.whl")
    assert "is the cu130 build of pip's own index" in notes


def test_a_gpu_build_that_does_not_fit_on_the_disk_is_refused_before_its_libraries_are_fetched(
        build):
    cuda_wheel(build.folder / "index")
    status, said, _, asked = build("curl() { return 6; }; df() { echo 3000000; }; install_torch")
    assert status == 3 and [line.split()[0] for line in asked] == ["download"]
    line = next(line for line in said.splitlines() if line.startswith("nightjar-failure: "))
    assert "needs 8 GB of disk, where 3 are free" in line and "NIGHTJAR_TORCH" in line


@pytest.mark.parametrize("headers", [False, True])
def test_pythons_headers_are_installed_where_the_python_has_none(build, headers):
    if headers:
        (build.folder / "Python.h").touch()
    python = build.folder / "python3"
    python.write_text(f"#!/bin/sh\necho {build.folder}\n")
    python.chmod(0o755)
    _, packages, *_ = build(
        f"base_python() {{ echo {python}; }}; VERSION_CODENAME=trixie with_tests=no; "
        "wanted_packages"
    )
    assert ("python3-dev" in packages.split()) is not headers


def test_a_machine_without_python_gets_it_with_its_headers(build):
    _, packages, *_ = build(
        "base_python() { echo no-such-python; }; VERSION_CODENAME=trixie with_tests=no; "
        "wanted_packages"
    )
    assert {"python3", "python3-venv", "python3-dev"} <= set(packages.split())
