"""`nightjar import`: histories of other benchmarks through the real programs, from their files to
findings."""

import json
import signal
import subprocess

import pytest

from world import BIN

HEAD = ("dev,name,batch_size,speedup,abs_latency,compilation_latency,compression_ratio,"
        "eager_peak_mem,dynamo_peak_mem,calls_captured,unique_graphs,graph_breaks\n")
STEM = "inductor_torchbench_amp_training_cuda"


def nightjar(*arguments, **options):
    return subprocess.run([BIN / "nightjar", *map(str, arguments)], capture_output=True, text=True,
                          timeout=300, **options)


def write_history(folder, nights, models, step=None, first=0):
    """A folder a night, as an archive of dynamo's results has it. From night `step` on alexnet
    takes 15 % longer."""
    for night in range(first, first + nights):
        day = folder / f"2026-{1 + night // 28:02d}-{1 + night % 28:02d}_{night + 1:040x}"
        day.mkdir(parents=True)
        rows, accuracy = HEAD, "dev,name,batch_size,accuracy\n"
        for index, model in enumerate(models):
            slower = 1.15 if step is not None and model == "alexnet" and night >= step else 1
            noise = 1 + .002 * ((night * 7 + index) % 5 - 2)
            rows += (f"cuda,{model},8,{1.5 / slower / noise:.6f},{10 * slower * noise:.6f},30.0,"
                     "1.2,4.0,3.3,20,1,0\n")
            accuracy += f"cuda,{model},8,pass\n"
        (day / f"{STEM}_performance.csv").write_text(rows)
        (day / f"{STEM}_accuracy.csv").write_text(accuracy)


def arguments(world, folder):
    return ["import", folder, "--to", world.url, "--token-file", world.folder / "import.token",
            "--json"]


def imports(world):
    answer = world.get("/api/v1/imports")
    return answer["items"] if answer else []


def judged(world):
    classes = imports(world)
    return classes and all(one["to_judge"] == 0 for one in classes) and classes


@pytest.fixture(scope="module")
def imported(make_world):
    """A service with a history in which alexnet got slower."""
    world = make_world()
    world.start_daemon()
    write_history(world.folder / "runs", 40, ["alexnet", "dlrm"], step=25)
    (world.folder / "runs/README.json").write_text("{}")
    done = nightjar(*arguments(world, world.folder / "runs"))
    assert done.returncode == 0, done.stderr
    world.said, world.errors = json.loads(done.stdout), done.stderr
    world.wait("the history to be judged", lambda: judged(world), 60)
    return world


def test_a_dry_run_asks_no_service_and_says_what_there_is(tmp_path):
    write_history(tmp_path / "runs", 20, ["alexnet", "dlrm"])
    done = nightjar("import", tmp_path / "runs", "--dry-run")
    assert done.returncode == 0, done.stderr
    row = done.stdout.splitlines()[1].split()
    assert row == ["imported", "torchbench", "16", "20", "320", "2026-01-01", "2026-01-20"]
    assert "40 files read, 0 not read" in done.stdout


def write_metrics(folder, nights, **metrics):
    """A TorchBench file a night; a metric is a function of the night."""
    folder.mkdir(parents=True)
    for night in range(nights):
        day = f"2026-{1 + night // 28:02d}-{1 + night % 28:02d}"
        text = json.dumps({"name": "llm", "environ": {"device": "A100 of the lab"}, "metrics": {
            name: of(night) for name, of in metrics.items()}})
        (folder / f"metrics-{day.replace('-', '')}073000.json").write_text(text)


def test_a_name_or_an_option_says_which_way_is_better_and_else_nothing_is_judged(make_world):
    def falls(night):
        return 100 * (.85 if night >= 15 else 1) * (1 + .002 * (night * 7 % 5 - 2))
    world = make_world()
    world.start_daemon()
    write_metrics(world.folder / "runs", 30, tokens_per_second=falls, odd=falls, even=falls)
    (world.folder / "runs/notes.txt").write_text("")
    first = nightjar("import", world.folder / "runs", "--dry-run", "--lower", "even")
    said = {line.split("  ")[0]: line.split("  ")[-1].strip() for line in first.stdout.splitlines()}
    assert (said["tokens_per_second"], said["even"]) == ("higher is better", "lower is better")
    assert said["odd"] == "not known: it is not judged"
    assert "30 files read, 0 not read, 1 skipped" in first.stdout
    done = nightjar(*arguments(world, world.folder / "runs"), "--lower", "even")
    assert done.returncode == 0, done.stderr
    world.wait("the history to be judged", lambda: judged(world), 60)
    [worse] = world.items("regressions")
    assert worse["series"][0]["workload"].split("/")[1] == "tokens_per_second"
    by_metric = {one["metric"]: one["direction"] for one in world.items("series")}
    assert by_metric == {"imported_rate": "higher_is_better", "imported_cost": "lower_is_better",
                         "imported_value": "unknown"}
    [better] = world.items("improvements")
    assert better["metric"] == "imported_cost"


def test_what_cannot_be_read_is_named_and_the_rest_is_taken(imported):
    why = "it is of no format that is known here"
    [line] = imported.errors.splitlines()
    assert line.startswith("nightjar: not read: ") and line.endswith(f"runs/README.json: {why}")
    [unread] = imported.said["not_read"]
    assert unread["file"].endswith("runs/README.json") and unread["reason"] == why
    assert imported.said["stored"][0]["nights"] == 40
    assert imported.said["stored"][0]["added"] == 640


