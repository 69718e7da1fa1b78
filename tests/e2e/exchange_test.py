"""Exchange of results: dynamo CSV, TorchBench metrics and our JSON through the two programs."""

import csv
import io
import json
import os
import pathlib
import subprocess

import pytest

BIN = pathlib.Path(
    os.environ.get("NIGHTJAR_BIN",
                   pathlib.Path(__file__).resolve().parents[2] / "build" / "bin"))


def program(name, *arguments):
    return subprocess.run([BIN / name, *map(str, arguments)], capture_output=True, text=True,
                          timeout=60)


def measured(path, slower=1.0, runs=10):
    """What `measure --json` writes, of two models and an inductor variant."""
    def metric(unit, *runs):
        middle = sum(runs) / len(runs)
        return {
            "unit": unit, "location": middle, "low": min(runs), "high": max(runs), "cv": 0.01,
            "values": list(runs), "runs": [[r] * 3 for r in runs]}

    def item(workload, status="measured", reason=None, **metrics):
        return {
            "workload": workload, "version": 1, "status": status, "reason": reason,
            "metrics": metrics, "build": {"version": "2.13.0+cpu", "commit": "c" * 40},
            "machine": {"cpu_model": "EPYC"},
            "output": {"checksum": 1.0, "accuracy": "pass" if status == "measured" else None}}

    latencies = [slower * (.1 + .0001 * run) for run in range(runs)]
    items = [
        item("python/a/eval/cpu/fp32/b4/eager", latency=metric("s", *latencies),
             peak_cpu_memory=metric("bytes", 3e8)),
        item("python/a/eval/cpu/fp32/b4/inductor", latency=metric("s", .05),
             peak_cpu_memory=metric("bytes", 2e8), compile_time=metric("s", 12.0),
             compression_ratio=metric("times eager", 1.5)),
        item("python/b/eval/cpu/fp32/b4/inductor", "failed", "wrong_result: the checksum differs")]
    path.write_text(json.dumps({"items": items}))
    return path


@pytest.mark.first
def test_a_measurement_becomes_a_csv_that_sums_up_alike(tmp_path):
    file = measured(tmp_path / "m.json")
    for kind, name in (("csv", "performance"), ("accuracy-csv", "accuracy")):
        done = program("nightjar-runner", "convert", file, "--format", kind)
        assert done.returncode == 0, done.stderr
        (tmp_path / f"inductor_python_float32_inference_cpu_{name}.csv").write_text(done.stdout)
    rows = list(
        csv.DictReader(
            io.StringIO(
                (tmp_path / "inductor_python_float32_inference_cpu_performance.csv").read_text())))
    assert [(row["name"], row["batch_size"], float(row["speedup"])) for row in rows] == [
        ("a", "4", 2.009), ("b", "0", 0)]
    from_csv = json.loads(
        program("nightjar", "summary",
                tmp_path / "inductor_python_float32_inference_cpu_performance.csv",
                "--json").stdout)["groups"]
    from_json = json.loads(program("nightjar", "summary", file, "--json").stdout)["groups"]
    inductor = next(group for group in from_json if group["backend"] == "inductor")
    from_csv[0]["compression_ratio"]["value"] = round(from_csv[0]["compression_ratio"]["value"],
                                                      6)  # the CSV's digits
    inductor["compression_ratio"]["value"] = round(inductor["compression_ratio"]["value"], 6)
    assert from_csv == [inductor]
    assert (inductor["models"], inductor["passed"], inductor["pass_rate"]) == (2, 1, .5)
    assert inductor["speedup"]["value"] == pytest.approx(2.009) and inductor["compile_time"] == {
        "value": 12.0, "models": 1}
    assert inductor["compression_ratio"]["value"] == pytest.approx(1.5)


