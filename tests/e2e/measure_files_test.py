"""`nightjar bisect run` reads the result files of benchmark programs: those that are here really
run."""

import importlib.util
import json
import os
import shutil
import subprocess
import sys

import pytest

from cli_test import bisect, git, nightjar

COMMITS, CULPRIT = 9, 6
# 20 ms, and ten times as much from the culprit on: a busy machine must not hide it.
WORK = """import pathlib
import time

NUMBER = int(pathlib.Path(__file__).with_name("n").read_text())

def work():
    time.sleep(.2 if NUMBER >= 6 else .02)
"""


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    folder = tmp_path_factory.mktemp("history")
    git(folder, "init", "-q", "-b", "main")
    (folder / "work.py").write_text(WORK)
    # Results of the good end, which no run may take for its own.
    (folder / "out.json").write_text('{"level": 1}')
    for number in range(COMMITS):
        (folder / "n").write_text(str(number))
        git(folder, "add", "-A")
        git(folder, "commit", "-qm", f"commit {number}")
    return folder


def search(repository, *arguments, measure):
    return bisect(repository, "--measure", measure, *arguments, good=f"HEAD~{COMMITS - 1}")


def writer(expression, shown):
    """Writes to out.json what `shown` makes of x, a number that the commit `n` decides."""
    return ("""python3 -c "import json, random; n = int(open('n').read()); """
            f"x = ({expression}) * random.Random(n).lognormvariate(0, .001); "
            f"""open('out.json', 'w').write(json.dumps({shown}))" """)


SLOWER, FASTER = f"2 if n >= {CULPRIT} else 1", f"1 if n >= {CULPRIT} else 2"


@pytest.mark.parametrize("options, expression, shown, benchmark, unit, direction", [
    (["--value", "level"], SLOWER, "dict(level=x)", "level", None, "lower"),
    (["--value", "/a~1b/*/times"], SLOWER, "{'a/b': [dict(times=[x, x, 9]), dict(times=[x])]}",
     "/a~1b/*/times", None, "lower"),
    (["--measure-format", "hyperfine"], SLOWER,
     "dict(results=[dict(command='ls', times=[x, x, 9])])", "ls", "s", "lower"),
    ([], FASTER, "[dict(benchmark='a.b', mode='thrpt', primaryMetric=dict(score=x, "
     "scoreUnit='ops/s'))]", "a.b", "ops/s", "higher"),
    (["--only", "b*"], SLOWER, "dict(commit_hash='c', results={'t.time_a': 1, 'b.time_b': x})",
     "b.time_b", "s", "lower"),
])
@pytest.mark.first
def test_a_number_in_a_file_is_searched_in_its_unit_and_direction(
        repository, options, expression, shown, benchmark, unit, direction):
    done = search(repository, "--measure-file", "out.json", *options, "--json",
                  measure=writer(expression, shown))
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    culprit, = answer["culprits"]
    assert culprit["commits"] == [git(repository, "rev-parse", f"HEAD~{COMMITS - 1 - CULPRIT}")]
    assert [answer[key] for key in ("benchmark", "unit", "direction")] == [
        benchmark, unit, direction]
    before = culprit["before"]["location"]
    assert .9 < before / (2 if direction == "higher" else 1) < 1.1


@pytest.mark.first
@pytest.mark.parametrize("measure, options, words", [
    ("true", [], "wrote no file out.json"),
    ("mkfifo out.json", [], "out.json, which is no regular file"),
    ("echo 1,2 > out.json", [], "has no results of a known format; --value says"),
    ("echo '{}' > out.json", ["--value", "a.b"], "nothing stands at 'a'"),
    ("echo '{\"a\": \"fast\"}' > out.json", ["--value", "a"], "is no number but \"fast\""),
    ("echo '{\"a\": 0}' > out.json", ["--value", "a"], "must be positive"),
    (writer("1", "dict(results=[dict(command='ls', times=[x])])"), ["--measure-format", "perf"],
     "as hyperfine does, and not as perf")])
