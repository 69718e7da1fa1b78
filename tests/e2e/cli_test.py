"""The program `nightjar`: real series, real repositories, real commands."""

import json
import os
import pathlib
import random
import re
import signal
import subprocess
import time
import xml.etree.ElementTree as xml

import pytest

BIN = pathlib.Path(
    os.environ.get("NIGHTJAR_BIN",
                   pathlib.Path(__file__).resolve().parents[2] / "build" / "bin"))
CULPRIT = 25


def measure(level, noise=.02):
    """A number that only the commit `n` decides, with noise: the scatter of a commit's k-th run is
    always the same one."""
    return ("""python3 -c "import random; n = int(open('n').read()); """
            """log = open('measured', 'a'); random.seed(1000 * n + log.tell()); log.write('.'); """
            f"""print(({level}) * random.lognormvariate(0, {noise}))" """)


MEASURE = measure(f"1.2 if n >= {CULPRIT} else 1")


def nightjar(*arguments, **options):
    return subprocess.run([BIN / "nightjar", *map(str, arguments)], capture_output=True, text=True,
                          timeout=300, **options)


def git(folder, *arguments):
    return subprocess.run(
        ["git", "-c", "user.name=n", "-c", "user.email=n@n", "-C", folder, *arguments], check=True,
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
    return sorted(
        (str(path.relative_to(folder)), path.stat().st_mtime_ns) for path in folder.rglob("*"))


@pytest.mark.first
def test_a_noisy_culprit_is_found_and_the_repository_untouched(repository, tmp_path):
    (repository / "dirty").write_text("not committed")
    before = everything_in(repository)
    done = subprocess.run([
        BIN / "nightjar", "bisect", "run", "--repo", repository, "--good", "HEAD~30", "--bad",
        "HEAD", "--build", "test $(cat n) != 20 && touch built", "--measure",
        "test -e built && " + MEASURE, "--json"], capture_output=True, text=True, timeout=300,
                          env={**os.environ, "TMPDIR": str(tmp_path)})
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer["outcome"] == "culprit"
    assert answer["culprits"][0]["commits"] == [git(repository, "rev-parse", "HEAD~5")]
    assert answer["culprits"][0]["probability"] > 0.97
    change = answer["culprits"][0]["change"]
    assert change["low"] < 1.2 < change["high"] and change["low"] <= change["ratio"] <= change[
        "high"]
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
    assert json.loads(done.stdout)["culprits"][0]["commits"] == [
        git(repository, "rev-parse", "HEAD~5")]
    running, most = {"b": 0, "m": 0}, {"b": 0, "m": 0}
    for line in sorted(log.read_text().splitlines()):
        sign, kind = line.split()[1]
        running[kind] += 1 if sign == "+" else -1
        most[kind] = max(most[kind], running[kind])
        assert sign == "-" or kind == "b" or running[
            "b"] == 0  # nothing compiles while something measures
    assert most == {"b": 3, "m": 1}


def test_nobody_is_blamed_where_nothing_changed(repository):
    done = bisect(repository, "--measure", MEASURE, "--json", good="HEAD~30", bad="HEAD~10")
    assert done.returncode == 1, done.stderr
    assert json.loads(done.stdout)["outcome"] == "not_reproduced"
    assert json.loads(done.stdout)["culprits"] == []


def test_nobody_comes_with_both_ends_and_what_would_have_been_seen(repository):
    done = bisect(repository, "--measure", MEASURE, "--json", good="HEAD~30", bad="HEAD~10")
    ends = json.loads(done.stdout)["ends"]
    for end in (ends["good"], ends["bad"]):
        assert end["low"] < 1 < end["high"] and end["low"] < end["location"] < end["high"] and end[
            "runs"] >= 5
    assert ends["change"]["low"] < 1 < ends["change"]["high"]
    assert 1.005 < ends["smallest_seen"] < 1.07
    text = bisect(repository, "--measure", MEASURE, good="HEAD~30", bad="HEAD~10").stdout
    assert f"good end {git(repository, 'rev-parse', 'HEAD~30')[:12]}: 1.0" in text
    assert "would have been seen" in text


def test_a_culprit_comes_with_its_author_its_levels_and_the_command_to_see_it(repository):
    done = bisect(repository, "--measure", MEASURE)
    sha = git(repository, "rev-parse", "HEAD~5")
    lines = [line.strip() for line in done.stdout.splitlines()]
    assert lines[0] == f"{sha} commit 25"
    assert lines[1] == "n, " + git(repository, "log", "-1", "--format=%as", sha)
    assert lines[2].startswith("before: 1.0") or lines[2].startswith("before: 0.99")
    assert lines[3].startswith("after:  1.") and lines[4].startswith(
        "change: +") and " to " in lines[4]
    assert lines[5] == f"to see it: git -C {repository} show {sha[:12]}"
    (culprit,) = json.loads(bisect(repository, "--measure", MEASURE, "--json").stdout)["culprits"]
    assert culprit["facts"] == [{"subject": "commit 25", "author": "n", "date": lines[1][3:],
                                 "is_merge": False}]
    assert culprit["before"]["high"] < 1.1 < culprit["after"]["low"]


def test_an_improvement_is_said_and_found_when_asked_for(repository):
    better = measure("1 if n < 25 else .89")
    denied = bisect(repository, "--measure", better, "--json")
    assert denied.returncode == 1
    answer = json.loads(denied.stdout)
    assert answer["outcome"] == "not_reproduced" and answer["ends"]["change"]["high"] < .95
    assert answer["rule"].startswith("the level fell by 1") and "--find better" in answer["rule"]
    assert "nothing got worse" in bisect(repository, "--measure", better).stdout
    found = json.loads(bisect(repository, "--measure", better, "--find", "better", "--json").stdout)
    assert found["culprits"][0]["commits"] == [git(repository, "rev-parse", "HEAD~5")]
    change = found["culprits"][0]["change"]
    assert change["low"] < .89 < change["high"] and change["low"] < change["ratio"] < change["high"]
    worse = json.loads(
        bisect(repository, "--measure", MEASURE, "--find", "better", "--json").stdout)
    assert worse["culprits"] == [] and "the level rose by" in worse[
        "rule"] and "--find worse" in worse["rule"]


def test_a_step_below_the_threshold_is_told_and_named_only_when_asked_for(repository):
    small = measure("1.045 if n >= 25 else 1", .01)
    done = bisect(repository, "--measure", small, "--json")
    assert done.returncode == 1, done.stderr
    answer = json.loads(done.stdout)
    assert (answer["outcome"], answer["culprits"], answer["contributors"]) == ("below_threshold",
                                                                               [], [])
    (step,) = answer["smaller_steps"]
    assert step["commits"] == [git(repository, "rev-parse", "HEAD~5")
                               ] and 1.03 < step["change"]["ratio"] < 1.06
    text = bisect(repository, "--measure", small).stdout
    assert f"at {step['commits'][0][:12]} commit 25; below 7 %" in text
    advised = text.split("to have it named: --threshold ")[1].split()[0]
    named = json.loads(
        bisect(repository, "--measure", small, "--threshold", advised, "--json").stdout)
    assert [culprit["commits"] for culprit in named["culprits"]] == [step["commits"]]


@pytest.mark.parametrize("threshold", ["200%", "700%"])
def test_ends_that_differ_are_below_even_a_very_large_threshold(repository, threshold):
    answer = json.loads(
        bisect(repository, "--measure", measure("1.31 if n >= 25 else 1", .01), "--threshold",
               threshold, "--json").stdout)
    assert (answer["outcome"], answer["culprits"]) == ("below_threshold", [])
    assert answer["rule"].startswith(
        "the ends differ by +") and f"below the threshold of {threshold[:-1]} %" in answer["rule"]
    fell = json.loads(
        bisect(repository, "--measure", measure("1 if n >= 25 else 1.31", .01), "--threshold",
               threshold, "--json").stdout)
    assert fell["outcome"] == "not_reproduced"


def test_a_small_improvement_is_told_with_the_sizes_of_the_number_itself(repository):
    small = measure("1 if n < 25 else .96", .01)
    answer = json.loads(bisect(repository, "--measure", small, "--find", "better", "--json").stdout)
    assert answer["outcome"] == "below_threshold" and answer["rule"].startswith(
        "the largest step is -")
    (step,) = answer["smaller_steps"]
    change = step["change"]
    said = [float(figure) for figure in re.findall(r"[-+]?\d+\.\d", answer["rule"])[:3]]
    assert said == pytest.approx([100 * change[name] - 100 for name in ("ratio", "low", "high")],
                                 abs=.06)


def test_steps_that_reach_the_threshold_only_together_are_contributors(repository):
    done = bisect(repository, "--measure",
                  measure("(1.045 if n >= 10 else 1) * (1.045 if n >= 20 else 1)", .01), "--json")
    assert done.returncode == 1, done.stderr
    answer = json.loads(done.stdout)
    assert (answer["outcome"], answer["culprits"]) == ("several_small", [])
    assert [step["commits"] for step in answer["contributors"]
            ] == [[git(repository, "rev-parse", f"HEAD~{n}")] for n in (20, 10)]


def test_a_throughput_is_searched_for_what_lowered_it(repository):
    throughput = measure("100 if n < 25 else 85")
    done = bisect(repository, "--measure", throughput, "--direction", "higher")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(git(repository, "rev-parse",
                                      "HEAD~5")) and "change: -1" in done.stdout
    answer = json.loads(
        bisect(repository, "--measure", throughput, "--direction", "higher", "--json").stdout)
    assert answer["culprits"][0]["change"]["high"] < 1 and answer["ends"]["smallest_seen"] < 1


def test_a_threshold_without_its_sign_is_refused_by_every_command(repository, tmp_path):
    file = series(tmp_path / "a.csv", [100] * 30)
    metric = metrics(tmp_path / "m.json", latency=1)
    for arguments in ([
            "bisect", "run", "--repo", repository, "--good", "HEAD~9", "--bad", "HEAD", "--measure",
            MEASURE], ["detect", file], ["compare", "--control", metric, "--treatment", metric]):
        done = nightjar(*arguments, "--threshold", "7")
        assert (done.returncode,
                done.stderr) == (2, "nightjar: --threshold '7' is no share; did you mean 7%?\n")


@pytest.mark.parametrize("state, words", [("no/such/state.json", "no folder"),
                                          (".", "it is a folder"), ("pipe", "no regular file")])
def test_a_place_that_cannot_hold_the_search_is_refused_before_anything_is_measured(
        repository, tmp_path, state, words):
    os.mkfifo(tmp_path / "pipe")
    done = bisect(repository, "--state", tmp_path / state, "--measure",
                  f"echo x >> {tmp_path}/measured; echo 1")
    assert done.returncode == 2 and words in done.stderr and len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "measured").exists()


