"""This machine's file system with a layer over it that is thrown away: packages are installed there
for real, by dpkg, and nothing of it reaches the machine. Processes, network and mounts are its own,
and it sees no checkout, so that what runs there finds nothing but what was installed."""

import os
import pathlib
import shutil
import signal
import subprocess
import tempfile

CHECKOUT = pathlib.Path(__file__).resolve().parents[2]
LAYER = """
set -e
mount -t tmpfs scratch "$1"
mkdir "$1/changed" "$1/work" "$1/machine"
mount -t overlay overlay -o "lowerdir=/,upperdir=$1/changed,workdir=$1/work" "$1/machine"
mount -t proc proc "$1/machine/proc"
mount --rbind /dev "$1/machine/dev"
mount --rbind /sys "$1/machine/sys"
mount -t tmpfs checkout "$1/machine$2"
mount -t tmpfs run "$1/machine/run"
mkdir -m 1777 "$1/machine/run/lock"
python3 - <<'PYTHON'
import fcntl, socket, struct
interface = struct.pack("16sh", b"lo", 1)  # IFF_UP
fcntl.ioctl(socket.socket(), 0x8914, interface)  # SIOCSIFFLAGS
PYTHON
"""
STAY = """
echo up
exec sleep infinity
"""
# What a shell of the person who tests would give away.
ENVIRONMENT = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8", "HOME": "/root",
               "DEBIAN_FRONTEND": "noninteractive", "MANWIDTH": "80"}


def obstacle():
    """Why there can be none here; None if there can."""
    if os.geteuid() != 0:
        return "only root can lay a file system over this machine's"
    for program in ("unshare", "nsenter", "dpkg", "systemd-analyze", "man"):
        if shutil.which(program) is None:
            return f"no {program} here; deploy/build --tests installs it"
    with tempfile.TemporaryDirectory() as folder:
        tried = subprocess.run(entered(folder, LAYER), capture_output=True, text=True)
    if tried.returncode != 0:
        return "root may not lay a file system over this machine's: " + tried.stderr.strip()
    return None


def entered(folder, script):
    """The command that runs the script where `folder` gets the layer."""
    return ["unshare", "--mount", "--pid", "--net", "--fork", "--kill-child", "sh", "-c", script,
            "sh", folder, CHECKOUT]


class ScratchRoot:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self._holder = subprocess.Popen(entered(self.folder, LAYER + STAY),
                                        stdout=subprocess.PIPE, text=True, start_new_session=True)
        if self._holder.stdout.readline() != "up\n":
            raise OSError("cannot lay a file system over this machine's")
        children = pathlib.Path(f"/proc/{self._holder.pid}/task/{self._holder.pid}/children")
        self._inside = children.read_text().split()[0]

    def _command(self, command):
        return ["nsenter", "--target", self._inside, "--mount", "--pid", "--net",
                f"--root={self.outside('')}", "env", "-i", "-C", "/",
                *(f"{name}={value}" for name, value in ENVIRONMENT.items()), *map(str, command)]

    def outside(self, path):
        """Where this process sees a file of the root."""
        machine = pathlib.Path(f"/proc/{self._inside}/root{self.folder}/machine")
        return machine / str(path).lstrip("/")

    def start(self, *command):
        return subprocess.Popen(self._command(command), stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True)

    def run(self, *command, expected=0):
        """Standard output and error of a command that ends with `expected`."""
        done = subprocess.run(self._command(command), capture_output=True, text=True, timeout=300)
        said = done.stdout + done.stderr
        assert done.returncode == expected, f"{command} ended with {done.returncode}:\n{said}"
        return said

    def install(self, *packages):
        """By dpkg, as an operator does. Documents are installed even where an image leaves them
        out."""
        for package in packages:
            shutil.copy(package, self.outside("var/tmp"))
        return self.run("dpkg", "--path-include=/usr/share/*", "-i",
                        *(f"/var/tmp/{package.name}" for package in packages))

    def changed(self):
        """Every file and folder that is not as on the machine, and "-PATH" where it has none."""
        layer = pathlib.Path(f"/proc/{self._inside}/root{self.folder}/changed")
        found = set()
        for folder, folders, files in os.walk(layer):
            for name in folders + files:
                path = pathlib.Path(folder, name)
                here = pathlib.Path("/", path.relative_to(layer))
                if path.is_char_device() and path.stat().st_rdev == 0:
                    found.add(f"-{here}")
                elif path.is_symlink() or not path.is_dir() or not here.is_dir():
                    found.add(str(here))
        return found

    def close(self):
        os.killpg(self._holder.pid, signal.SIGKILL)
        self._holder.wait()