def test_a_run_without_its_own_number_is_lost(repository, measure, options, words):
    done = search(repository, "--measure-file", "out.json", *options, measure=measure)
    assert done.returncode == 3 and words in done.stderr, done.stderr


def test_files_of_the_user_are_never_removed(repository, tmp_path):
    mine = tmp_path / "mine.json"
    mine.write_text("precious")
    done = search(repository, "--measure-file", mine, measure="true")
    assert done.returncode == 2 and "exists already" in done.stderr
    done = search(repository, "--measure-file", "link/mine.json", "--build",
                  f"ln -s {tmp_path} link", measure="true")
    assert done.returncode == 3 and "leads out of the work tree" in done.stderr
    done = search(repository, "--measure-file", "../mine.json", measure="true")
    assert done.returncode == 2 and "in the commit's work tree" in done.stderr
    assert mine.read_text() == "precious"
    new = tmp_path / "new.json"
    done = search(repository, "--measure-file", new, "--value", "x",
                  measure=f"echo '{{\"x\": 1}}' > {new}")
    assert done.returncode == 1 and not new.exists(), done.stderr


def test_options_that_exclude_each_other_are_one_clear_line(repository):
    for arguments, words in [
            (["--value", "a", "--measure-format", "perf"], "exclude each other"),
            (["--find", "broken", "--value", "a"], "passes or fails"),
            (["--metric", "instructions", "--measure-file", "a"], "read another number"),
            (["--value", "a..b"], "empty step")]:
        done = search(repository, *arguments, measure="echo 1")
        assert done.returncode == 2 and words in done.stderr, done.stderr


# b03 and b04 got slower with one commit, b07 with another; ops_per_second of b09 fell.
MANY = """python3 -c "import json, random; n = int(open('n').read()); log = open('made', 'a'); \
r = random.Random(1000 * n + log.tell()); log.write('.'); \
out = {f'b{i:02}': r.lognormvariate(0, .01) * (1.3 if (i in (3, 4) and n >= 6) or (i == 7 and \
n >= 2) else 1) for i in range(12)}; out['b09 ops_per_second'] = out.pop('b09') / (1 + (n >= 6)); \
n == 4 and out.pop('b07'); n == 0 and out.update(gone=1); print(json.dumps(out))" """


def culprits(answer):
    return {one["benchmark"]: [step["commits"] for step in one["culprits"]]
            for one in answer["benchmarks"] if one["culprits"]}


@pytest.mark.first
def test_each_of_several_benchmarks_has_its_culprit(repository, tmp_path):
    def at(number):
        return [[git(repository, "rev-parse", f"HEAD~{COMMITS - 1 - number}")]]
    state = tmp_path / "state.json"
    options = ["--build", "test $(cat n) != 5 && touch built", "--state", state]
    done = search(repository, *options, "--json", measure=MANY)
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    # Nothing was built at 5.
    both = [[git(repository, "rev-parse", f"HEAD~{COMMITS - 1 - number}") for number in (5, 6)]]
    assert culprits(answer) == {"b03": both, "b04": both, "b07": at(2),
                                "b09 ops_per_second": both}
    directions = {one["benchmark"]: one["direction"] for one in answer["benchmarks"]}
    assert directions["b09 ops_per_second"] == "higher" and directions["b03"] == "lower"
    assert len(answer["did_not_move"]) == 8
    assert answer["left_out"] == [
        {"benchmark": "gone", "reason": "has no number at the bad end"}]
    # The runs are shared: a search of each would have taken ten runs at least.
    assert answer["runs"] < 100 and answer["builds"] <= COMMITS
    again = search(repository, *options, measure=MANY)
    assert again.returncode == 0 and f"{answer['runs']} runs" in again.stdout.splitlines()[-1]
    assert "8 did not move: b00, b01, b02" in again.stdout and "b07:\n" in again.stdout
    only = search(repository, "--only", "b07", "--json", measure=MANY)
    assert [step["commits"] for step in json.loads(only.stdout)["culprits"]] == at(2)


