"""Where a run takes place. As root it has namespaces of its own for processes, mounts and networks,
which end with it; each agent has a network of its own, and each program a small disk."""

import os
import subprocess
import sys

INSIDE = "NIGHTJAR_CHAOS_NAMESPACE"
SERVICE_DISK_MIB, AGENT_DISK_MIB = 512, 64  # below 256 MiB of free space the service is not ready


def enter_namespaces():
    """Runs this program again in namespaces of its own. Does nothing without root."""
    if os.geteuid() != 0 or INSIDE in os.environ:
        return
    command = ["unshare", "--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"]
    os.environ[INSIDE] = "1"
    os.execvp("unshare", [*command, sys.executable, *sys.argv])


def run(*words):
    subprocess.run([str(word) for word in words], check=True, capture_output=True)


class Place:
    def __init__(self, folder):
        self.folder = folder
        self.has_namespaces = INSIDE in os.environ
        self.disks = {}  # by name: its folder
        self.links = {}  # by name: the interface of this side
        self.prefixes = {}  # by name: what starts a program in its network
        self.kind_of_disk = "none"
        if self.has_namespaces:
            run("ip", "link", "set", "lo", "up")

    def stop(self):
        for link in self.links.values():
            run("ip", "link", "delete", link)
        for disk in self.disks.values():
            subprocess.run(["umount", "--lazy", disk], check=False)

    # ---- disks
    def add_disk(self, name, mib):
        """A folder on a file system of its own, where that is possible."""
        disk = self.folder / f"disk-{name}"
        disk.mkdir()
        if self.has_namespaces:
            self.kind_of_disk = self._mount(disk, mib)
            self.disks[name] = disk
        return disk

    def _mount(self, disk, mib):
        image = disk.with_suffix(".ext4")
        try:
            with open(image, "wb") as file:
                file.truncate(mib << 20)
            run("mkfs.ext4", "-q", image)
            run("mount", "-o", "loop", image, disk)
            return "loop"
        except (OSError, subprocess.CalledProcessError):
            run("mount", "-t", "tmpfs", "-o", f"size={mib}m", "tmpfs", disk)
            return "tmpfs"

    def fill_disk(self, name):
        """Takes all its free space."""
        disk = self.disks[name]
        with open(disk / "filler", "wb") as file:
            for size in (1 << 20, 1 << 12):  # what is left, in large pieces and then in small ones
                while True:
                    try:
                        os.posix_fallocate(file.fileno(), file.seek(0, os.SEEK_END), size)
                    except OSError:
                        break

    def free_disk(self, name):
        (self.disks[name] / "filler").unlink(missing_ok=True)

    # ---- networks
    def add_network(self, number, name):
        """A network that only one program is in; returns this side's address in it."""
        if not self.has_namespaces:
            return "127.0.0.1"
        here, there = f"here{number}", f"there{number}"
        # Its name is a file below /run, which other runs must not see.
        if not self.links:
            os.makedirs("/run/netns", exist_ok=True)
            run("mount", "-t", "tmpfs", "tmpfs", "/run/netns")
        run("ip", "netns", "add", name)
        run("ip", "link", "add", here, "type", "veth", "peer", "name", there, "netns", name)
        run("ip", "address", "add", f"10.77.{number}.1/30", "dev", here)
        run("ip", "link", "set", here, "up")
        for words in (("address", "add", f"10.77.{number}.2/30", "dev", there),
                      ("link", "set", there, "up"), ("link", "set", "lo", "up")):
            run("ip", "-netns", name, *words)
        self.links[name] = here
        self.prefixes[name] = ["nsenter", f"--net=/run/netns/{name}"]
        return f"10.77.{number}.1"

    def set_link(self, name, state):
        """`up` or `down`: nothing is refused, nothing arrives."""
        run("ip", "link", "set", self.links[name], state)
