"""Workloads in another precision, at another batch size, compiled: what only they answer, and their
own mistakes."""

import pathlib
import textwrap

import pytest
import programs

DLRM = "python/dlrm/eval/cpu/fp32/b128/eager"
COMPILED = "python/lennard_jones/eval/cpu/fp32/b256/inductor"


def error_of(name):
    last = programs.run(name)[-1]
    assert last["event"] == "error", last
    return last["status"], last["reason"]


@pytest.mark.parametrize("suite", ["python", "native"])
@pytest.mark.parametrize("variation", ["bf16/b128", "fp32/b16"])
def test_another_precision_or_batch_size_is_other_work_of_the_same_model(suite, variation):
    base = DLRM.replace("python", suite)
    ours = programs.result(programs.run(base.replace("fp32/b128", variation)))
    plain = programs.result(programs.started(base).result())
    assert ours["parameters"] == plain["parameters"]
    assert ours["checksum"] != plain["checksum"]
    # The output is a probability for each item.
    assert ours["checksum"] == pytest.approx(
        plain["checksum"] * (1 if "b128" in variation else 1 / 8), rel=0.05)


def test_amp_is_the_python_suites():
    assert programs.result(programs.run(DLRM.replace("fp32", "amp")))["checksum"] > 0
    assert error_of(DLRM.replace("fp32", "amp").replace("python", "native"))[0] == "unavailable"


@pytest.mark.parametrize("model", ["resnet18", "mobilenet_v2"])
def test_a_quantised_model_gives_what_it_gave_without_its_parameters(model):
    name = f"python/{model}/eval/cpu/int8/b4/eager"
    ours = programs.result(programs.run(name))
    plain = programs.result(programs.run(name.replace("int8", "fp32")))
    assert ours["checksum"] == pytest.approx(plain["checksum"], rel=0.05)
    assert ours["checksum"] != plain["checksum"]


@pytest.mark.parametrize("name, reason", [
    ("python/dlrm/eval/cpu/tf32/b128/eager", "TF32 is of NVIDIA's GPUs from Ampere on"),
    ("python/resnet18/train/cpu/int8/b4/eager",
     "int8 is for inference on a CPU, in eager mode"),
    ("python/gpt2/eval/cpu/int8/b4/eager", "its forward pass is no module"),
    ("python/lennard_jones/eval/cpu/int8/b256/eager", "that could be quantised"),
    ("native/dlrm/eval/cpu/fp16/b128/eager", "and no fp16")])
def test_a_precision_that_is_not_here_is_unavailable_and_says_why(name, reason):
    status, said = error_of(name)
    assert status == "unavailable" and reason in said, said


def test_fp16_on_a_cpu_is_for_those_that_have_instructions_for_it(tmp_path):
    for has in ("True", "False"):
        last = tampered(tmp_path, "from harness import precision\n"
                        f"precision._has_half = lambda: {has}", DLRM.replace("fp32", "fp16"))
        assert last["event"] == ("result" if has == "True" else "error"), last


@pytest.mark.parametrize("suite", ["python", "native"])
def test_a_model_that_takes_no_notice_of_the_batch_size_has_no_other(suite):
    assert error_of(f"{suite}/wave/eval/cpu/fp32/b8/eager") == (
        "unavailable", "wave/eval does the same work at every batch size")


@pytest.mark.parametrize("name", [
    "python/dlrm/eval/cpu/fp8/b128/eager", "python/dlrm/eval/cpu/fp32/bmax/eager",
    "python/dlrm/eval/cpu/fp32/b0/eager", "python/dlrm/eval/cpu/fp32/b128/tvm",
    "native/dlrm/eval/cpu/fp32/b128/inductor"])
def test_a_variation_that_there_is_not_is_an_unknown_workload(name):
    assert error_of(name) == ("failed", f"no workload is called '{name}'")


def test_a_compiled_workload_tells_what_compiling_cost_and_gained():
    ready, *samples, result = programs.run(COMPILED)
    assert ready["event"] == "ready" and len(samples) >= 3
    assert result["accuracy"] == "pass"
    metrics = {name: value for name, (value,) in result["metrics"].items()}
    assert 0 < metrics["warm_compile_time"] < metrics["compile_time"] < 120
    assert metrics["speedup"] > 0
    assert metrics["unique_graphs"] >= 1
    assert metrics["graph_breaks"] == metrics["recompiles"] == 0
    eager = programs.result(programs.started(COMPILED.replace("inductor", "eager")).result())
    assert result["checksum"] == pytest.approx(eager["checksum"], rel=1e-4)
    assert metrics["peak_cpu_memory"] > eager["metrics"]["peak_cpu_memory"][0]


def tampered(tmp_path: pathlib.Path, lines, name=DLRM.replace("eager", "inductor")):
    """The last answer of a compiled dlrm, where torch.compile is what `lines` make of it."""
    entry = tmp_path / "tampered.py"
    entry.write_text(textwrap.dedent("""
        import sys
        sys.path.insert(0, {path!r})
        import torch
        import run
        from harness import compiled
        import models.dlrm as dlrm
        compiled.prime = lambda *_: None
        {lines}
        sys.exit(run.main())
        """).format(path=str(programs.WORKLOADS), lines=lines), encoding="utf-8")
    status, messages = programs.answers([programs.python(), str(entry)],
                                       programs.request(name))
    assert status == 0
    return messages[-1]


def test_a_compiler_that_changes_the_result_is_found_out(tmp_path):
    last = tampered(tmp_path,
                    "torch.compile = lambda module: lambda *inputs: module(*inputs) * 1.01")
    assert (last["status"], last["accuracy"]) == ("wrong_result", "fail_accuracy")
    assert last["reason"].startswith("compiled and eager differ: output 0 of (128, 1)")


def test_a_compiler_that_changes_nothing_passes(tmp_path):
    last = tampered(tmp_path, "torch.compile = lambda module: module")
    assert (last["event"], last["accuracy"]) == ("result", "pass")


@pytest.mark.parametrize("lines, accuracy", [
    ("def broken(module): raise ValueError('no such lowering')\ntorch.compile = broken",
     "fail_to_run"),
    ("def broken(*_): raise ValueError('no such lowering')\ndlrm.Dlrm.forward = broken\n"
     "torch.compile = lambda module: module", "eager_fail_to_run"), ])
def test_whether_the_compiler_or_the_model_is_broken_is_told(tmp_path, lines, accuracy):
    last = tampered(tmp_path, lines)
    assert (last["status"], last["accuracy"]) == ("failed", accuracy)
    assert last["reason"].endswith("ValueError: no such lowering")


def test_without_a_compiler_a_compiled_workload_is_unavailable_and_says_what_to_install(tmp_path):
    last = tampered(
        tmp_path, "class InvalidCxxCompiler(Exception): pass\n"
        "def refuse(module): raise InvalidCxxCompiler('none found')\ntorch.compile = refuse")
    assert (last["status"], last["reason"]) == ("unavailable",
                                                "torch.compile needs a C++ compiler; install g++")
