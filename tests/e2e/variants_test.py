"""One service and several variants: each machine measures those that its label names."""
import json

import pytest

from world import BIN, UV, git, make_wheel, script


@pytest.mark.first
def test_each_machine_measures_the_variants_of_its_label(world):
    w = world()
    text = w.config.read_text()
    cuda = w.index.folder.parent / "cuda"
    cuda.mkdir()
    more = (f'\n[[source]]\ndirectory = "{cuda}"\nvariant = "cu126"\npython_tag = "cp311"\n'
            "keep_days = 3650\n")
    w.config.write_text(text.replace("[source]", "[[source]]", 1) + more)
    version = w.publish_nightly("2026-08-19")
    sha = git(w.repo.path, "rev-parse", "nightly")
    make_wheel(cuda, version.replace("+cpu", "+cu126"), sha, w.repo)
    w.start_daemon()
    for name, label in (("plain", None), ("gpu", "variant=cu126")):
        path = w.folder / f"{name}.json"
        path.write_text(json.dumps(script()))
        w.start(name, BIN / "nightjar-runner", "--service", w.url, "--token-file",
                w.folder / "runner.token", "--name", name, "--cache", w.folder / name, "--uv", UV,
                "--scripted", path, *(["--label", label] if label else []))
    w.wait("both nights", lambda: w.night_done(2), 120)
    assert {n["build"]["version"] for n in w.items("nights")} == {
        "2.14.0.dev20260819+cpu", "2.14.0.dev20260819+cu126"}
    assert {s["variant"] for s in w.items("series")} == {"cpu", "cu126"}
    # Both agents are of one machine class, and could take each other's sessions but for the label.
    runners = {runner["id"]: runner["name"] for runner in w.items("runners")}
    variants = {build["id"]: build["variant"] for build in w.items("builds")}
    assert {(runners[job["runner"]], variants[job["environments"][0]["build"]])
            for job in w.items("jobs")} == {("plain", "cpu"), ("gpu", "cu126")}
