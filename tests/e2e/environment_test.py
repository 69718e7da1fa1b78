"""Nightlies that require other versions of a package: real uv resolves and installs them from an
index on loopback, and the service finds whether the package or the source did it."""
import json
import subprocess

import pytest

from loop_test import blamed, finish, shas
from world import BIN, UV, WORKLOADS, make_package, script, step

ALPHA = WORKLOADS[0]


def by_package(version, **factors):
    """With this version of the package, alpha's metrics are multiplied."""
    return {"when": {"workload": ALPHA, "file": "helper/__init__.py", "contains": version},
            "factors": factors}


@pytest.fixture
def packaged(world, tmp_path):
    """A world whose index has two versions of a package, and whose nightlies require one each."""
    def made(*rules, **more):
        w = world(environment={"indexes": [], "uv": str(UV)}, **more)
        w.overrides["environment"]["indexes"] = [w.index.url]
        w.write_config()
        for version in ("1.0", "2.0"):
            make_package(w.index.folder, "helper", version,
                         {"helper/__init__.py": f"VERSION = {version!r}\n"})
        w.publish_nightly("2026-08-19", requires=["helper==1.0"])
        w.start_daemon()
        w.start_runner(script(*rules))
        w.wait("the first night", lambda: w.night_done(1))
        w.repo.grow(20)
        w.publish_nightly("2026-08-20", requires=["helper>=2.0"])
        finish(w)
        return w
    return made


def verdicts(w, regression):
    bundle = w.folder / "bundle.json"
    bundle.write_bytes(w.get(f"/api/v1/regressions/{regression}/evidence", raw=True))
    said = subprocess.run([BIN / "nightjar", "verify", bundle], capture_output=True, text=True)
    return said.returncode, said.stdout + said.stderr


def test_a_package_that_is_slower_is_named_and_no_commit(packaged):
    w = packaged(by_package("2.0", latency=1.2))
    [found] = [r for r in w.items("regressions") if r["state"] == "reported"]
    assert found["culprit"] is None and found["bisection"] is None
    assert found["attribution"]["cause"] == "environment"
    share = found["attribution"]["environment"]
    assert share["low"] < 1.2 < share["high"]
    [issue] = w.issues()
    text = issue.read_text()
    assert "the packages did it, not the source: helper 1.0 → 2.0" in text
    assert "helper" in issue.read_text().splitlines()[0] or "by helper 1.0 → 2.0" in text
    builds = {b["version"]: b for b in w.items("builds")}
    lock = w.get(f"/api/v1/locks/{builds['2.14.0.dev20260820+cpu']['lock']}", raw=True).decode()
    assert "helper==2.0 \\\n    --hash=sha256:" in lock
    code, said = verdicts(w, found["id"])
    assert code == 0 and "attribution" in said, said

    # The verdict cannot be turned around.
    bundle = json.loads((w.folder / "bundle.json").read_text())
    for change in bundle["changes"]:
        if change["evidence"].get("stage") == "attribution":
            change["evidence"]["verdict"] = "source"
    (w.folder / "edited.json").write_text(json.dumps(bundle))
    edited = subprocess.run([BIN / "nightjar", "verify", w.folder / "edited.json"],
                            capture_output=True, text=True)
    assert edited.returncode == 1, edited.stdout


def test_a_commit_is_named_where_the_packages_differ_too(packaged):
    w = packaged(step(ALPHA, 6, latency=1.2))
    assert shas(blamed(w)["latency"]) == [w.repo.commits[6]]
    [found] = [r for r in w.items("regressions") if r["state"] == "reported"]
    assert found["attribution"]["cause"] == "source"
    code, said = verdicts(w, found["id"])
    assert code == 0, said


def test_packages_that_no_version_satisfies_are_told_where_nights_wait(world):
    w = world(environment={"indexes": [], "uv": str(UV)})
    w.overrides["environment"]["indexes"] = [w.index.url]
    w.write_config()
    make_package(w.index.folder, "helper", "1.0", {"helper/__init__.py": ""})
    w.publish_nightly("2026-08-19", requires=["helper==9"])
    w.start_daemon()
    build = w.wait("the wheel to be judged", lambda: next(
        (b for b in w.items("builds") if b["state"] == "unusable"), None))
    assert "its packages cannot be installed" in build["reason"]
    assert "helper==9" in build["reason"]
