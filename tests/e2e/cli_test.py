"""The program `nightjar`: real series, real repositories, real commands."""

import json
import os
import pathlib
import random
import signal
import subprocess
import time

import pytest

BIN = pathlib.Path(os.environ.get("NIGHTJAR_BIN", pathlib.Path(__file__).resolve().parents[2] / "build" / "bin"))
CULPRIT = 25
# A number that only the commit decides, with 2 % noise.
# The scatter of a commit's k-th run is always the same one.
MEASURE = ("""python3 -c "import random; n = int(open('n').read()); """
           """log = open('measured', 'a'); random.seed(1000 * n + log.tell()); log.write('.'); """
           """print((1.2 if n >= %d else 1) * random.lognormvariate(0, .02))" """ % CULPRIT)


def nightjar(*arguments, **options):
    return subprocess.run([BIN / "nightjar", *map(str, arguments)], capture_output=True, text=True, timeout=300, **options)


def git(folder, *arguments):
    return subprocess.run(["git", "-c", "user.name=n", "-c", "user.email=n@n", "-C", folder, *arguments], check=True,
                          capture_output=True, text=True).stdout.strip()


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    folder = tmp_path_factory.mktemp("history")
    git(folder, "init", "-q", "-b", "main")
    for number in range(31):
        (folder / "n").write_text(str(number))
        git(folder, "add", "n")
        git(folder, "commit", "-qm", f"commit {number}")
    return folder


def bisect(repository, *arguments, good="HEAD~30", bad="HEAD"):
    return nightjar("bisect", "run", "--repo", repository, "--good", good, "--bad", bad, *arguments)


def everything_in(folder):
    return sorted((str(path.relative_to(folder)), path.stat().st_mtime_ns) for path in folder.rglob("*"))


def test_a_noisy_culprit_is_found_and_the_repository_untouched(repository, tmp_path):
    (repository / "dirty").write_text("not committed")
    before = everything_in(repository)
    done = subprocess.run([BIN / "nightjar", "bisect", "run", "--repo", repository, "--good", "HEAD~30", "--bad", "HEAD",
                           "--build", "test $(cat n) != 20 && touch built", "--measure", "test -e built && " + MEASURE,
                           "--json"], capture_output=True, text=True, timeout=300,
                          env={**os.environ, "TMPDIR": str(tmp_path)})
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer["outcome"] == "culprit"
    assert answer["culprits"][0]["commits"] == [git(repository, "rev-parse", "HEAD~5")]
    assert answer["culprits"][0]["probability"] > 0.97
    change = answer["culprits"][0]["change"]
    assert change["low"] < 1.2 < change["high"] and change["low"] <= change["ratio"] <= change["high"]
    assert answer["runs"] >= 15 and 3 <= answer["builds"] <= 15
    assert everything_in(repository) == before
    assert list(tmp_path.iterdir()) == []  # work trees are gone


