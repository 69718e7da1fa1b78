"""Builds from source with the real service and a real builder: a package with one C unit, which
needs no torch."""

import hashlib
import json
import sqlite3

import pytest

from world import BIN, World

SCRIPT = r"""
import base64, hashlib, os, subprocess, time, zipfile
os.makedirs("warm", exist_ok=True); os.makedirs("dist", exist_ok=True)
unit = "warm/unit.o"
if not os.path.exists(unit) or os.path.getmtime(unit) < os.path.getmtime("unit.c"):
    subprocess.run(["cc", "-c", "unit.c", "-o", unit], check=True)
open(os.environ["STARTED"], "a").write("x")
while os.path.exists(os.environ["HOLD"]):
    time.sleep(.05)
files = {"tiny/__init__.py": open("tiny/__init__.py", "rb").read(),
         "tiny/unit.o": open(unit, "rb").read(),
         "tiny/large.bin": os.urandom(1 << 20) * 30,
         "tiny-1.0.dist-info/METADATA": b"Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n\n"}
def record_line(path, text):
    digest = base64.urlsafe_b64encode(hashlib.sha256(text).digest()).rstrip(b"=").decode()
    return f"{path},sha256={digest},{len(text)}\n"
record = "".join(record_line(path, text) for path, text in files.items())
with zipfile.ZipFile("dist/tiny-1.0-py3-none-any.whl", "w") as wheel:
    for path, text in files.items(): wheel.writestr(path, text)
    wheel.writestr("tiny-1.0.dist-info/RECORD", record + "tiny-1.0.dist-info/RECORD,,\n")
"""


class Site(World):
    """A service that watches the package, and a builder."""

    def __init__(self, folder):
        project = folder / "project.toml"
        super().__init__(folder, project={"file": str(project)})
        project.write_text(
            '[project]\nname = "tiny"\npackage = "tiny"\nversion_file = ""\noverlay = ["tiny/"]\n'
        )
        for name, text in {
            "make.py": SCRIPT,
            "unit.c": "int unit(void) { return 1; }\n",
            "tiny/__init__.py": "VALUE = 1\n",
        }.items():
            self.repo.write(name, text)
        self.good = self.repo.commit("Make it a package")
        self.started, self.hold = folder / "started", folder / "hold"
        self.recipe = (
            'name = "tiny"\nmodule = "tiny"\ncommands = ["python make.py"]\n'
            'wheel = "dist/tiny-*.whl"\n'
            f'keep = ["warm"]\n[environment]\nSTARTED = "{self.started}"\nHOLD = "{self.hold}"\n'
        )

    def start_builder(self, name="nightjar-runner"):
        """Each has a cache and a lock of its own, as if it were on a machine of its own."""
        self.start(
            name,
            "/usr/bin/env",
            f"NIGHTJAR_MACHINE_LOCK={self.folder / name}.lock",
            BIN / "nightjar-runner",
            "--service",
            self.url,
            "--token-file",
            self.folder / "builder.token",
            "--name",
            name,
            "--cache",
            self.folder / f"cache-{name}",
            "--builder=only",
            "--python",
            "/usr/bin/python3",
        )

    def ask(self, commit, state):
        """What the search does with request_build(); returns the job's id."""
        sha = hashlib.sha256(self.recipe.encode()).hexdigest()
        spec = {
            "kind": "build",
            "environments": [],
            "workloads": [],
            "order": [],
            "limits": {
                "timeout_seconds": 300.0,
                "memory_bytes": 0,
                "output_bytes": 1 << 20,
                "threads": 1,
                "seconds": 2.0,
                "min_iterations": 10,
                "seed": 0,
            },
            "source": {
                "repository": str(self.repo.path),
                "commit": commit,
                "recipe": self.recipe,
                "recipe_sha256": sha,
            },
        }
        db = sqlite3.connect(self.folder / "data/nightjar.sqlite", timeout=30)
        with db:
            night = db.execute(
                "INSERT INTO night (trigger, state, reason, started_at_us) "
                "VALUES ('api', 'done', '', 0)"
            ).lastrowid
            job = db.execute(
                "INSERT INTO job (key, night, kind, spec, state, priority, attempt, reason, "
                "created_at_us) VALUES (?, ?, 'build', ?, 'queued', 0, 0, '', 0)",
                (state, night, json.dumps(spec)),
            ).lastrowid
            db.execute(
                "INSERT INTO source_build (job, native_state, variant, recipe_sha256, commit_sha, "
                "state, reason, not_before_us, result) "
                "VALUES (?, ?, 'cpu', ?, ?, 'waiting', '', 0, '')",
                (job, state * 64, sha, commit),
            )
        db.close()
        return job

    def proved(self, job):
        source = (self.get(f"/api/v1/jobs/{job}") or {}).get("source_build") or {}
        build = source.get("build") and self.get(f"/api/v1/builds/{source['build']}")
        return build and build["state"] != "found" and build

    def is_done(self, job):
        return (self.get(f"/api/v1/jobs/{job}") or {}).get("state") == "done"

    def wheels_stored(self):
        return list((self.folder / "data/artifacts").glob("[0-9a-f]*"))

    def is_whole(self, build):
        """Whether the service holds the wheel that the builder made, and nothing beside it."""
        [stored] = self.wheels_stored()
        return hashlib.sha256(stored.read_bytes()).hexdigest() == stored.name == build["sha256"]

    def builds_made(self):
        return self.started.stat().st_size if self.started.exists() else 0