def test_a_search_for_several_benchmarks_that_was_stopped_goes_on(repository, tmp_path):
    state = tmp_path / "state.json"
    budget = search(repository, "--state", state, "--max-runs", "14", measure=MANY)
    assert budget.returncode in (0, 1), budget.stderr
    kept = json.loads(state.read_text())["runs"]
    assert 10 <= len(kept) <= 14
    done = search(repository, "--state", state, "--json", measure=MANY)
    assert json.loads(state.read_text())["runs"][:len(kept)] == kept
    assert set(culprits(json.loads(done.stdout))) == {"b03", "b04", "b07", "b09 ops_per_second"}


def needs(*programs):
    for program in programs:
        if not shutil.which(program):
            pytest.skip(f"there is no {program} here")


def needs_module(name):
    if not importlib.util.find_spec(name):
        pytest.skip(f"there is no {name} for this Python")


def hyperfine(_):
    needs("hyperfine")
    return ("hyperfine --runs 3 --export-json out.json 'sleep .$(test $(cat n) -lt 6; echo $?)3'",
            ["--measure-file", "out.json"])


def perf_stat(_):
    needs("perf")
    if subprocess.run(["perf", "stat", "-j", "true"], capture_output=True, check=False).returncode:
        pytest.skip("perf may not count here")
    # What sleeps takes no time of the CPU.
    return ("perf stat -j -e task-clock -o out.json python3 -c \"for i in range("
            "4000000 if int(open('n').read()) >= 6 else 1000000): pass\"",
            ["--measure-file", "out.json"])


def pytest_benchmark(folder):
    needs_module("pytest_benchmark")
    (folder / "work_test.py").write_text(
        "import work\n\ndef test_work(benchmark):\n"
        "    benchmark.pedantic(work.work, rounds=3)\n")
    return (f"PYTHONPATH=. {sys.executable} -m pytest -q --rootdir {folder} {folder}/work_test.py "
            "--benchmark-json out.json", ["--measure-file", "out.json"])


def asv(folder):
    needs_module("asv")
    (folder / "benchmarks").mkdir()
    (folder / "benchmarks" / "__init__.py").touch()
    (folder / "benchmarks" / "b.py").write_text(
        "import pathlib\nimport sys\n\n"
        "sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))\nimport work\n\n"
        "def time_work():\n    work.work()\n\n"
        "time_work.repeat, time_work.number, time_work.rounds = 3, 1, 1\n")
    (folder / "asv.conf.json").write_text(json.dumps({
        "version": 1, "project": "p", "repo": ".", "benchmark_dir": "benchmarks",
        "environment_type": "virtualenv", "results_dir": "results",
        "branches": ["HEAD"]}))  # work trees have no branch
    program = f"HOME={folder} {sys.executable} -m asv"
    subprocess.run(f"{program} machine --yes --config asv.conf.json", shell=True, cwd=folder,
                   check=True, capture_output=True)
    return (f"cp -r {folder}/benchmarks {folder}/asv.conf.json . && {program} run "
            f"-E existing:{sys.executable} --set-commit-hash $NIGHTJAR_COMMIT",
            ["--measure-file", "results"])


def compiled(folder, text, *libraries):
    needs("g++")
    (folder / "bench.cpp").write_text(text)
    done = subprocess.run(["g++", "-O1", folder / "bench.cpp", "-o", folder / "bench",
                           *libraries, "-lpthread"], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"{libraries or 'Catch2'} is not here: {done.stderr.splitlines()[0]}")
    return folder / "bench"


SLEEP = ("#include <chrono>\n#include <fstream>\n#include <thread>\n"
         "static void work() {\n  int n = 0;\n  std::ifstream(\"n\") >> n;\n"
         "  std::this_thread::sleep_for(std::chrono::milliseconds(n >= 6 ? 50 : 5));\n}\n")