def test_the_benchmark_database_gets_what_the_importer_reads(tmp_path):
    done = program("nightjar-runner", "convert", measured(tmp_path / "m.json"), "--format",
                   "database")
    assert done.returncode == 0, done.stderr
    records = {(r["benchmark"]["extra_info"]["nightjar_workload"], r["metric"]["name"]):
               r["metric"]["benchmark_values"] for r in json.loads(done.stdout)}
    assert len(records["python/a/eval/cpu/fp32/b4/eager", "latency"]) == 10
    assert records["python/b/eval/cpu/fp32/b4/inductor", "failures"] == [1]
    folder = tmp_path / "2026-08-20"
    folder.mkdir()
    (folder / "records.json").write_text(done.stdout)
    read = program("nightjar", "import", "database", folder, "--dry-run", "--json")
    assert read.returncode == 0, read.stderr
    assert sum(one["values"] for one in json.loads(read.stdout)["found"]) == len(records) == 7


def test_two_machine_classes_stand_side_by_side(tmp_path):
    first, beside = measured(tmp_path / "first.json"), measured(tmp_path / "beside.json", slower=.5)
    ratios = json.loads(program("nightjar", "summary", first, "--beside", beside,
                                "--json").stdout)["ratios"]
    assert [(row["model"], row["backend"], round(row["ratio"], 3)) for row in ratios] == [
        ("a b4", "eager", 2.0), ("a b4", "inductor", 1.0)]
    text = program("nightjar", "summary", first, "--beside", beside).stdout
    assert "geometric mean" in text and "1.414" in text
    assert max(map(len, text.splitlines())) <= 100


def test_compare_reads_what_measure_and_torchbench_write(tmp_path):
    files = {
        side: measured(tmp_path / f"{side}.json", slower)
        for side, slower in (("old", 1), ("new", 1.3))}
    done = program("nightjar", "compare", "--control", files["old"], "--treatment", files["new"],
                   "--format", "json")
    rows = {row["metric"]: row for row in json.loads(done.stdout)["metrics"]}
    latency = rows["python/a/eval/cpu/fp32/b4/eager latency"]
    assert latency["verdict"] == "worse" and latency["runs"] == {"control": 10, "treatment": 10}
    table = program("nightjar", "compare", "--control", files["old"], "--treatment",
                    files["new"]).stdout
    assert "first decile of a run's undisturbed iterations" in table
    for side, file in files.items():
        metrics = program("nightjar-runner", "convert", file, "--format", "torchbench").stdout
        assert json.loads(metrics)["environ"]["pytorch_git_version"] == "c" * 40
        (tmp_path / f"metrics-{side}.json").write_text(metrics)
    done = program("nightjar", "compare", "--control", tmp_path / "metrics-old.json", "--treatment",
                   tmp_path / "metrics-new.json", "--format", "json")
    rows = {row["metric"]: row for row in json.loads(done.stdout)["metrics"]}
    assert rows["test_eval[python/a-b4-cpu-eager]_latency"]["ratio"] == pytest.approx(1.3)
    assert {row["metric"].split("]_")[1]: row["unit"]
            for row in rows.values()} == {"latency": "ms", "cmem": "GB"}


def test_compare_takes_the_runs_that_are_there_for_all(tmp_path):
    old, new = (measured(tmp_path / f"{name}.json", slower, runs=5)
                for name, slower in (("old", 1), ("new", 1.8)))
    rows = json.loads(
        program("nightjar", "compare", "--control", old, "--treatment", new, "--format",
                "json").stdout)
    verdicts = {row["metric"]: row["verdict"] for row in rows["metrics"]}
    assert verdicts["python/a/eval/cpu/fp32/b4/eager latency"] == "worse"
    assert verdicts["python/a/eval/cpu/fp32/b4/inductor "
                    "latency"] == "inconclusive"  # one run a side
    assert {row["metric"].split()[1]: row["unit"] for row in rows["metrics"]} == {
        "latency": "s", "peak_cpu_memory": "bytes", "compile_time": "s",
        "compression_ratio": "times eager"}
    assert "at least 5 a side" in program("nightjar", "compare", "--control", old, "--treatment",
                                          new).stdout