def test_several_builds_run_at_once_and_measures_one_at_a_time(repository, tmp_path):
    log = tmp_path / "log"
    noted = "echo $(date +%s.%N) {} >> " + str(log) + "; "
    build = noted.format("+b") + "sleep 0.5; " + noted.format("-b") + "test $(cat n) != 20"
    measure = noted.format("+m") + noted.format("-m") + MEASURE
    done = bisect(repository, "--jobs", 3, "--build", build, "--measure", measure, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["culprits"][0]["commits"] == [git(repository, "rev-parse", "HEAD~5")]
    running, most = {"b": 0, "m": 0}, {"b": 0, "m": 0}
    for line in sorted(log.read_text().splitlines()):
        sign, kind = line.split()[1]
        running[kind] += 1 if sign == "+" else -1
        most[kind] = max(most[kind], running[kind])
        assert sign == "-" or kind == "b" or running["b"] == 0  # nothing compiles while something measures
    assert most == {"b": 3, "m": 1}


def test_nobody_is_blamed_where_nothing_changed(repository):
    done = bisect(repository, "--measure", MEASURE, "--json", good="HEAD~30", bad="HEAD~10")
    assert done.returncode == 1, done.stderr
    assert json.loads(done.stdout)["outcome"] == "not_reproduced"
    assert json.loads(done.stdout)["culprits"] == []


def test_a_search_that_was_stopped_goes_on(repository, tmp_path):
    state = tmp_path / "state.json"
    arguments = ["--state", state, "--measure", "sleep 0.1; " + MEASURE]
    process = subprocess.Popen([BIN / "nightjar", "bisect", "run", "--repo", repository, "--good", "HEAD~30", "--bad",
                                "HEAD", *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                               env={**os.environ, "TMPDIR": str(tmp_path)})
    while not state.exists() or len(json.loads(state.read_text())["runs"]) < 4:
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    assert "--state" in process.communicate(timeout=30)[1].splitlines()[-1]
    assert process.returncode == 3
    assert list(tmp_path.iterdir()) == [state]
    first = json.loads(state.read_text())["runs"]
    done = bisect(repository, *arguments, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(state.read_text())["runs"][:len(first)] == first
    other = bisect(repository, "--state", state, "--measure", "echo 1")
    assert (other.returncode, "another search" in other.stderr) == (2, True)


@pytest.mark.parametrize("measure, words", [
    ("true", "printed nothing"), ("echo fast", "printed 'fast'"), ("echo nan", "positive and finite"),
    ("echo -- -3", "one number"), ("echo 0", "positive and finite"), ("echo 1 2", "printed '1 2'"),
    ("exit 1", "exit code 1"), ("kill -9 $$", "signal 9"), ("exit 125", "cannot be tested"),
    ("yes | head -c 20000000", "output"),
])
def test_a_measure_that_is_none_is_one_clear_line(repository, measure, words):
    done = bisect(repository, "--measure", measure)
    assert done.returncode == 3
    assert words in done.stderr.splitlines()[-1]


@pytest.mark.parametrize("arguments, words", [
    (dict(good="HEAD", bad="HEAD~3"), "swapped"), (dict(good="no-such"), "no such commit"),
    (dict(good="HEAD"), "same commit"), (dict(good="--version"), "no such commit"),
])
def test_ends_that_cannot_be_are_one_clear_line(repository, arguments, words):
    done = bisect(repository, "--measure", "echo 1", **arguments)
    assert done.returncode == 2
    assert words in done.stderr and len(done.stderr.splitlines()) == 1


def test_a_shallow_clone_says_what_to_do(repository, tmp_path):
    git(tmp_path, "clone", "-q", "--depth", "3", f"file://{repository}", "shallow")
    git(tmp_path / "shallow", "fetch", "-q", "--depth", "1", "origin", git(repository, "rev-parse", "HEAD~9"))
    done = bisect(tmp_path / "shallow", "--measure", "echo 1", good=git(repository, "rev-parse", "HEAD~9"))
    assert done.returncode == 2
    assert "--unshallow" in done.stderr


def series(path, levels):
    noise = random.Random(7)
    rows = [f"{position},{level * noise.lognormvariate(0, 0.01)}" for position, level in enumerate(levels) for _ in range(3)]
    path.write_text("position,value\n" + "\n".join(rows) + "\n")
    return path


def test_detect_finds_the_step_and_its_direction(tmp_path):
    file = series(tmp_path / "a.csv", [100] * 30 + [115] * 30)
    answer = json.loads(nightjar("detect", file, "--json").stdout)
    assert (answer["positions"], answer["points"], len(answer["changes"])) == (60, 180, 1)
    change = answer["changes"][0]
    assert (change["position"], change["verdict"]) == (30, "worse")
    assert change["low"] < 1.15 < change["high"]
    higher = json.loads(nightjar("detect", file, "--json", "--direction", "higher").stdout)
    assert higher["changes"][0]["verdict"] == "better"
    assert json.loads(nightjar("detect", file, "--json", "--threshold", "20%").stdout)["changes"] == []
    assert "no change" in nightjar("detect", series(tmp_path / "b.csv", [100] * 60)).stdout


@pytest.mark.parametrize("text", ["", "a,b\n1,2\n", "position,value\n1\n", "position,value\n1,x\n", "position,value\n1,-2\n",
                                  "position,value\n1,nan\n"])
def test_a_series_that_is_none_names_file_and_line(tmp_path, text):
    file = tmp_path / "series.csv"
    file.write_text(text)
    done = nightjar("detect", file)
    assert done.returncode == 2
    assert str(file) in done.stderr and len(done.stderr.splitlines()) == 1


def metrics(path, **values):
    path.write_text(json.dumps({"name": "x", "environ": {}, "metrics": values}))
    return path


def test_compare_tells_worse_from_noise(tmp_path):
    noise = random.Random(3)
    files = {side: [metrics(tmp_path / f"{side}{i}.json", eval_latency=level * noise.lognormvariate(0, .01),
                            train_latency=5 * noise.lognormvariate(0, .01), throughput=level) for i in range(10)]
             for side, level in (("control", 10), ("treatment", 12))}
    arguments = ["compare", "--control", *files["control"], "--treatment", *files["treatment"]]
    rows = {row["metric"]: row["verdict"] for row in json.loads(nightjar(*arguments, "--format", "json").stdout)["metrics"]}
    assert rows == {"eval_latency": "worse", "train_latency": "same", "throughput": "better"}
    assert nightjar(*arguments).returncode == 0
    assert nightjar(*arguments, "--fail-on", "worse").returncode == 1
    assert nightjar(*arguments, "--format", "markdown").stdout.startswith("| metric")
    (tmp_path / "broken.json").write_text("{")
    broken = nightjar("compare", "--control", tmp_path / "broken.json", "--treatment", files["control"][0])
    assert broken.returncode == 2 and "broken.json" in broken.stderr


def test_help_and_version_and_wrong_use():
    assert nightjar("--version").stdout.startswith("nightjar ")
    assert "Example" in nightjar("bisect", "run", "--help").stdout
    for arguments in ([], ["frobnicate"], ["detect"], ["bisect"], ["bisect", "run"]):
        assert nightjar(*arguments).returncode == 2, arguments
