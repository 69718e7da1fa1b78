"""Runs image files as a container runtime does, with util-linux alone: each container gets the
image's files read-only, a process tree, the image's user and environment, and no right. The
containers of a pod share a network, which is loopback."""

import os
import pathlib
import shutil
import signal
import subprocess

from image_file import ImageFile

NETWORK = """
python3 - <<'PYTHON'
import fcntl, socket, struct
interface = struct.pack("16sh", b"lo", 1)  # IFF_UP
fcntl.ioctl(socket.socket(), 0x8914, interface)  # SIOCSIFFLAGS
PYTHON
echo up
exec sleep infinity
"""
# "sh", root, user, working folder, binds "FROM:TO"..., "--", command...
ENTER = """
set -e
root=$1 user=$2 folder=$3
shift 3
mount --bind "$root" "$root"
mount -o remount,bind,ro "$root"
mount -t proc proc "$root/proc"
mount -t tmpfs tmp "$root/tmp" -o mode=1777
mount -t tmpfs dev "$root/dev"
for device in null zero random urandom; do
  touch "$root/dev/$device"
  mount --bind "/dev/$device" "$root/dev/$device"
done
mkdir -m 1777 "$root/dev/shm"
while [ "$1" != -- ]; do mount --bind "${1%%:*}" "$root${1#*:}"; shift; done
shift
# As the root of its mounts. In a mere chroot no user namespace could be made.
cd "$root"
mount --move . /
exec setpriv --no-new-privs chroot --userspec="$user" --groups="${user#*:}" . \\
  env -i -C "$folder" "$@"
"""


def obstacle():
    """Why no container can be run here; None if one can."""
    if os.geteuid() != 0:
        return "only root can make a container without a runtime"
    for program in ("unshare", "nsenter", "setpriv", "tar"):
        if shutil.which(program) is None:
            return f"no {program} here"
    return None


class Image:
    """An image file, unpacked below `folder` with its owners."""

    def __init__(self, file, folder):
        self.file, self.root = ImageFile(file), pathlib.Path(folder)
        self.settings = self.file.part("config")["config"]
        self.root.mkdir()
        subprocess.run(["tar", "--extract", "--gzip", "--numeric-owner", "--same-permissions",
                        "--directory", self.root], input=self.file.layer(), check=True)

    def add_folder(self, path):
        """A runtime makes what it binds to, where the image has none."""
        (self.root / path.lstrip("/")).mkdir(parents=True, exist_ok=True)

    def owner(self):
        return tuple(map(int, self.settings["User"].split(":")))


class Pod:
    def __init__(self):
        self._network = subprocess.Popen(["unshare", "--net", "sh", "-c", NETWORK], text=True,
                                         stdout=subprocess.PIPE, start_new_session=True)
        assert self._network.stdout.readline() == "up\n"
        self._started = []

    def start(self, image, *arguments, binds=(), entrypoint=None, environment=None):
        """`binds`: (folder here, the same in the container). As in a runtime the arguments take the
        place of the image's own. A volume that nothing is bound to is read-only."""
        settings = image.settings
        words = [*(entrypoint or settings["Entrypoint"]),
                 *(arguments or ([] if entrypoint else settings["Cmd"]))]
        for _, there in binds:
            image.add_folder(there)
        variables = settings["Env"] + [f"{key}={value}"
                                       for key, value in (environment or {}).items()]
        command = ["nsenter", f"--net=/proc/{self._network.pid}/ns/net", "unshare", "--mount",
                   "--pid", "--fork", "--kill-child", "sh", "-c", ENTER, "sh", image.root,
                   settings["User"], settings["WorkingDir"],
                   *(f"{here}:{there}" for here, there in binds), "--", *variables, *words]
        process = subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, text=True, start_new_session=True)
        self._started.append(process)
        return process

    def run(self, image, *arguments, expected=0, **options):
        """What a command says that ends with `expected`."""
        process = self.start(image, *arguments, **options)
        said, _ = process.communicate(timeout=300)
        assert process.returncode == expected, f"{arguments}: {process.returncode}\n{said}"
        return said

    @staticmethod
    def stop(process, number):
        """Sends the signal to the first process of the container. Returns (exit status, output)."""
        (unshared, ) = children(process.pid)
        os.kill(unshared, number)
        said, _ = process.communicate(timeout=60)
        return process.returncode, said

    def close(self):
        for process in [*self._started, self._network]:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def children(pid):
    return list(map(int, pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()))
