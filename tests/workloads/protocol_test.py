"""What every workload program answers, whoever wrote it, and to whatever it is asked."""

import json
import os
import subprocess
import time

import pytest
import programs

ALL = programs.names("python") + programs.names("native")
KINDS = ["python", "native"]


def first(kind):
    return programs.names(kind)[0]


@pytest.mark.parametrize("name", ALL)
def test_a_workload_answers_ready_samples_and_a_result(name):
    ready, *samples, result = programs.default(name)
    assert ready["event"] == "ready"
    assert ready["torch"]["version"] and ready["torch"]["path"].startswith("/")
    assert ready["memory_after_import"] > 1 << 20
    assert ready["settings"]["threads"] == "1" and ready["settings"]["cpus"]
    assert ready["settings"]["allocator"] == "glibc, mmap from 32 MiB, trim above 1024 MiB"
    assert {sample["event"] for sample in samples} == {"sample"}
    assert len(samples) + result["warmup_iterations"] >= 30
    for sample in samples:
        assert 0 < sample["latency"] < 30
        assert sample["cpu"] > 0 and sample["wait"] >= 0 and sample["slowdown"] >= 1
    assert 6 <= result["warmup_iterations"] <= 25
    assert result["metrics"]["peak_cpu_memory"][0] >= ready["memory_after_import"]
    assert len(result["metrics"]["leaked_memory"]) == 1
    assert (result["parameters"] > 0) == ("/wave/" not in name)


@pytest.mark.parametrize("kind", KINDS)
def test_iterations_are_counted_by_minimum_and_by_time(kind):
    name = next(n for n in programs.names(kind) if "/resnet18/eval/" in n)
    few = programs.run(name, min_iterations=3, seconds=0)
    assert len(few) - 2 < 30
    many = programs.run(name, min_iterations=50, seconds=0)
    assert len(many) - 2 == 50
    begin = time.monotonic()
    programs.run(name, min_iterations=3, seconds=3)
    assert time.monotonic() - begin >= 3  # without, a second or two


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"workload": 7}', "\xff\x00",
                                  '{"workload": "x", "version": "1"}',
                                  '{"workload": "x", "version": 1, "threads": 0}',
                                  '{"workload": "x", "version": 1, "seconds": -1}',
                                  '{"workload": "x", "version": 1, "min_iterations": 2.5}',
                                  '{"workload": "x", "version": 1, "peak_at": 5}',
                                  '{"workload": "x", "version": 1, "sizes": "small"}'])
def test_a_garbled_request_is_answered_by_an_error_that_says_what_is_wrong(kind, text):
    status, messages = programs.answers(programs.command(kind + "/"), text)
    assert status == 2
    assert [m["event"] for m in messages] == ["error"]
    assert messages[0]["status"] == "failed" and "request" in messages[0]["reason"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("part", ["", "resnet18", "{kind}/nothing/eval/cpu/fp32/b4/eager",
                                  "{kind}/resnet18/eval/tpu/fp32/b4/eager",
                                  "{kind}/../x/cpu/fp32/b4/eager"])
def test_an_unknown_workload_is_an_error_and_names_it(kind, part):
    name = part.format(kind=kind)
    status, messages = programs.answers(programs.command(kind + "/"), programs.request(name))
    assert status == 0
    assert messages == [{"event": "error", "status": "failed",
                         "reason": f"no workload is called '{name}'"}]


@pytest.mark.parametrize("kind", KINDS)
def test_another_version_of_the_definition_is_refused(kind):
    messages = programs.run(first(kind), version=2)
    assert messages[-1]["status"] == "failed"
    assert "version 1 here, not 2" in messages[-1]["reason"]


@pytest.mark.parametrize("kind", KINDS)
def test_without_a_cuda_device_a_cuda_workload_is_unavailable(kind):
    messages = programs.run(first(kind).replace("/cpu/", "/cuda/"))
    if messages[-1]["event"] == "result":
        pytest.skip("this machine has a CUDA device")
    assert messages[0]["event"] == "ready"
    assert messages[-1] == {"event": "error", "status": "unavailable", "reason": "no CUDA device"}


@pytest.mark.parametrize("kind", KINDS)
def test_the_list_is_the_tables(kind):
    listed = subprocess.run([*programs.command(kind + "/"), "--list"], check=True, text=True,
                            capture_output=True, timeout=60, env=programs.environment()).stdout
    assert listed.splitlines() == [
        item["name"] for item in programs.TABLE["items"] if item["kind"] == kind]


@pytest.mark.parametrize("kind", KINDS)
def test_an_argument_it_does_not_know_is_wrong_use(kind):
    done = subprocess.run([*programs.command(kind + "/"), "--lits"], text=True, capture_output=True,
                          timeout=60, env=programs.environment())
    assert done.returncode == 2 and len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_without_descriptor_three_the_answers_go_to_standard_output(kind):
    name = next(n for n in programs.names(kind) if "/dlrm/eval/" in n)
    done = subprocess.run(programs.command(name), input=programs.request(name), text=True,
                          check=True, capture_output=True, timeout=60, env=programs.environment())
    assert json.loads(done.stdout.splitlines()[-1])["event"] == "result"
