"""A checkout that was copied or moved: deploy/build makes again, or mends, what names its old
folder."""

import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
HEAD = f"""set -euo pipefail
root=$1 cache=$1/.cache
mkdir -p "$cache/log"
source "{ROOT}/deploy/build.d/steps.sh"
source "{ROOT}/deploy/build.d/moved.sh"
base_python() {{ echo "{sys.executable}"; }}
"""


def shell(checkout, commands):
    done = subprocess.run(["bash", "-c", HEAD + commands, "bash", checkout], capture_output=True,
                          text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def configure(checkout):
    return subprocess.run(["cmake", "-S", checkout, "-B", checkout / "build", "-G", "Ninja"],
                          capture_output=True, text=True)


def project(folder):
    folder.mkdir()
    (folder / "CMakeLists.txt"
     ).write_text("cmake_minimum_required(VERSION 3.18)\nproject(mine LANGUAGES NONE)\n")
    assert configure(folder).returncode == 0
    return folder


def test_a_copied_build_folder_is_removed_and_can_be_configured_again(tmp_path):
    copy = pathlib.Path(shutil.copytree(project(tmp_path / "first"), tmp_path / "copy"))
    assert configure(copy).returncode != 0  # what CMake says of it
    said = shell(copy, 'drop_foreign_build "$root/build" "$root"; show_notes')
    assert said == (f"note: build was configured for the checkout {tmp_path}/first; "
                    "it is made again\n")
    assert not (copy / "build").exists()
    assert configure(copy).returncode == 0


def test_a_build_folder_in_its_place_is_kept(tmp_path):
    first = project(tmp_path / "first")
    (tmp_path / "link").symlink_to(first)
    for checkout in (first, tmp_path / "link"):
        assert shell(checkout, 'drop_foreign_build "$root/build" "$root"; show_notes') == ""
        assert (first / "build" / "CMakeCache.txt").exists()
    assert shell(first, 'drop_foreign_build "$root/absent" "$root"; show_notes') == ""


def test_a_moved_virtual_environment_works_from_where_it_lies(tmp_path):
    first, moved = tmp_path / "first", tmp_path / "moved"
    subprocess.run([sys.executable, "-m", "venv", first / ".cache/tools"], check=True)
    first.rename(moved)
    pip = moved / ".cache/tools/bin/pip"
    assert str(first) in pip.read_text()
    assert "made in" in shell(moved, 'rebase_venv "$cache/tools"; show_notes')
    version = subprocess.run([pip, "--version"], capture_output=True, text=True, check=True).stdout
    assert str(moved) in version
    activated = subprocess.run(
        ["bash", "-c", f'source {moved}/.cache/tools/bin/activate; command -v pip'],
        capture_output=True, text=True, check=True).stdout
    assert activated.strip() == str(pip)
    assert shell(moved, 'rebase_venv "$cache/tools"; show_notes') == ""


def test_a_virtual_environment_that_is_linked_from_elsewhere_is_left_alone(tmp_path):
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv"], check=True)
    before = (tmp_path / "venv/pyvenv.cfg").read_text()
    checkout = tmp_path / "checkout"
    (checkout / ".cache").mkdir(parents=True)
    (checkout / ".cache/python").symlink_to(tmp_path / "venv")
    assert shell(checkout, 'rebase_venv "$cache/python"; show_notes') == ""
    assert (tmp_path / "venv/pyvenv.cfg").read_text() == before