def without(path, old, status, reason, keep=()):
    """The measurement of `old`, whose first workload came to `status`; only the metrics in `keep`
    are left of it."""
    content = json.loads(old.read_text())
    item = content["items"][0]
    item.update(status=status, reason=reason,
                metrics={name: item["metrics"][name]
                         for name in keep})
    path.write_text(json.dumps(content))
    return path


def test_compare_says_what_else_differs_and_how_few_runs_there_are(tmp_path):
    old = measured(tmp_path / "old.json")
    content = json.loads(old.read_text())
    for item, threads in zip(content["items"], ("1", "4")):
        item["settings"] = {"threads": threads}
    old.write_text(json.dumps(content))
    content["items"][0].update(settings={"threads": "4"}, machine={"cpu_model": "Xeon"}, version=2)
    (tmp_path / "new.json").write_text(json.dumps(content))
    done = program("nightjar", "compare", "--control", old, "--treatment", tmp_path / "new.json")
    assert done.stderr == (
        "nightjar: python/a/eval/cpu/fp32/b4/eager: more differs than the builds: cpu_model (EPYC "
        "and Xeon), "
        "the workload's version (1 and 2), threads (1 and 4)\n")
    assert program("nightjar", "compare", "--control", old, "--treatment", old).stderr == ""
    rows = {
        tuple(line.split()[:2]): " ".join(line.split()[2:])
        for line in done.stdout.splitlines()}
    single = rows["python/a/eval/cpu/fp32/b4/inductor", "compile_time"]
    assert single.endswith("1.000 (-) 1 and 1 inconclusive")
    assert " to " in rows["python/a/eval/cpu/fp32/b4/eager",
                          "latency"] and " and " not in rows["python/a/eval/cpu/fp32/b4/eager",
                                                             "latency"]


def test_compare_says_which_workload_failed_in_the_treatment_and_why(tmp_path):
    old = measured(tmp_path / "old.json")
    failed = without(tmp_path / "failed.json", old, "failed", "out_of_memory: 3 GB were wanted")
    arguments = ["compare", "--control", old, "--treatment", failed]
    name = "python/a/eval/cpu/fp32/b4/eager"
    assert f"only in control: {name} (out_of_memory: 3 GB were wanted)\n" in program(
        "nightjar", *arguments).stdout
    assert program("nightjar", *arguments, "--fail-on", "worse").returncode == 1
    partly = without(tmp_path / "partly.json", old, "failed", "wrong_result: a checksum",
                     keep=["latency"])
    done = program("nightjar", "compare", "--control", old, "--treatment", partly, "--fail-on",
                   "worse")
    assert (done.returncode, f"failed in the treatment: {name} (wrong_result: a checksum)\n"
            in done.stdout) == (1, True)
    lacks = without(tmp_path / "lacks.json", old, "measured", None, keep=["latency"])
    done = program("nightjar", "compare", "--control", old, "--treatment", lacks, "--fail-on",
                   "worse")
    assert (done.returncode, f"only in control: {name} peak_cpu_memory\n"
            in done.stdout) == (0, True)
    back = program("nightjar", "compare", "--control", failed, "--treatment", old, "--fail-on",
                   "worse")
    assert (back.returncode, f"only in treatment: {name} (out" in back.stdout) == (0, True)


def jmh(path, score, unit, mode="avgt"):
    """A file of JMH's with five forks."""
    path.write_text(json.dumps([{
        "jmhVersion": "1.37", "benchmark": "org.example.Sort.run", "mode": mode, "forks": 5,
        "primaryMetric": {"score": score, "scoreUnit": unit,
                          "rawData": [[score * (1 + .001 * fork)] for fork in range(5)]}}]))
    return path