@pytest.mark.parametrize("option, value, said", [("--find", "better", "worse"),
                                                 ("--direction", "higher", "lower"),
                                                 ("--threshold", "20%", "0.07")])
def test_a_search_is_not_continued_as_another_one(repository, tmp_path, option, value, said):
    state = tmp_path / "state.json"
    assert bisect(repository, "--state", state, "--measure", MEASURE).returncode == 0
    before = state.read_text()
    done = bisect(repository, "--state", state, "--measure", MEASURE, option, value)
    assert done.returncode == 2 and said in done.stderr
    assert f"another search, whose {option} is" in done.stderr
    assert state.read_text() == before


def test_an_interrupted_search_in_json_prints_nothing_else(repository, tmp_path):
    began = tmp_path / "began"
    process = subprocess.Popen([
        BIN / "nightjar", "bisect", "run", "--repo", repository, "--good", "HEAD~30", "--bad",
        "HEAD", "--json", "--build", "echo building", "--measure",
        f"echo some text; touch {began}; sleep 60"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               text=True, start_new_session=True)
    while not began.exists():
        assert process.poll() is None
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGINT)
    out, errors = process.communicate(timeout=30)
    assert (out, process.returncode) == ("", 1)
    assert errors.splitlines()[-1] == "nightjar: stopped; nothing was measured"