def test_dynamos_word_is_kept_with_the_run(imported):
    runs = imported.get("/api/v1/runs?limit=200")["items"]
    of_failures = [run for run in runs if "failures" in run["values"]]
    assert of_failures and {run["accuracy"] for run in of_failures} == {"pass"}
    assert {run["accuracy"] for run in runs if run not in of_failures} == {None}


def test_nothing_to_read_is_wrong_use(tmp_path):
    (tmp_path / "a.json").write_text("[1, 2")
    done = nightjar("import", tmp_path, "--dry-run")
    assert done.returncode == 2 and "no result was found in it" in done.stderr
    assert nightjar("import", tmp_path / "none", "--dry-run").returncode == 2
    assert nightjar("import", "nonsense", tmp_path, "--dry-run").returncode == 2
    assert "--to and --token-file" in nightjar("import", tmp_path).stderr


def test_a_service_that_is_away_or_refuses_says_so(imported, tmp_path):
    write_history(tmp_path / "runs", 1, ["alexnet"])
    given = arguments(imported, tmp_path / "runs")
    given[3] = "http://127.0.0.1:9"
    done = nightjar(*given)
    assert done.returncode == 3 and "the same command goes on from here" in done.stderr
    given = arguments(imported, tmp_path / "runs")
    given[5] = imported.folder / "read.token"
    done = nightjar(*given)
    assert done.returncode == 2 and "403" in done.stderr


@pytest.mark.first
def test_the_planted_step_is_found_and_nobody_is_blamed(imported):
    found = imported.items("regressions")
    by_metric = {one["series"][0]["metric"]: one for one in found}
    assert set(by_metric) == {"latency", "speedup"}, found
    latency = by_metric["latency"]
    assert latency["state"] == "historical"
    assert latency["series"][0]["workload"] == "torchbench/alexnet/train/cuda/amp/b8/inductor"
    assert latency["culprit"] is None
    night = imported.get(f"/api/v1/builds/{latency['bad']['id']}")
    assert night["date"] == "2026-01-26" and night["commit"] == f"{26:040x}"
    assert imported.issues() == []
    assert imported.items("jobs") == [] or all(
        job["state"] == "done" for job in imported.items("jobs"))


def test_what_was_imported_is_marked_as_such(imported):
    assert {one["variant"] for one in imported.items("series")} == {"imported"}
    assert {one["trigger"] for one in imported.items("nights")} == {"imported"}
    assert {one["state"] for one in imported.items("builds")} == {"imported"}
    (one,) = imports(imported)
    assert (one["name"], one["nights"], one["series"], one["findings"]) == ("imported", 40, 16, 2)


def test_the_finding_is_verified_from_its_evidence(imported):
    for one in imported.items("regressions"):
        bundle = imported.get(f"/api/v1/regressions/{one['id']}/evidence", raw=True)
        done = subprocess.run([BIN / "nightjar", "verify", "-"], input=bundle, capture_output=True,
                              timeout=60)
        assert done.returncode == 0, done.stdout.decode() + done.stderr.decode()
        assert b"history" in done.stdout and b"none is accused" in done.stdout
        edited = json.loads(bundle)
        edited["changes"][0]["evidence"]["medians"][30] *= 2
        done = subprocess.run([BIN / "nightjar", "verify", "-"], input=json.dumps(edited),
                              capture_output=True, text=True, timeout=60)
        assert done.returncode == 1, done.stdout


def test_a_second_import_adds_nothing_and_later_nights_are_added(imported):
    again = json.loads(nightjar(*arguments(imported, imported.folder / "runs")).stdout)
    assert (again["stored"][0]["nights"], again["stored"][0]["added"],
            again["stored"][0]["known"]) == (0, 0, 640)
    write_history(imported.folder / "runs", 2, ["alexnet", "dlrm"], step=25, first=40)
    more = json.loads(nightjar(*arguments(imported, imported.folder / "runs")).stdout)
    assert (more["stored"][0]["nights"], more["stored"][0]["added"]) == (2, 32)
    imported.wait("the later nights to be judged", lambda: judged(imported), 60)
    assert len(imported.items("regressions")) == 2


def test_a_restart_keeps_it(imported):
    before = imported.items("regressions")
    imported.kill("nightjard", signal.SIGTERM)
    imported.start_daemon_again()
    assert imported.items("regressions") == before


def test_an_import_that_the_service_dies_in_is_completed_by_the_next(make_world):
    world = make_world()
    world.start_daemon()
    models = [f"model{number}" for number in range(50)]
    write_history(world.folder / "runs", 60, models)
    given = arguments(world, world.folder / "runs")
    with subprocess.Popen([BIN / "nightjar", *map(str, given)], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True) as client:
        world.wait("the first nights", lambda: imports(world))
        world.kill("nightjard")
        _, errors = client.communicate(timeout=60)
    assert client.returncode == 3 and "the same command goes on from here" in errors
    world.start_daemon_again()
    begun = imports(world)[0]["nights"]
    assert 0 < begun < 60
    done = nightjar(*given)
    assert done.returncode == 0, done.stderr
    (stored,) = json.loads(done.stdout)["stored"]
    assert stored["added"] + stored["known"] == 60 * 50 * 8
    assert stored["differing"] == 0 and stored["known"] > 0
    (one,) = imports(world)
    assert (one["nights"], one["series"]) == (60, 400)