def test_a_benchmark_in_a_unit_that_does_not_go_together_is_not_lost(tmp_path):
    old = jmh(tmp_path / "old.json", 5, "us/op")
    rate = jmh(tmp_path / "rate.json", .2, "ops/us", "thrpt")
    done = program("nightjar", "compare", "--control", old, "--treatment", rate, "--fail-on",
                   "worse")
    assert (done.returncode, "only in" in done.stdout) == (0, False), done.stdout
    assert "it is in 'ops/us' in" in done.stdout, done.stdout
    slower = jmh(tmp_path / "slower.json", .0065, "ms/op")
    done = program("nightjar", "compare", "--control", old, "--treatment", slower, "--fail-on",
                   "worse", "--format", "json")
    row = json.loads(done.stdout)["metrics"][0]
    assert (done.returncode, row["verdict"], round(row["treatment"], 1)) == (1, "worse", 6.5)


def test_repeat_holds_a_build_against_itself(tmp_path):
    one, same, slower = (measured(tmp_path / f"{name}.json", factor)
                         for name, factor in (("one", 1), ("same", 1), ("slower", 1.1)))
    done = program("nightjar", "repeat", one, "--format", "json")
    assert done.returncode == 0
    (row,) = json.loads(done.stdout)["workloads"]  # inductor's single run tells nothing
    assert (row["workload"], row["runs"]) == ("python/a/eval/cpu/fp32/b4/eager", 10)
    assert row["cv"] == pytest.approx(.003, abs=.0002) and row["low"] < 1 < row["high"]
    assert row["noise_class"] == "unknown"
    two = program("nightjar", "repeat", one, same)
    assert two.returncode == 0 and "quiet" in two.stdout
    moved = program("nightjar", "repeat", one, slower, "--format", "json")
    assert moved.returncode == 1 and not json.loads(moved.stdout)["workloads"][0]["holds_one"]
    (said, note) = moved.stderr.splitlines()
    assert "python/a/eval/cpu/fp32/b4/eager does not hold 1: latency of 1.0" in said
    assert "five do not" in note
    assert "enough runs" in program("nightjar", "repeat", one, "--metric", "compile_time").stderr


def test_repeat_names_the_file_that_lacks_something(tmp_path):
    many, few = measured(tmp_path / "many.json"), measured(tmp_path / "few.json", runs=1)
    empty = tmp_path / "empty.json"
    empty.write_text('{"items": []}')
    for arguments, words in [
        ([many, few],
         "no workload of {few} has enough runs of it: at least 2 are needed, and --runs 12 tells "
         "more"
         ),
        ([few],
         "no workload of {few} has enough runs of it: at least 4 are needed, and --runs 12 tells "
         "more"
         ),
        ([many, "--metric", "latencu"],
         "no workload of {many} has the metric latencu; it has: compile_time, "
         "compression_ratio, latency, peak_cpu_memory"
         ), ([many, empty], "there is no measured workload in {empty}")]:
        done = program("nightjar", "repeat", *arguments)
        metric = "latencu" if "latencu" in arguments else "latency"
        said = words.format(many=many, few=few, empty=empty)
        assert (done.returncode,
                done.stderr) == (2, f"nightjar: cannot tell how {metric} repeats: {said}\n")


@pytest.mark.parametrize("arguments",
                         [("summary", "{missing}"), ("summary", "{broken}"),
                          ("summary", "{good}", "--beside", "{broken}"),
                          ("compare", "--control", "{broken}", "--treatment", "{good}")])
def test_a_bad_file_is_one_line_and_exit_code_two(tmp_path, arguments):
    good = measured(tmp_path / "good.json")
    (tmp_path / "broken.csv").write_text("not,a,table\n")
    paths = {"missing": tmp_path / "missing.csv", "broken": tmp_path / "broken.csv", "good": good}
    done = program("nightjar", *(argument.format(**paths) for argument in arguments))
    assert done.returncode == 2 and len(done.stderr.splitlines()) == 1
    assert "missing.csv" in done.stderr or "broken.csv" in done.stderr
