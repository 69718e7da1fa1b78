"""The Debian packages of deploy/package, installed by dpkg, used, upgraded and removed again, in a
root that is thrown away."""

import filecmp
import json
import os
import pathlib
import re
import shlex
import subprocess

import pytest
from scratch_root import ScratchRoot, obstacle

ROOT = pathlib.Path(__file__).resolve().parents[2]
NAMES = ("nightjar-service", "nightjar-runner", "nightjar-tools")
PROGRAMS = {"nightjar-service": "nightjard", "nightjar-runner": "nightjar-runner",
            "nightjar-tools": "nightjar"}
UNITS = ("nightjard", "nightjar-runner")
SERVICE = "http://127.0.0.1:8187"
# What docs/operating.md says that purging leaves: users, and what dpkg and man keep of their own.
LEFT = re.compile(r"/etc/(passwd|group|shadow|gshadow)-?|/etc/\.pwd\.lock|/var/lib/dpkg/.*"
                  r"|/var/log/dpkg\.log|/var/cache/man/.*|/var/tmp/.*\.deb")

OBSTACLE = obstacle()
pytestmark = pytest.mark.skipif(OBSTACLE is not None, reason=str(OBSTACLE))


@pytest.fixture(scope="module")
def packages(tmp_path_factory):
    """Path of each package, by name."""
    return made_in(tmp_path_factory.mktemp("packages"))