def google_benchmark(folder):
    program = compiled(folder, "#include <benchmark/benchmark.h>\n" + SLEEP +
                       "static void BM_work(benchmark::State& state) {\n"
                       "  for (auto _ : state) work();\n}\n"
                       "BENCHMARK(BM_work)->Iterations(3);\nBENCHMARK_MAIN();\n", "-l" "benchmark")
    return f"{program} --benchmark_out=out.json", ["--measure-file", "out.json"]


def catch2(folder):
    program = compiled(
        folder, "#define CATCH_CONFIG_MAIN\n#define CATCH_CONFIG_ENABLE_BENCHMARKING\n"
        "#include <catch2/catch.hpp>\n" + SLEEP +
        "TEST_CASE(\"c\") { BENCHMARK(\"work\") { work(); }; }\n")
    return (f"{program} --reporter xml --benchmark-samples 3 --benchmark-resamples 10",
            ["--measure-format", "catch2"])


@pytest.mark.parametrize("program, unit", [
    (hyperfine, "s"), (perf_stat, "msec"), (pytest_benchmark, "s"), (asv, "s"),
    (google_benchmark, "ns"), (catch2, "ns")])
def test_a_benchmark_program_that_is_here_finds_the_culprit(repository, tmp_path, program, unit):
    measure, options = program(tmp_path)
    done = search(repository, *options, "--threshold", "50%", "--json", measure=measure)
    assert done.returncode == 0, done.stdout + done.stderr
    answer = json.loads(done.stdout)
    assert [step["commits"] for step in answer["culprits"]] == [
        [git(repository, "rev-parse", f"HEAD~{COMMITS - 1 - CULPRIT}")]]
    assert answer["unit"] == unit


# What is printed counts nothing, and what a child does counts.
COUNTED = ("""awk 'BEGIN { getline n < "n"; most = 2e4 + 4e3 * (n >= 6); while (i < most) i++ }' """
           "| cat; echo $$")


def test_instructions_find_a_culprit_whatever_the_measure_prints(repository, tmp_path):
    options = ["--metric", "instructions", "--state", tmp_path / "state.json"]
    done = search(repository, *options, "--json", measure=COUNTED)
    if done.returncode == 2 and "cannot count instructions" in done.stderr:
        pytest.skip(done.stderr)
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    culprit, = answer["culprits"]
    assert culprit["commits"] == [git(repository, "rev-parse", f"HEAD~{COMMITS - 1 - CULPRIT}")]
    assert (answer["benchmark"], answer["unit"]) == ("instructions", "instructions")
    # A loop of awk takes some instructions, and a process that starts does not take millions.
    assert 1e5 < culprit["before"]["location"] < 3e7
    # What another way counts is no part of the same search.
    other = search(repository, "--state", tmp_path / "state.json", measure=COUNTED)
    assert other.returncode == 2 and "another search, whose --metric" in other.stderr
    lost = search(repository, "--metric", "instructions", measure="exit 3")
    assert lost.returncode == 3 and "exit code 3" in lost.stderr, lost.stderr


def test_without_anything_that_counts_instructions_one_line_says_so(repository, tmp_path):
    for program in ("git", "sh"):
        (tmp_path / program).symlink_to(shutil.which(program))
    done = nightjar("bisect", "run", "--repo", repository, "--good", "HEAD~1", "--bad", "HEAD",
                    "--measure", "true", "--metric", "instructions", "--max-runs", "10",
                    env={**os.environ, "PATH": str(tmp_path)})
    if "counting instructions by counters" in done.stderr:
        pytest.skip("the counters of this CPU are there")
    assert done.returncode == 2 and len(done.stderr.splitlines()) == 1
    assert "no counter of this CPU" in done.stderr and "install valgrind" in done.stderr
