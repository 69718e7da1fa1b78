"""The units of the Debian packages under a real systemd, which systemd-nspawn boots in a new root
file system: they start once they are configured, come back after a kill, and end well. tests/run
--images runs this."""

import hashlib
import os
import pathlib
import re
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
UNITS = ("nightjard", "nightjar-runner")
TOKEN = "token-of-the-lab"
# Runs in the machine. Each line that it prints is a fact; without the last the check has failed.
CHECK = """
set -e
wait_for() { until curl --silent --fail "http://127.0.0.1:8187$1" >/dev/null; do sleep 0.2; done; }
wait_for /readyz
wait_for /api/v1/runners/1
echo active $(systemctl is-active nightjard nightjar-runner)
echo users $(ps -o user:20= -p "$(systemctl show --property MainPID --value nightjard)") \
  $(ps -o user:20= -p "$(systemctl show --property MainPID --value nightjar-runner)")
systemctl kill --signal=KILL nightjard
until [ "$(systemctl show --property NRestarts --value nightjard)" = 1 ]; do sleep 0.2; done
wait_for /readyz
echo restarted
systemctl stop nightjar-runner nightjard
echo results $(systemctl show --property Result --value nightjard nightjar-runner)
"""
UNIT = """
[Unit]
After=multi-user.target
SuccessAction=poweroff
FailureAction=poweroff
[Service]
Type=oneshot
TimeoutStartSec=240
ExecStart=/bin/sh /check
StandardOutput=file:/said
StandardError=file:/said
[Install]
WantedBy=graphical.target
"""


def obstacle():
    if os.geteuid() != 0:
        return "only root can boot a machine"
    for program, package in (("mmdebstrap", "mmdebstrap"), ("systemd-nspawn", "systemd-container")):
        if shutil.which(program) is None:
            return f"no {program} here; apt-get install {package}"
    return None


OBSTACLE = obstacle()
pytestmark = pytest.mark.skipif(OBSTACLE is not None, reason=str(OBSTACLE))


@pytest.fixture(scope="module")
def machine(tmp_path_factory):
    """A root file system with systemd and both packages, configured as the documents say."""
    folder = tmp_path_factory.mktemp("units")
    packages = folder / "packages"
    subprocess.run([ROOT / "deploy/package", "--no-build", "--out", packages], check=True,
                   capture_output=True)
    root = folder / "root"
    release = dict(re.findall(r'^(\w+)="?([^"\n]*)', pathlib.Path("/etc/os-release").read_text(),
                              re.MULTILINE))
    files = [str(*packages.glob(f"{name}_*.deb"))
             for name in ("nightjar-service", "nightjar-runner")]
    made = subprocess.run(
        ["mmdebstrap", "--variant=essential",
         "--hook-dir=/usr/share/mmdebstrap/hooks/file-mirror-automount",
         "--include=" + ",".join(["systemd", "systemd-sysv", "curl", "procps", *files]),
         release["VERSION_CODENAME"], root], capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    configure(root)
    return root


def configure(root):
    text = (root / "usr/share/nightjar/nightjar.toml").read_text()
    for pattern, here in ((r'^index = "[^"]*"', 'directory = "/srv"'),
                          (r'^url = "[^"]*"', 'url = "/srv/repository"'),
                          (r"^environments = .*", "environments = []")):
        text, count = re.subn(pattern, here, text, flags=re.MULTILINE)
        assert count == 1, pattern
    place = root / "etc/nightjar"
    (place / "nightjar.toml").write_text(
        text + f'\n[[token]]\nname = "lab"\nrole = "runner"\n'
        f'sha256 = "{hashlib.sha256(TOKEN.encode()).hexdigest()}"\n')
    settings = (root / "usr/share/nightjar/runner.environment").read_text()
    settings = re.sub(r"^NIGHTJAR_URL=.*", "NIGHTJAR_URL=http://127.0.0.1:8187", settings,
                      flags=re.MULTILINE)
    (place / "runner").write_text(
        settings.replace("--python /opt/nightjar/python/bin/python", "--python /usr/bin/python3"))
    (place / "runner.token").write_text(TOKEN)
    subprocess.run(["chroot", root, "chown", "root:nightjar-runner", "/etc/nightjar/runner.token"],
                   check=True)
    (place / "runner.token").chmod(0o640)
    (root / "check").write_text(CHECK)
    (root / "etc/systemd/system/check.service").write_text(UNIT)
    subprocess.run(["chroot", root, "systemctl", "enable", "check.service"], check=True,
                   capture_output=True)


def test_the_units_run_under_a_real_systemd(machine):
    for unit in UNITS:
        assert (machine / f"etc/systemd/system/multi-user.target.wants/{unit}.service").is_symlink()
    # In mounts of its own, so that none outlives the machine.
    booted = subprocess.run(
        ["unshare", "--mount", "systemd-nspawn", "--register=no", "--keep-unit",
         "--private-network", "--boot", "--directory", machine],
        cwd="/", capture_output=True, text=True, timeout=400, errors="replace")
    said = (machine / "said").read_text()
    assert said.splitlines() == [
        "active active active", "users nightjar nightjar-runner", "restarted",
        "results success success"], said + booted.stdout[-4000:]
