"""Where a wheel is installed and used: this machine, a root file system, another processor. Each
has install(wheel, installer) and run(*command), which has what was installed on its PATH."""

import os
import pathlib
import platform
import shutil
import subprocess
import sys
import tarfile

import pytest

UV = pathlib.Path(__file__).resolve().parents[2] / ".cache/tools/bin/uv"
# "sh", root, command... Its processes and mounts are its own, and it has no network.
ENTER = """
mount -t proc proc "$1/proc"
for device in null zero random urandom; do
  touch "$1/dev/$device"
  mount --bind "/dev/$device" "$1/dev/$device"
done
exec chroot "$@"
"""
# What each installer is asked, in a folder of its own. The program comes to bin/ there. pipx first
# updates its own pip, for which it gets what Debian's package of venv brings along.
INSTALL = {
    "pip": '"$python" -m venv "$folder" && "$folder/bin/pip" install -q --no-index "$wheel"',
    "pipx": 'PIPX_HOME="$folder/pipx" PIPX_BIN_DIR="$folder/bin" PIPX_MAN_DIR="$folder/man" '
            'PIP_NO_INDEX=1 PIP_FIND_LINKS=/usr/share/python-wheels pipx install "$wheel"',
    "uv": 'UV_TOOL_DIR="$folder/uv" UV_TOOL_BIN_DIR="$folder/bin" "$uv" tool install -q '
          '--offline --no-index --python "$python" "$wheel"'}


def skip_without(*programs):
    for program in programs:
        if shutil.which(program) is None:
            package = {"qemu-aarch64": "qemu-user"}.get(program, program)
            pytest.skip(f"no {program} here; apt-get install {package}")


def skip_unless_root():
    if os.geteuid() != 0:
        pytest.skip("only root can enter another root file system")


def said(command, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          timeout=600, **options)
    assert done.returncode == 0, f"{command} ended with {done.returncode}:\n{done.stderr}"
    return done.stdout


def make_debian(release, root, *options):
    """A Debian in `root`, if none is there."""
    if root.exists():
        return
    skip_without("mmdebstrap")
    unfinished = root.with_name(f"{root.name}.new")
    said(["mmdebstrap", *options, release, unfinished])
    unfinished.rename(root)


def variables(**values):
    return [f"{name}={value}" for name, value in values.items()]


class Here:
    def __init__(self, folder):
        self._folder = folder

    def install(self, wheel, installer):
        if installer == "pipx":
            skip_without("pipx")
        said(["env", *variables(folder=self._folder, python=sys.executable, wheel=wheel, uv=UV),
              "sh", "-ec", INSTALL[installer]])

    def run(self, *command):
        return said(command, env=os.environ | {
            "PATH": f"{self._folder / 'bin'}:{os.environ['PATH']}"})


class RootFolder:
    """A root file system that lies in `root`."""
    path = "/usr/sbin:/usr/bin:/sbin:/bin"

    def __init__(self, root):
        self.root = root

    def run(self, *command):
        return said(["unshare", "--mount", "--pid", "--net", "--fork", "--kill-child", "sh", "-ec",
                     ENTER, "sh", self.root, "env", "-i",
                     *variables(PATH=self.path, HOME="/opt", LANG="C.UTF-8"), *command])


class Debian(RootFolder):
    def __init__(self, release, root):
        skip_unless_root()
        make_debian(release, root, "--variant=minbase", "--include=python3-venv,pipx,git,man-db")
        shutil.copy(UV, root / "usr/bin/uv")
        super().__init__(root)

    def install(self, wheel, installer):
        shutil.rmtree(self.root / "opt" / installer, ignore_errors=True)
        shutil.copy(wheel, self.root / "opt")
        self.path = RootFolder.path
        self.run("env", *variables(folder=f"/opt/{installer}", python="/usr/bin/python3", uv="uv",
                                   wheel=f"/opt/{wheel.name}"), "sh", "-ec", INSTALL[installer])
        self.path = f"/opt/{installer}/bin:{RootFolder.path}"


class Alpine(RootFolder):
    """As Alpine publishes it: with neither Python nor git. So the wheel is unpacked, and git is a
    Debian's, which brings along the C library that it needs."""
    path = f"/usr/local/bin:{RootFolder.path}"
    GIT = """#!/bin/sh
export GIT_EXEC_PATH=/usr/local/bin
exec /debian/lib64/ld-linux-*.so.* --library-path \\
  /debian/lib/{0}-linux-gnu:/debian/usr/lib/{0}-linux-gnu /debian/usr/bin/git "$@"
"""

    def __init__(self, file, root, debian):
        super().__init__(root)
        with tarfile.open(file) as archive:
            archive.extractall(root, filter="fully_trusted")
        (root / "debian").mkdir()
        said(["cp", "-a", "--reflink=auto", *debian.root.glob("lib*"), root / "debian"])
        said(["cp", "-a", "--parents", "usr/bin/git", "usr/lib", "usr/lib64", root / "debian"],
             cwd=debian.root)
        git = root / "usr/local/bin/git"
        git.write_text(self.GIT.format(platform.machine()))
        git.chmod(0o755)

    def install(self, wheel):
        shutil.copy(wheel, self.root / "opt/wheel.zip")
        self.run("sh", "-ec", "unzip -q /opt/wheel.zip -d /opt/unpacked; "
                              "install -m 755 /opt/unpacked/*.data/scripts/* /usr/local/bin")


class OtherProcessor:
    """A Python of the other processor, which qemu emulates, installs the program; qemu runs it."""

    def __init__(self, release, architecture, root, folder):
        self._emulator, self._folder, self._root = f"qemu-{architecture}", folder, root
        skip_without(self._emulator)
        skip_unless_root()
        debian = {"aarch64": "arm64", "x86_64": "amd64"}[architecture]
        make_debian(release, root, "--variant=extract", f"--architectures={debian}",
                    "--include=python3,python3-pip")
        if not (self._root / "lib").exists():
            (self._root / "lib").symlink_to("usr/lib")

    def install(self, wheel):
        python = self._root / "usr/bin/python3"
        said([self._emulator, "-L", self._root, python, "-m", "pip", "install", "--no-index",
              "--prefix", self._folder / "emulated", wheel],
             env={"PYTHONPATH": str(self._root / "usr/lib/python3/dist-packages"),
                  "PATH": os.environ["PATH"], "HOME": str(self._folder)})
        installed = next((self._folder / "emulated").rglob("bin/nightjar"))  # Debian: below local/
        program = self._folder / "bin/nightjar"
        program.parent.mkdir()
        program.write_text("#!/bin/sh\n"
                           f'exec {self._emulator} "{installed}" "$@"\n')
        program.chmod(0o755)

    def run(self, *command):
        return said(command, env=os.environ | {
            "PATH": f"{self._folder / 'bin'}:{os.environ['PATH']}"})