@pytest.fixture
def site(tmp_path):
    world = Site(tmp_path)
    yield world
    world.stop()


@pytest.mark.first
def test_a_commit_becomes_a_proved_build_and_one_that_does_not_compile_has_its_log(site):
    site.start_daemon()
    site.start_builder()
    build = site.wait("the build", lambda job=site.ask(site.good, "a"): site.proved(job))
    assert (build["kind"], build["state"], build["commit"]) == ("source", "proved", site.good)
    site.repo.write("unit.c", "int unit(void) { return undeclared; }\n")
    broken = site.ask(site.repo.commit("Break it"), "b")
    source = site.wait(
        "the verdict",
        lambda: (lambda s: s["state"] != "waiting" and s)(
            site.get(f"/api/v1/jobs/{broken}")["source_build"]
        ),
    )
    assert source["state"] == "does_not_compile"
    assert "unit.c:1:25: error:" in source["reason"]
    assert b"undeclared" in site.get(f"/api/v1/jobs/{broken}/log", raw=True)


def test_a_builder_that_is_killed_during_a_build_makes_it_after_its_restart(site):
    site.start_daemon()
    site.hold.touch()
    site.start_builder()
    job = site.ask(site.good, "a")
    site.wait("the build to run", lambda: site.builds_made() == 1)
    site.kill("nightjar-runner")
    site.hold.unlink()
    site.start_builder()
    assert site.wait("the build", lambda: site.proved(job))["state"] == "proved"
    assert site.builds_made() == 2  # the first never ended
    assert site.get(f"/api/v1/jobs/{job}")["attempt"] == 2


def test_a_service_that_is_killed_during_the_upload_gets_the_rest_and_nothing_is_built_twice(site):
    site.start_daemon()
    site.start_builder()
    job = site.ask(site.good, "a")
    uploads = site.folder / "data/uploads"
    site.wait("the first part", lambda: list(uploads.glob("*.part")))
    site.kill("nightjard")
    part = list(uploads.glob("*.part"))
    site.start_daemon_again()
    build = site.wait("the build", lambda: site.proved(job))
    assert build["state"] == "proved"
    assert site.builds_made() == 1
    assert part and not list(uploads.glob("*.part"))
    wheels = site.folder / "cache-nightjar-runner/builder/wheels"
    assert not list(wheels.glob("*/*.whl"))  # the service has it


def check_one_whole_build(site, job):
    build = site.wait("the build", lambda: site.proved(job))
    assert build["state"] == "proved" and site.is_whole(build)
    assert site.builds_made() == 1


def test_a_service_that_is_killed_during_a_build_takes_it_later_and_nothing_is_built_twice(site):
    site.start_daemon()
    site.hold.touch()
    site.start_builder()
    job = site.ask(site.good, "a")
    site.wait("the build to run", lambda: site.builds_made() == 1)
    site.kill("nightjard")
    site.hold.unlink()
    site.start_daemon_again()
    check_one_whole_build(site, job)


def test_a_builder_that_is_killed_during_the_upload_sends_the_rest_and_builds_nothing_anew(site):
    site.start_daemon()
    site.start_builder()
    job = site.ask(site.good, "a")
    site.wait("the first part", lambda: list((site.folder / "data/uploads").glob("*.part")))
    site.kill("nightjar-runner")
    assert not site.is_done(job)
    site.start_builder()
    check_one_whole_build(site, job)


def test_a_service_that_is_killed_as_the_wheel_is_whole_proves_it_after_its_restart(site):
    site.start_daemon()
    site.start_builder()
    job = site.ask(site.good, "a")
    site.wait("the wheel", site.wheels_stored)
    site.kill("nightjard")
    site.start_daemon_again()
    check_one_whole_build(site, job)


def test_two_builders_never_make_the_wheel_of_one_native_group(site):
    site.start_daemon()
    site.hold.touch()
    for name in ("nightjar-runner", "second"):
        site.start_builder(name)
    site.wait("both builders", lambda: len(site.items("runners")) == 2)
    jobs = [site.ask(site.good, "a")]
    site.wait("the first build to run", lambda: site.builds_made() == 1)
    jobs.append(site.ask(site.good, "b"))  # the other builder was idle all the time
    site.wait("the second build to run", lambda: site.builds_made() == 2)
    claimed = [site.get(f"/api/v1/jobs/{job}") for job in jobs]
    assert [job["attempt"] for job in claimed] == [1, 1]
    assert len({job["runner"] for job in claimed}) == 2
    site.hold.unlink()
    for job in jobs:
        site.wait("the build", lambda job=job: site.proved(job))
    assert site.builds_made() == 2