def made_in(folder):
    done = subprocess.run([ROOT / "deploy/package", "--no-build", "--out", folder],
                          env=os.environ | {"SOURCE_DATE_EPOCH": "1780000000"},
                          capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return {path.name.split("_")[0]: path for path in folder.glob("*.deb")}


@pytest.fixture(scope="module")
def machine(packages, tmp_path_factory):
    """With all packages installed and nothing configured."""
    root = ScratchRoot(tmp_path_factory.mktemp("machine"))
    root.install(*packages.values())
    yield root
    root.close()


def fields(package):
    said = subprocess.run(["dpkg-deb", "--field", package], check=True, capture_output=True,
                          text=True).stdout
    return dict(re.findall(r"^(\S+): (.*)$", said, re.MULTILINE))


def files(package):
    said = subprocess.run(["dpkg-deb", "--contents", package], check=True, capture_output=True,
                          text=True).stdout
    return {line.split()[5].removeprefix(".") for line in said.splitlines()
            if not line.startswith("d")}


def unit_file(machine, unit):
    return machine.outside(f"/usr/lib/systemd/system/{unit}.service").read_text()


def unit_value(machine, unit, key):
    text = unit_file(machine, unit).replace("\\\n", " ")
    return re.search(rf"^{key}=(.*)$", text, re.MULTILINE)[1]


def start_unit(machine, unit):
    """As systemd starts it, but for the confinement: the user, the settings, the command line."""
    settings = unit_value(machine, unit, "EnvironmentFile").lstrip("-")
    user, command = unit_value(machine, unit, "User"), unit_value(machine, unit, "ExecStart")
    return machine.start(
        "sh", "-c", f"if [ -f {settings} ]; then set -a; . {settings}; fi; "
        f"export HOME=$(getent passwd {user} | cut -d : -f 6); "
        f"exec setpriv --reuid {user} --regid {user} --init-groups {command}")


def end_unit(machine, unit, process):
    machine.run("sh", "-c", f"kill $(pidof {unit})")
    said, _ = process.communicate(timeout=60)
    assert process.returncode == 0, said
    return said


def ask(machine, path, *options):
    return machine.run("curl", "-s", "--fail", "--retry", "20", "--retry-delay", "1",
                       "--retry-all-errors", *options, SERVICE + path)


def test_each_package_holds_its_program_and_what_that_reads(packages):
    assert sorted(packages) == sorted(NAMES)
    held = {name: files(packages[name]) for name in NAMES}
    for name, program in PROGRAMS.items():
        assert {f"/usr/bin/{program}", f"/usr/share/bash-completion/completions/{program}",
                f"/usr/share/doc/{name}/copyright"} <= held[name]
        assert sum(bool(re.fullmatch(rf"/usr/share/man/man[18]/{program}\.[18]", path))
                   for path in held[name]) == 1
    assert "/usr/bin/nightjar-confine" in held["nightjar-runner"]
    for folder, name in (("deploy/projects", NAMES[0]), ("deploy/recipes", NAMES[0]),
                         ("runner/workloads", NAMES[1])):
        sources = subprocess.run(["git", "ls-files", folder], cwd=ROOT, check=True, text=True,
                                 capture_output=True).stdout.splitlines()
        assert sources
        assert {f"/usr/share/nightjar/{path.split('/', 1)[1]}" for path in sources} <= held[name]
    for name, unit in zip(NAMES, UNITS):
        assert {f"/usr/lib/systemd/system/{unit}.service", f"/usr/lib/sysusers.d/{unit}.conf",
                f"/usr/lib/tmpfiles.d/{unit}.conf"} <= held[name]
    assert not [path for one in held.values() for path in one if "__pycache__" in path]
    owners = [path for one in held.values() for path in one]
    assert len(owners) == len(set(owners)), "two packages hold the same file"


def test_the_same_files_give_the_same_package(packages, tmp_path):
    again = made_in(tmp_path)
    assert [name for name in packages
            if not filecmp.cmp(packages[name], again[name], shallow=False)] == []
    for package in packages.values():
        listed = subprocess.run(["dpkg-deb", "--info", package, "md5sums"], check=True, text=True,
                                capture_output=True).stdout.splitlines()
        assert listed == sorted(listed, key=lambda line: line.split("  ", 1)[1])


def test_what_a_package_depends_on_comes_from_its_programs(packages):
    needs = {name: fields(packages[name])["Depends"] for name in NAMES}
    assert "libsqlite3-0" in needs["nightjar-service"] and "libgit2" in needs["nightjar-service"]
    assert "python3" in needs["nightjar-runner"] and "libsqlite3" not in needs["nightjar-runner"]
    assert "git" in needs["nightjar-service"].split(", "), "it fetches commits by the program"
    for name, depends in needs.items():
        assert "libcurl" in depends and "libtorch" not in depends, name
    version = re.search(r"project\(nightjar VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text())
    for name in NAMES:
        control = fields(packages[name])
        assert (control["Package"], control["Version"]) == (name, version[1])
    recommended = fields(packages["nightjar-runner"])["Recommends"].split(", ")
    assert {"g++", "python3-dev", "git"} <= set(recommended)


def test_installed_programs_run_without_a_checkout(machine):
    assert machine.run("ls", ROOT) == ""
    for program in PROGRAMS.values():
        assert re.fullmatch(rf"{program} [\d.]+\n", machine.run(program, "--version"))
        assert f"Usage: {program} " in machine.run(program, "--help")
    items = json.loads((ROOT / "runner/workloads/workloads.json").read_text())["items"]
    assert machine.run("nightjar-runner", "list").splitlines() == [item["name"] for item in items]
    quick = machine.run("nightjar-runner", "list", "--suite", "quick").splitlines()
    assert quick and set(quick) <= {item["name"] for item in items}


def test_units_are_enabled_and_wait_for_their_configuration(machine):
    for unit in UNITS:
        assert machine.run("systemctl", "is-enabled", unit) == "enabled\n"
        condition = pathlib.Path(unit_value(machine, unit, "ConditionPathExists"))
        assert condition.parent == pathlib.Path("/etc/nightjar")
        assert not machine.outside(condition).exists()
        assert machine.run("systemd-analyze", "verify", f"{unit}.service") == ""
        machine.run("getent", "passwd", unit_value(machine, unit, "User"))


def test_what_starts_pilots_comes_with_the_runner_and_waits_to_be_copied(machine):
    slurm = "/usr/share/nightjar/slurm"
    assert "usage: nightjar-pilot" in machine.run(f"{slurm}/nightjar-pilot", "--help")
    units = "nightjar-pilot.service nightjar-pilot.timer"
    said = machine.run("sh", "-c", f"cd /run && mkdir copied && cd copied && cp {slurm}/*.service "
                       f"{slurm}/*.timer . && systemd-analyze verify $PWD/nightjar-pilot.service "
                       "$PWD/nightjar-pilot.timer && ls && rm -r /run/copied")
    assert said.split() == units.split()


def test_the_services_unit_is_confined(machine):
    """systemd's exposure level, at most 2.5 of 10. The runner's unit has no filter of system calls,
    which each call of a measured workload would pass."""
    machine.run("systemd-analyze", "security", "--offline=true", "--no-pager", "--threshold=25",
                "nightjard.service")


def test_the_example_configuration_serves_and_a_runner_registers(machine):
    machine.run("sh", "-c", """
        set -e
        cd /etc/nightjar
        cp /usr/share/nightjar/nightjar.toml .
        cp /usr/share/nightjar/runner.environment runner
        echo secret >runner.token
        chown root:nightjar-runner runner.token
        chmod 640 runner.token
        cat >>nightjar.toml <<END
[[token]]
name = "lab"
role = "runner"
sha256 = "$(printf secret | sha256sum | cut -d ' ' -f 1)"
END
        sed -i 's|^NIGHTJAR_URL=.*|NIGHTJAR_URL=""" + SERVICE + """|
            s|--python [^ ]*|--python /usr/bin/python3|' runner""")
    check = unit_value(machine, "nightjard", "ExecStartPre")
    assert "is a valid configuration" in machine.run(*shlex.split(check))
    service = start_unit(machine, "nightjard")
    assert json.loads(ask(machine, "/readyz"))["status"] == "ready"
    assert "<html" in ask(machine, "/")
    runner = start_unit(machine, "nightjar-runner")
    live = ask(machine, "/api/v1/runners/1")
    labels = json.loads(live)["labels"]
    assert labels.pop("confinement") in ("namespaces", "none") and labels == {"site": "lab"}
    end_unit(machine, "nightjar-runner", runner)
    end_unit(machine, "nightjard", service)


@pytest.mark.parametrize("program", PROGRAMS.values())
def test_the_manual_is_rendered_without_a_warning(machine, program):
    page = machine.run("man", "--warnings", program)
    first, *_ = page.splitlines()
    assert program.upper() in first and "warning" not in page
    for option in re.findall(r"^  (--[a-z-]+)", machine.run(program, "--help"), re.MULTILINE):
        assert option in page


def test_cmake_installs_a_component_below_any_prefix(tmp_path):
    for component in ("service", "runner"):
        done = subprocess.run(["cmake", "--install", ROOT / "build", "--prefix", tmp_path,
                               "--component", component], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    assert not (tmp_path / "bin/nightjar").exists()
    listed = subprocess.run([tmp_path / "bin/nightjar-runner", "list", "native/dlrm/**"],
                            cwd="/", capture_output=True, text=True, check=True).stdout
    assert "native/dlrm/eval/cpu/fp32/b" in listed
    unit = (tmp_path / "lib/systemd/system/nightjard.service").read_text()
    assert f"ExecStart={tmp_path}/bin/nightjard --config {tmp_path}/etc/nightjar/nightjar.toml\n" \
        in unit
    assert "/usr/bin" not in unit and " /etc" not in unit


COMPLETE = """
source /usr/share/bash-completion/completions/$1
shift
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
$(complete -p "$1" | sed 's/.*-F \\([^ ]*\\).*/\\1/') "$1"
printf '%s\\n' "${COMPREPLY[@]}"
"""


def completed(machine, *words):
    return machine.run("bash", "-euc", COMPLETE, "bash", words[0], *words).split()


@pytest.mark.parametrize("words, offered", [
    (("nightjar", "bi"), ["bisect"]),
    (("nightjar", "bisect", "run", "--go"), ["--good"]),
    (("nightjar", "bisect", "run", "--direction", ""), ["lower", "higher"]),
    (("nightjar", "compare", "--format", "=", "ma"), ["markdown"]),
    (("nightjar", "bisect", "run", "--repo", "b"), []),  # files, by readline
    (("nightjard", "--re"), ["--restore"]),
    (("nightjar-runner", "--device", ""), ["cpu", "cuda"]),
    (("nightjar-runner", "list", "native/resnet18/eval/cpu/fp32/b4/e"),
     ["native/resnet18/eval/cpu/fp32/b4/eager"]),
])
def test_bash_completes(machine, words, offered):
    machine.run("bash", "-n", f"/usr/share/bash-completion/completions/{words[0]}")
    assert completed(machine, *words) == offered


# The last one of this machine.
def test_purging_leaves_what_was_measured_and_nothing_else(machine):
    machine.run("touch", "/var/lib/nightjar/nightjar.sqlite", "/etc/nightjar/nightjar.toml",
                "/etc/nightjar/runner", "/etc/nightjar/runner.token", "/etc/nightjar/secrets",
                "/var/cache/nightjar-runner/results")
    machine.run("dpkg", "--remove", *NAMES)
    assert not [path for path in machine.changed() if path.startswith("/usr")]
    machine.run("test", "-e", "/etc/nightjar/runner.token", "-a", "-e",
                "/var/cache/nightjar-runner/results", "-a", "-e", "/var/lib/nightjar")
    machine.run("dpkg", "--purge", *NAMES[:2])
    left = {path for path in machine.changed() if not LEFT.fullmatch(path)}
    assert "/var/lib/nightjar/nightjar.sqlite" in left
    assert [path for path in left if not path.startswith("/var/lib/nightjar")] == []
    assert "nightjar" not in machine.run("dpkg", "--get-selections")


@pytest.mark.parametrize("arguments, complaint", [
    (["--fast"], "unknown option --fast; see deploy/package --help"),
    (["--version", "new"], "--version new is no version; it begins with a digit, as 0.2.0"),
])
def test_wrong_use_is_refused_in_one_line(arguments, complaint):
    done = subprocess.run([ROOT / "deploy/package", *arguments], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"deploy/package: {complaint}\n")