@pytest.mark.first
def test_a_search_that_was_stopped_goes_on(repository, tmp_path):
    state = tmp_path / "state.json"
    arguments = ["--state", state, "--measure", "sleep 0.1; " + MEASURE]
    process = subprocess.Popen([
        BIN / "nightjar", "bisect", "run", "--repo", repository, "--good", "HEAD~30", "--bad",
        "HEAD", *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                               env={**os.environ, "TMPDIR": str(tmp_path)})
    while not state.exists() or len(json.loads(state.read_text())["runs"]) < 4:
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    said = process.communicate(timeout=30)[1].splitlines()[-1]
    assert said == f"nightjar: stopped; the same command goes on from --state {state}"
    assert process.returncode == 1
    assert list(tmp_path.iterdir()) == [state]
    first = json.loads(state.read_text())["runs"]
    done = bisect(repository, *arguments, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(state.read_text())["runs"][:len(first)] == first
    other = bisect(repository, "--state", state, "--measure", "echo 1")
    assert (other.returncode, "another search" in other.stderr) == (2, True)


@pytest.mark.parametrize("measure, words", [("true", "printed nothing"),
                                            ("echo fast", "printed 'fast'"),
                                            ("echo nan", "positive and finite"),
                                            ("echo -- -3", "one number"),
                                            ("echo 0", "positive and finite"),
                                            ("echo 1 2", "printed '1 2'"),
                                            ("exit 1", "exit code 1"),
                                            ("python3 ../bench.py", "absolute path"),
                                            ("no-such-bench", "absolute path"),
                                            ("kill -9 $$", "signal 9"),
                                            ("exit 125", "cannot be tested"),
                                            ("yes | head -c 20000000", "output"), ])
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


def test_ends_of_two_branches_say_where_they_part(repository, tmp_path):
    git(tmp_path, "clone", "-q", f"file://{repository}", "both")
    both = tmp_path / "both"
    git(both, "checkout", "-q", "-b", "release", "HEAD~9")
    git(both, "commit", "-q", "--allow-empty", "-m", "released")
    done = bisect(both, "--measure", "echo 1", good="release", bad="main")
    base = git(both, "rev-parse", "main~9")[:12]
    assert done.returncode == 2 and done.stderr.endswith(
        f"no ancestor of the bad one; take {base}, where the branches part\n")


@pytest.mark.parametrize("measure", ["", "  "])
def test_an_empty_measure_is_wrong_use(repository, measure):
    done = bisect(repository, "--measure", measure)
    assert (done.returncode, "--measure is empty"
            in done.stderr, len(done.stderr.splitlines())) == (2, True, 1)


def test_the_answer_in_json_names_its_ends_and_its_question(repository):
    answer = json.loads(bisect(repository, "--measure", MEASURE, "--json").stdout)
    assert (answer["good"], answer["bad"]) == (git(repository, "rev-parse",
                                                   "HEAD~30"), git(repository, "rev-parse", "HEAD"))
    assert (answer["threshold"], answer["direction"]) == (.07, "lower")


def test_an_answer_says_its_runs_once_and_progress_nothing_before_the_first(repository):
    done = bisect(repository, "--measure", MEASURE)
    assert done.stderr.splitlines()[1] == "0 runs"
    last = done.stdout.split("  to see it:")[1].split("\n", 1)[1]
    assert re.match(r"\d+ runs: P\(", last) and last.count("runs") == 1
    assert all(len(line) <= 100 for line in last.splitlines())


def test_a_shallow_clone_says_what_to_do(repository, tmp_path):
    git(tmp_path, "clone", "-q", "--depth", "3", f"file://{repository}", "shallow")
    git(tmp_path / "shallow", "fetch", "-q", "--depth", "1", "origin",
        git(repository, "rev-parse", "HEAD~9"))
    done = bisect(tmp_path / "shallow", "--measure", "echo 1",
                  good=git(repository, "rev-parse", "HEAD~9"))
    assert done.returncode == 2
    assert "--unshallow" in done.stderr


def series(path, levels):
    noise = random.Random(7)
    rows = [
        f"{position},{level * noise.lognormvariate(0, 0.01)}"
        for position, level in enumerate(levels)
        for _ in range(3)]
    path.write_text("position,value\n" + "\n".join(rows) + "\n")
    return path


@pytest.mark.first
def test_detect_finds_the_step_and_its_direction(tmp_path):
    file = series(tmp_path / "a.csv", [100] * 30 + [115] * 30)
    answer = json.loads(nightjar("detect", file, "--json").stdout)
    assert (answer["positions"], answer["points"], len(answer["changes"])) == (60, 180, 1)
    change = answer["changes"][0]
    assert (change["position"], change["verdict"]) == (30, "worse")
    assert change["low"] < 1.15 < change["high"]
    higher = json.loads(nightjar("detect", file, "--json", "--direction", "higher").stdout)
    assert higher["changes"][0]["verdict"] == "better"
    assert json.loads(nightjar("detect", file, "--json", "--threshold",
                               "20%").stdout)["changes"] == []
    assert "no change" in nightjar("detect", series(tmp_path / "b.csv", [100] * 60)).stdout


def test_detect_fails_on_a_worsening_if_asked(tmp_path):
    file = series(tmp_path / "a.csv", [100] * 30 + [115] * 30)
    assert nightjar("detect", file).returncode == 0
    assert nightjar("detect", file, "--fail-on", "worse").returncode == 1
    assert nightjar("detect", file, "--fail-on", "worse", "--direction", "higher").returncode == 0
    nightjar("detect", file, "--badge", tmp_path / "badge.json")
    badge = json.loads((tmp_path / "badge.json").read_text())
    assert re.fullmatch(r"\+1\d\.\d % at 30", badge["message"]) and badge["color"] == "red"


SPIKE = "nor can a level of fewer than 5 positions, wherever it lies: it counts as a spike"


@pytest.mark.parametrize("length, changed", [(20, 1), (20, 4), (20, 16), (20, 19), (12, 4)])
def test_detect_says_where_it_cannot_see_a_change(tmp_path, length, changed):
    file = series(tmp_path / "a.csv", [100] * (length - changed) + [130] * changed)
    done = nightjar("detect", file)
    assert done.stdout.splitlines() == [
        "no change; a change in the newest 4 positions cannot be told yet: at least 5 positions "
        "from it on are needed",
        "nor can one in the first 5: at least 5 positions before it are needed", SPIKE]
    answer = json.loads(nightjar("detect", file, "--json").stdout)
    assert (answer["changes"], answer["from_first_to_last"]) == ([], None)
    assert answer["unseen"] == {"first": 5, "newest": 4, "between": []}


def test_detect_sees_a_change_as_soon_as_it_says(tmp_path):
    for length in (10, 16, 20, 60):
        for changed in (5, length - 5):
            file = series(tmp_path / "a.csv", [100] * (length - changed) + [130] * changed)
            assert len(json.loads(nightjar("detect", file,
                                           "--json").stdout)["changes"]) == 1, (length, changed)
    found = nightjar("detect", series(tmp_path / "b.csv", [100] * 30 + [130] * 9)).stdout
    assert "worse" in found
    assert "a further change in the newest 8 positions cannot be told yet" in found


def test_detect_does_not_call_a_short_series_unchanged(tmp_path):
    done = nightjar("detect", series(tmp_path / "a.csv", [100] * 5 + [115] * 4), "--fail-on",
                    "worse")
    assert (done.returncode,
            done.stdout) == (0, "too few positions to tell: 9, at least 10 are needed\n")
    assert json.loads(nightjar("detect", tmp_path / "a.csv",
                               "--json").stdout)["least_positions"] == 10


@pytest.mark.parametrize("positions", [5, 6, 8, 13, 20])
def test_detect_sees_a_regression_that_was_repaired(tmp_path, positions):
    file = series(tmp_path / "a.csv", [100] * 30 + [160] * positions + [100] * 30)
    answer = json.loads(nightjar("detect", file, "--json").stdout)
    assert [(change["position"], change["verdict"]) for change in answer["changes"]
            ] == [(30, "worse"), (30 + positions, "better")]
    between = [{"first": 30, "last": 29 + positions}]
    assert answer["unseen"]["between"] == (between if positions < 13 else [])
    words = nightjar("detect", file).stdout.splitlines()
    assert words[-1] == SPIKE
    assert (words[-2] == "nor can a further one between two changes that are so near: 30 to "
            f"{29 + positions}") == (positions < 13)


def test_what_was_found_stays_when_a_few_positions_are_back(tmp_path):
    for back in (0, 1, 2, 3, 4):
        file = series(tmp_path / "a.csv", [100] * 40 + [160] * 6 + [100] * back)
        answer = json.loads(nightjar("detect", file, "--json").stdout)
        assert [change["position"] for change in answer["changes"]] == [40], back


@pytest.mark.parametrize("levels", [
    [100] * 20 + [104] * 20 + [108] * 20 + [112] * 20,
    [100 * (1 + .3 * i / 100) for i in range(100)],
    [100 * (1 + .15 * i / 200) for i in range(200)]], ids=["stairs", "ramp", "slow ramp"])
def test_detect_says_what_small_steps_come_to(tmp_path, levels):
    file = series(tmp_path / "a.csv", levels)
    said = nightjar("detect", file, "--fail-on", "worse")
    assert said.returncode == 1
    assert re.search(r"^from first to last: \+\d+\.\d % \(.*\), .* in \d steps: worse$",
                     said.stdout, re.M)
    whole = json.loads(nightjar("detect", file, "--json").stdout)["from_first_to_last"]
    assert whole["verdict"] == "worse" and whole["steps"] > 1
    assert whole["low"] > 1.07 and whole["ratio"] == pytest.approx(levels[-1] / 100, rel=.04)
    assert nightjar("detect", file, "--fail-on", "worse", "--direction", "higher").returncode == 0


def test_detect_says_what_the_threshold_hides(tmp_path):
    file = series(tmp_path / "a.csv", [100] * 30 + [104] * 30)
    said = nightjar("detect", file).stdout.splitlines()[0]
    assert re.fullmatch(
        r"no change of the threshold, 7 %; a smaller one was seen at 30: \+4\.\d % \(.*\)", said)
    answer = json.loads(nightjar("detect", file, "--json").stdout)
    assert answer["changes"] == [] and answer["below_threshold"]["position"] == 30


def test_detect_reads_standard_input_and_commits_as_positions(tmp_path):
    rows = series(tmp_path / "a.csv", [100] * 30 + [115] * 30).read_text().splitlines()[1:]
    by_commit = [f"{999 - int(row.split(',')[0]):x}e,{row.split(',')[1]}" for row in rows]
    text = "\ufeff" + "\r\n".join(by_commit) + "\r\n"
    answer = json.loads(nightjar("detect", "-", "--json", input=text).stdout)
    assert [change["position"] for change in answer["changes"]] == [f"{999 - 30:x}e"]
    assert f"{999 - 30:x}e" in nightjar("detect", "-", input=text).stdout


def results(folder, shown, names="{:02}.json"):
    """Twenty files of two benchmarks, of which `slow` takes more from the 13th on."""
    folder.mkdir()
    noise = random.Random(5)
    files = []
    for number in range(20):
        files.append(folder / names.format(number))
        files[-1].write_text(json.dumps(shown(number, {
            name: level * noise.lognormvariate(0, .01)
            for name, level in (("even", 3), ("slow", 5 if number < 12 else 7))})))
    return files


def test_detect_makes_series_of_what_benchmark_programs_write(tmp_path):
    def hyperfine(_, values):
        return {"results": [{"command": name, "times": [9 * value, value, value]}
                            for name, value in values.items()]}
    files = results(tmp_path / "h", hyperfine)
    answer = json.loads(nightjar("detect", *files, "--json").stdout)
    even, slow = answer["benchmarks"]
    assert even["benchmark"] == "even" and even["changes"] == []
    assert (slow["benchmark"], slow["unit"], slow["direction"]) == ("slow", "s", "lower")
    assert (slow["positions"], slow["points"], slow["order"]) == (20, 20, "file")
    change, = slow["changes"]
    assert (change["position"], change["verdict"]) == (str(files[12]), "worse")
    badge = tmp_path / "badge.json"
    text = nightjar("detect", *files, "--fail-on", "worse", "--badge", badge)
    assert json.loads(badge.read_text())["message"] == "1 of 2 worse"
    assert text.returncode == 1 and "slow (s):\n" in text.stdout
    assert "1 did not change: even\n" in text.stdout
    assert nightjar("detect", *files, "--fail-on", "worse", "--direction",
                    "higher").returncode == 0
    few = nightjar("detect", *files[:3]).stdout
    assert "2 have too few positions to tell" in few and few.endswith(": even, slow\n")


def test_detect_orders_result_files_by_their_dates_and_commits(tmp_path):
    def asv(number, values):
        return {"commit_hash": f"{99 - number}0ffee", "date": 1_793_534_400_000 + 1000 * number,
                "results": {f"b.{'track' if name == 'slow' else 'time'}_{name}": value
                            for name, value in values.items()}}
    files = results(tmp_path / "asv", asv, "{}.json")
    (tmp_path / "asv" / "machine.json").write_text('{"machine": "m"}')
    again = tmp_path / "asv" / "again.json"
    again.write_text(files[12].read_text())
    for arguments in ([tmp_path / "asv"], [again, *reversed(files)]):
        answer = json.loads(nightjar("detect", *arguments, "--json").stdout)
        _, slow = answer["benchmarks"]
        assert (slow["positions"], slow["points"], slow["order"]) == (20, 21, "dates")
        change, = slow["changes"]
        # Nobody says which way a tracked number is better.
        assert (change["position"], change["verdict"]) == ("870ffee", "changed")
    assert nightjar("detect", tmp_path / "asv", "--fail-on", "worse").returncode == 0
    assert nightjar("detect", tmp_path / "asv", "--fail-on", "worse", "--direction",
                    "lower").returncode == 1


def test_detect_says_which_benchmark_or_file_is_no_part_of_a_series(tmp_path):
    def google(number, values):
        unit = "ns" if number < 12 else "us"
        return {"context": {}, "benchmarks": [
            {"name": "even", "real_time": values["even"] * (1000 if unit == "ns" else 1),
             "time_unit": unit},
            {"name": "slow", "real_time": values["slow"], "time_unit": "" if number else "cycles"},
            {"name": "zero", "real_time": 0, "time_unit": "ns"}]}
    files = results(tmp_path / "g", google)
    answer = json.loads(nightjar("detect", *files, "--json").stdout)
    assert [(one["benchmark"], one["unit"], one["changes"]) for one in answer["benchmarks"]] == [
        ("even", "ns", [])]
    assert [one["benchmark"] for one in answer["left_out"]] == ["slow", "zero"]
    (tmp_path / "a.csv").write_text("1,2\n")
    refused = nightjar("detect", files[0], tmp_path / "a.csv")
    assert refused.returncode == 2 and "a.csv as one of several files" in refused.stderr


@pytest.mark.parametrize("text", [
    "", "a,b\n1,2\n", "position,value\n1\n", "position,value\n1,x\n", "position,value\n1,-2\n",
    "position,value\n1,nan\n", "1,2,3\n"])
def test_a_series_that_is_none_names_file_and_line(tmp_path, text):
    file = tmp_path / "series.csv"
    file.write_text(text)
    done = nightjar("detect", file)
    assert done.returncode == 2
    assert str(file) in done.stderr and len(done.stderr.splitlines()) == 1


def metrics(path, **values):
    path.write_text(json.dumps({"name": "x", "environ": {}, "metrics": values}))
    return path


@pytest.mark.first
def test_compare_tells_worse_from_noise(tmp_path):
    noise = random.Random(3)
    files = {
        side: [
            metrics(tmp_path / f"{side}{i}.json", eval_latency=level * noise.lognormvariate(0, .01),
                    train_latency=5 * noise.lognormvariate(0, .01), throughput=level)
            for i in range(10)]
        for side, level in (("control", 10), ("treatment", 12))}
    arguments = ["compare", "--control", *files["control"], "--treatment", *files["treatment"]]
    rows = {
        row["metric"]: row["verdict"]
        for row in json.loads(nightjar(*arguments, "--format", "json").stdout)["metrics"]}
    assert rows == {"eval_latency": "worse", "train_latency": "same", "throughput": "better"}
    assert nightjar(*arguments).returncode == 0
    assert nightjar(*arguments, "--fail-on", "worse").returncode == 1
    assert nightjar(*arguments, "--format", "markdown").stdout.startswith("| metric")
    (tmp_path / "broken.json").write_text("{")
    broken = nightjar("compare", "--control", tmp_path / "broken.json", "--treatment",
                      files["control"][0])
    assert broken.returncode == 2 and "broken.json" in broken.stderr


def test_compare_counts_what_no_longer_runs_as_worse(tmp_path):
    same = {f"fine{i}": 1.0 for i in range(2)}
    control = [metrics(tmp_path / f"c{i}.json", **same, broken=2.0, gone=3.0) for i in range(5)]
    trouble = "Traceback:\n  File x\nRuntimeError: no kernel"
    treatment = [
        metrics(tmp_path / f"t{i}.json", **same, broken=trouble, added=1.0) for i in range(5)]
    arguments = ["compare", "--control", *control, "--treatment", *treatment]
    done = nightjar(*arguments)
    assert (done.returncode, done.stderr) == (0, "")
    said = [line for line in done.stdout.splitlines() if "only in" in line]
    assert said == [
        "only in control: broken (RuntimeError: no kernel)", "only in control: gone",
        "only in treatment: added"]
    assert nightjar(*arguments, "--fail-on", "worse").returncode == 1
    assert "\n\n- only in control: broken" in nightjar(*arguments, "--format", "markdown").stdout
    answer = json.loads(nightjar(*arguments, "--format", "json").stdout)
    assert answer["only_in_control"] == [{
        "name": "broken", "reason": "RuntimeError: no kernel", "failed": True},
                                         {"name": "gone", "reason": None, "failed": True}]
    back = nightjar("compare", "--control", *treatment, "--treatment", *control, "--fail-on",
                    "worse")
    assert back.returncode == 1  # `added` is gone, while `broken` and `gone` are new
    new_only = [metrics(tmp_path / f"n{i}.json", **same, new=1.0) for i in range(5)]
    plain = [metrics(tmp_path / f"p{i}.json", **same) for i in range(5)]
    assert nightjar("compare", "--control", *plain, "--treatment", *new_only, "--fail-on",
                    "worse").returncode == 0


def test_compare_takes_a_zero_for_a_value(tmp_path):
    values = {"from_zero": (0, 5), "to_zero": (5, 0), "throughput": (0, 5), "tps_gone": (5, 0),
              "always_zero": (0, 0), "below_zero": (-2, 3), "usual": (5, 5)}
    files = {side: [metrics(tmp_path / f"{side}{i}.json",
                            **{name: both[at] for name, both in values.items()})
                    for i in range(5)] for at, side in enumerate(("control", "treatment"))}
    sides = ["compare", "--control", *files["control"], "--treatment", *files["treatment"]]
    unknown = json.loads(nightjar(*sides, "--format", "json").stdout)["not_judged"]
    assert [one["name"] for one in unknown] == ["below_zero", "from_zero", "to_zero"]
    arguments = [*sides, "--lower", "*_zero"]
    answer = json.loads(nightjar(*arguments, "--format", "json").stdout)
    assert {row["metric"]: row["verdict"] for row in answer["metrics"]} == {
        "from_zero": "worse", "to_zero": "better", "throughput": "better", "tps_gone": "worse",
        "always_zero": "same", "below_zero": "worse", "usual": "same"}
    rows = {row["metric"]: row for row in answer["metrics"]}
    assert rows["from_zero"]["difference"] == {"value": 5, "low": 5, "high": 5}
    assert "ratio" not in rows["from_zero"] and rows["usual"]["ratio"] == 1
    assert answer["not_judged"] == []
    table = nightjar(*arguments).stdout
    assert "ratio, or +difference" in table and "+5 (+5 to +5)" in table
    assert nightjar(*arguments, "--fail-on", "worse").returncode == 1


def test_compare_lists_what_it_cannot_judge(tmp_path):
    def side(name, **values):
        return [metrics(tmp_path / f"{name}{i}.json", fine=1.0, **values) for i in range(5)]
    arguments = ["compare", "--control", *side("c", nan=float("nan"), null=None, never="no kernel",
                                               lost=2.0),
                 "--treatment", *side("t", nan=3.0, null=None, never="no memory",
                                      lost=float("inf"))]
    done = nightjar(*arguments)
    assert (done.returncode, done.stderr) == (0, "")
    listed = [line for line in done.stdout.splitlines() if line.startswith("not judged: ")]
    assert listed == [
        "not judged: lost (5 of 5 values of the treatment are no finite number)",
        "not judged: nan (5 of 5 values of the control are no finite number)",
        "not judged: never (it failed on both sides: no memory)",
        "not judged: null (5 of 5 values of the control are no finite number, "
        "5 of 5 values of the treatment are no finite number)"]
    assert f"\n- {listed[0]}\n" in nightjar(*arguments, "--format", "markdown").stdout
    answer = json.loads(nightjar(*arguments, "--format", "json").stdout)
    assert [one["name"] for one in answer["not_judged"]] == ["lost", "nan", "never", "null"]
    assert answer["not_judged"][2]["reason"] == "it failed on both sides: no memory"


@pytest.mark.first
def test_help_and_version_and_wrong_use():
    assert nightjar("--version").stdout.startswith("nightjar ")
    assert "Example" in nightjar("bisect", "run", "--help").stdout
    for arguments in ([], ["frobnicate"], ["detect"], ["bisect"], ["bisect", "run"]):
        assert nightjar(*arguments).returncode == 2, arguments


def test_an_unknown_command_is_named_with_those_that_there_are():
    assert nightjar("foo").stderr == (
        "nightjar: there is no command 'foo'; there are: detect, compare, bisect, verify, "
        "summary, profile-diff, repeat, import, report\n")
    assert nightjar("bisect", "foo").stderr == (
        "nightjar: there is no command 'bisect foo'; there are: run, versions\n")
    assert nightjar("bisect", "foo").returncode == 2 and "--good" in nightjar("bisect",
                                                                              "run").stderr


def test_what_is_wrong_with_a_file_is_said_in_plain_words(tmp_path):
    (tmp_path / "empty").write_text("")
    (tmp_path
     / "other.json").write_text('{"items": [{"workload": "python/a/eval/cpu/fp32/b4/eager"}]}')
    (tmp_path / "broken.json").write_text("{")
    for name, words in (("nope", "No such file or directory"), (".", "it is a folder"),
                        ("empty", "it is empty")):
        for command in (["detect"], ["verify"], ["summary"]):
            done = nightjar(*command, tmp_path / name)
            assert (done.returncode, words in done.stderr) == (2, True), (command, done.stderr)
    for name, words in (("other.json", "' is missing"), ("broken.json", "not JSON")):
        file = tmp_path / name
        for arguments in (["verify", file], ["compare", "--control", file, "--treatment",
                                             file], ["summary", file], ["profile-diff", file,
                                                                        file], ["repeat", file]):
            done = nightjar(*arguments)
            wanted = "no evidence bundle" if arguments[
                0] == "verify" and name == "other.json" else words
            assert done.returncode == 2 and wanted in done.stderr and str(
                file) in done.stderr, done.stderr
            assert "json.exception" not in done.stderr and len(done.stderr.splitlines()) == 1


def test_help_of_measure_lists_every_option_with_its_default():
    help_text = subprocess.run([BIN / "nightjar-runner", "measure", "--help"], capture_output=True,
                               text=True).stdout
    words = " ".join(help_text.split())
    for option, default in [
        ("--runs", "5, or the suite's"), ("--minutes", "no end, or the suite's"),
        ("--seconds", "2, or the suite's"), ("--threads", "1"), ("--timeout", "300"),
        ("--seed", "0"), ("--format", "table"), ("--libtorch", "the Python's"),
        ("--python", ".cache/python of the checkout, else python3"), ("--torchbench", "none"),
        ("--commands", "none"), ("--workloads", "the program's own"), ("--suite", "none"),
        ("--device", "as their names say"),
        ("--cache", ".cache/runner of the checkout, else ~/.cache/nightjar-runner")]:
        line = words.split(f" {option} ", 1)[1]
        assert f"={default}" in line.split(" --")[0] or f"[{default}]" in line.split(
            " --")[0], f"{option}: {line[:200]}"
    assert "Example" in help_text and "Exit codes" in help_text


def test_compare_reads_what_benchmark_programs_write(tmp_path):
    def rounds(level, count):
        noise = random.Random(level)
        return [level * noise.lognormvariate(0, .01) for _ in range(count)]

    def pytest_file(name, **levels):
        path = tmp_path / name
        path.write_text(json.dumps({"machine_info": {}, "benchmarks": [
            {"fullname": test, "stats": {"data": rounds(level, 200)}}
            for test, level in levels.items()]}))
        return path
    sides = ["compare", "--control", pytest_file("old.json", parse=10, scan=20, small=30),
             "--treatment", pytest_file("new.json", parse=12, scan=20, small=31)]
    done = nightjar(*sides, "--format", "json", "--threshold", "7%", "--threshold", "sm*=1%")
    assert {row["metric"]: row["verdict"] for row in json.loads(done.stdout)["metrics"]} == {
        "parse": "worse", "scan": "same", "small": "worse"}
    assert "3 metrics are stretches of one process" in done.stderr
    # 2 s are less than 3 s, whatever their share.
    rows = json.loads(nightjar(*sides, "--at-least", "3s", "--format", "json").stdout)["metrics"]
    assert {row["verdict"] for row in rows} == {"same"}
    ordered = nightjar(*sides, "--sort", "size", "--only-changed", "--threshold", "1%").stdout
    assert [line.split()[0] for line in ordered.splitlines()[1:]] == ["parse", "small"]
    assert "a positive number" in nightjar(*sides, "--at-least", "x").stderr


def test_compare_speaks_to_a_ci(tmp_path):
    def hyperfine(name, level):
        path = tmp_path / name
        path.write_text(json.dumps({"results": [{
            "command": "a,b: 100%", "times": [level + i / 1000 for i in range(10)]}]}))
        return path
    sides = ["compare", "--control", hyperfine("old.json", 1), "--treatment",
             hyperfine("new.json", 2)]
    summary = tmp_path / "summary.md"
    environment = {**os.environ, "GITHUB_STEP_SUMMARY": str(summary)}
    done = nightjar(*sides, "--format", "github", env=environment)
    assert done.stdout == ("::warning title=a%2Cb%3A 100%25 got worse::from 1.004 to 2.005 s, "
                           "+100 %25 (99 to 100 %25)\n")
    assert summary.read_text().startswith("| metric") and "worse" in summary.read_text()
    failing = nightjar(*sides, "--format", "github", "--fail-on", "worse",
                       env=environment)
    assert failing.returncode == 1 and failing.stdout.startswith("::error ")
    badge = tmp_path / "badge.json"
    assert nightjar(*sides, "--only-changed", "--badge", badge).returncode == 0
    assert json.loads(badge.read_text()) == {"schemaVersion": 1, "label": "performance",
                                             "message": "1 of 1 worse", "color": "red"}
    nightjar(*sides[:3], "--treatment", sides[2], "--only-changed", "--badge", badge)
    assert json.loads(badge.read_text())["message"] == "unchanged"
    refused = nightjar(*sides, "--badge", tmp_path / "nowhere" / "badge.json")
    assert refused.returncode == 2 and not refused.stdout and "--badge" in refused.stderr
    suite = xml.fromstring(nightjar(*sides, "--format", "junit").stdout)
    assert suite.attrib["failures"] == "1" and suite.find("testcase/failure") is not None
    assert suite.find("testcase").attrib["name"] == "a,b: 100%"
