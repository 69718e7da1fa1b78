"""Profiles: what is counted is exact, the parts of memory are those of the model, and the
difference of two profiles names the operator that was made slow."""

import json
import os
import pathlib
import shutil
import subprocess
import textwrap

import pytest
import programs

programs.put_suite_on_path()
from harness.profiler import blocks, gpu, tree  # noqa: E402  (pure: no torch)

BIN = pathlib.Path(os.environ.get("NIGHTJAR_BIN", programs.ROOT / "build" / "bin"))
RESNET = "python/resnet18/train/cpu/fp32/b4/eager"
LENNARD_JONES = "python/lennard_jones/train/cpu/fp32/b256/eager"
TINY = "python/lennard_jones/eval/cpu/fp32/b256/eager"


def profile_of(name, folder=programs.WORKLOADS, **fields):
    program = [programs.python(), str(folder / "run_profile.py")]
    status, messages = programs.answers(program, programs.request(name, **fields))
    assert status == 0 and messages[0]["event"] == "ready"
    return messages[-1]


@pytest.fixture(scope="module")
def resnet():
    return profile_of(RESNET)


@pytest.fixture(scope="module")
def counted():
    """What a child with PyTorch says: bytes and convolutions' operations of resnet18, and single
    calls."""
    script = f"""
import json, sys
sys.path.insert(0, {str(programs.WORKLOADS)!r})
import torch
from torch.nn import functional
from blocks.residual import Basic, ResNet
from harness import definition
from harness.case import Case
from harness.profiler import charging, passes
from harness.profiler.count import Count
from harness.profiler.tree import Node
def count(step):
    rows, _ = passes.work_pass(step, None, "cpu", 5)
    return {{name: [row.flops, row.bytes] for name, row in rows.items() if row.flops or row.bytes}}
def embedded(iteration, held):
    # A call as the profiler saw it, in which another process held the core for some seconds.
    return Node(f"{{charging.CALL}}{{iteration}}:0:embedding", 0, 3 + held, [
        Node("aten::embedding", 0, 3 + held, [Node("aten::index_select", 1 + held, 3 + held)])])
a, b, c = torch.ones(8, 16), torch.ones(16, 32), torch.ones(8, 32)
image, weight = torch.ones(2, 3, 10, 10), torch.ones(5, 3, 3, 3)
query = torch.ones(2, 4, 6, 8)
case = Case(definition.find({RESNET!r}, 1), 0)
network = ResNet(Basic, [2, 2, 2, 2], case.width, case.classes)
convolutions = []
for module in network.modules():
    if isinstance(module, torch.nn.Conv2d):
        module.register_forward_hook(lambda module, inputs, out: convolutions.append(
            2 * out.numel() * module.weight.numel() // module.weight.size(0)))
network(torch.ones(case.batch, 3, case.image, case.image))
print(json.dumps({{
    "mm": count(lambda: a @ b), "add": count(lambda: a + a.clone()),
    "bf16": count(lambda: a.bfloat16() @ b.bfloat16()),
    "conv": count(lambda: functional.conv2d(image, weight, padding=1)),
    "attention": count(lambda: functional.scaled_dot_product_attention(query, query, query)),
    "rows": count(lambda: functional.embedding(torch.tensor([1, 2]), torch.ones(1000, 8))),
    "held": {{name: row.flops for name, row in charging.charge(
        [embedded(0, 9), embedded(1, 0), embedded(2, 0)], [Count(7)]).items()}},
    "view": count(lambda: a.view(-1)[::2].unsqueeze(0)),
    "parameters": sum(p.numel() * p.element_size() for p in network.parameters()),
    "buffers": sum(p.numel() * p.element_size() for p in network.buffers()),
    "convolutions": sum(convolutions)}}))
"""
    done = subprocess.run([programs.python(), "-c", script], capture_output=True, text=True,
                          check=True, env=programs.environment())
    return json.loads(done.stdout.splitlines()[-1])


def test_operations_and_bytes_of_known_calls_are_exact(counted):
    assert counted["mm"]["aten::mm"] == [2 * 8 * 16 * 32, 4 * (8 * 16 + 16 * 32 + 8 * 32)]
    assert counted["add"]["aten::add"] == [8 * 16, 4 * 3 * 8 * 16]
    assert counted["bf16"]["aten::mm"] == [2 * 8 * 16 * 32, 2 * (8 * 16 + 16 * 32 + 8 * 32)]
    assert [row[0] for row in counted["conv"].values()] == [2 * (2 * 5 * 10 * 10) * (3 * 3 * 3)]
    assert [row[0] for row in counted["attention"].values()] == [4 * (2 * 4 * 6 * 8) * 6]


def test_a_lookup_reads_its_rows_and_a_view_nothing(counted):
    assert counted["rows"]["aten::index_select"][1] == 2 * (2 * 8 * 4) + 2 * 8
    assert counted["view"] == {}


def test_a_call_is_charged_to_the_operator_that_works_even_when_another_had_to_wait(counted):
    assert counted["held"] == {"aten::index_select": 7}


def test_the_convolutions_of_a_model_are_counted_as_its_layers_say(resnet, counted):
    rows = {row["name"]: row for row in resnet["operators"]}
    assert rows["aten::mkldnn_convolution"]["flops"] == counted["convolutions"]
    assert rows["aten::mkldnn_convolution"]["calls"] == 20


def test_operators_are_of_the_classes_that_they_belong_to(resnet):
    kinds = {row["name"]: row["class"] for row in resnet["operators"]}
    assert kinds["aten::mkldnn_convolution"] == kinds["aten::convolution_backward"] == "contraction"
    assert kinds["aten::native_batch_norm"] == "normalisation"
    assert kinds["aten::add_"] == kinds["aten::mul_"] == "elementwise"
    assert kinds["aten::copy_"] == "movement"
    assert kinds["aten::conv2d"] is None  # it only calls another


def test_the_parts_of_memory_are_the_models_and_sum_to_the_peak(resnet, counted):
    memory = resnet["memory"]
    assert memory["parameters"] == memory["gradients_made"] == memory["optimizer_state"] == counted[
        "parameters"]
    assert memory["buffers"] == counted["buffers"]
    assert memory["inputs"] == 4 * 3 * 32 * 32 * 4 + 4 * 8
    assert (memory["kept_from_earlier_iterations"], memory["holders"]) == (0, {})
    assert memory["peak"] == sum(memory[part] for part in PARTS)


PARTS = ("parameters", "buffers", "gradients", "optimizer_state", "inputs",
         "kept_from_earlier_iterations", "activations", "workspace")
KEEPING = """
    import json, sys
    sys.path[:0] = [{workloads!r}, {folder!r}]
    import torch
    import hooks
    from harness.profiler import memory, passes
    class Report:
        def __init__(self):
            self.losses = []
    weight, inputs, early = torch.nn.Parameter(torch.ones(1000)), torch.ones(1000), torch.ones(500)
    model = torch.nn.Module()
    model.weight = weight
    made, report = memory.Made(), Report()
    early = None  # its place may be another tensor's from now on
    def step():
        loss = (weight * inputs).sum()
        loss.backward()
        {keeps}
        report.losses.append(loss.detach())
    for _ in range(3):
        step()
    beside = memory.beside_kept(step, None, "cpu", made)
    print(json.dumps(passes.memory_pass(step, None, "cpu", made, beside)))
    """


def kept_by(folder, keeps):
    (folder / "hooks.py").write_text("""import ctypes

seen = []


def watcher(seen):
    return lambda tensor: seen.append(tensor)


watch = watcher([])


def leak_natively(size):
    libc = ctypes.CDLL(None)
    libc.malloc.restype = ctypes.c_void_p
    ctypes.memset(libc.malloc(ctypes.c_size_t(size)), 1, size)
""")
    script = textwrap.dedent(KEEPING).format(workloads=str(programs.WORKLOADS), folder=str(folder),
                                             keeps=keeps)
    done = subprocess.run([programs.python(), "-c", script], capture_output=True, text=True,
                          check=True, env=programs.environment())
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("keeps, name, line", [
    ("hooks.seen.append(weight.grad.clone())", "hooks.seen", 3),
    ("hooks.watch(weight.grad.clone())", "hooks.watcher.<locals>.<lambda>", 7)])
def test_what_is_kept_of_earlier_iterations_is_no_input_and_its_holder_is_named(
        tmp_path, keeps, name, line):
    memory, holders = kept_by(tmp_path, keeps)
    assert (memory["parameters"], memory["inputs"]) == (4000, 4000)
    assert memory["kept_from_earlier_iterations"] == 4 * 4000 + 4 * 4
    assert holders == {
        name: {
            "bytes": 16000, "tensors": 4, "shape": "1000 fp32", "place": f"hooks.py, line {line}"},
        "__main__.Report.losses": {"bytes": 16, "tensors": 4, "shape": "scalar fp32", "place": ""}}
    assert memory["peak"] == sum(memory[part] for part in PARTS)


def test_memory_that_no_tensor_has_is_outside_of_tensors(tmp_path):
    """Four iterations leak 65 MiB each before the peak is read."""
    sound, _ = kept_by(tmp_path, "pass")
    leaky, _ = kept_by(tmp_path, "hooks.leak_natively(65 << 20)")
    assert sound["outside_tensors"] > 50 << 20  # Python and PyTorch
    grown = leaky["outside_tensors"] - sound["outside_tensors"]
    assert grown == pytest.approx(4 * 65 << 20, rel=.05)
    assert leaky["kept_from_earlier_iterations"] == sound["kept_from_earlier_iterations"]


def test_what_autograd_saves_are_activations():
    """Most of the peak in a gradient of a gradient. (In resnet's, oneDNN's workspace decides where
    the peak is, by CPU.)"""
    memory = profile_of(LENNARD_JONES)["memory"]
    assert memory["peak"] / 2 < memory[
        "activations"] < memory["peak"] - memory["parameters"] - memory["optimizer_state"]


def test_own_times_and_the_rest_make_up_the_iteration(resnet):
    for index, whole in enumerate(resnet["iteration_seconds"]):
        own = sum(row["self_seconds"][index] for row in resnet["operators"])
        assert own + resnet["outside_seconds"][index] == pytest.approx(whole, rel=1e-6)


def test_the_difference_names_the_operator_that_was_made_slow(tmp_path):
    slow = shutil.copytree(programs.WORKLOADS, tmp_path / "slow",
                           ignore=shutil.ignore_patterns("__pycache__"))
    model = slow / "models" / "lennard_jones.py"
    source = model.read_text()
    model.write_text(
        source.replace("def make(case):", "def make(case):\n    torch.tanh = planted\n") + PLANTED)

    def runner(name, *arguments):
        done = subprocess.run([BIN.resolve() / name, *map(str, arguments)], capture_output=True,
                              text=True, timeout=300, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def item():
        for folder, out in ((programs.WORKLOADS, "before.json"), (slow.name, "after.json")):
            runner("nightjar-runner", "profile", TINY, "--workloads", folder, "--runs", 1,
                   "--iterations", 20, "--python", programs.python(), "--out", tmp_path / out)
        return json.loads(
            runner("nightjar", "profile-diff", tmp_path / "before.json", tmp_path / "after.json",
                   "--json"))["items"][0]

    # A run that never saw the machine undisturbed has calls, but no times.
    for _ in range(5):
        diff = item()
        worst = next(one for one in diff["changes"] if one["operator"] == "aten::cumsum")
        assert (worst["kind"], worst["after"]["calls"]) == ("appeared", 6)
        if diff["runs"]:
            break
    else:
        pytest.skip("this machine was disturbed in each of five comparisons")
    assert diff["changes"][0] == worst and worst["share"] > 0.5


PLANTED = """

tanh, ballast = torch.tanh, torch.ones(1 << 20)


def planted(values):
    torch.cumsum(ballast, 0)
    return tanh(values)
"""


def profiled_library():
    return str(pathlib.Path(programs.native()).parent / "libnightjar-profiled.so")


@pytest.mark.parametrize("name", [RESNET, LENNARD_JONES, "python/dcgan/train/cpu/fp32/b16/eager"])
def test_a_native_workload_and_its_twin_do_the_same_work_in_the_same_memory(name, monkeypatch):
    """But for Adam's step counts, which Python keeps as tensors, what the processes need outside of
    tensors, and what operators both are made of."""
    twin = profile_of(name)
    monkeypatch.setenv("NIGHTJAR_PROFILED", profiled_library())
    native = profile_of(name.replace("python/", "native/"))
    assert native["memory_reason"] is None
    ours, theirs = ({part: size for part, size in profile["memory"].items()
                     if part not in ("holders", "outside_tensors")}
                    for profile in (native, twin))
    assert ours == pytest.approx(theirs, rel=1e-4)
    products = [{
        row["name"]: row["flops"]
        for row in profile["operators"]
        if row["name"] in ("aten::mm", "aten::convolution_backward", "aten::mkldnn_convolution")}
                for profile in (native, twin)]
    assert products[0] == products[1] and sum(products[0].values()) > 1e6


def test_a_native_workload_that_there_is_not_in_a_precision_is_unavailable(monkeypatch):
    monkeypatch.setenv("NIGHTJAR_PROFILED", profiled_library())
    answer = profile_of(TINY.replace("python/", "native/").replace("fp32", "amp"))
    assert answer["status"] == "unavailable" and "no amp" in answer["reason"]


def test_a_native_workload_is_not_measured_in_python(monkeypatch):
    monkeypatch.delenv("NIGHTJAR_PROFILED", raising=False)
    answer = profile_of(TINY.replace("python/", "native/"))
    assert answer["status"] == "unavailable" and "for a profile only" in answer["reason"]


def profile_mine(folder, *more):
    """`nightjar-runner profile` of a command of one's own, which nothing has to be run for."""
    (folder / "mine.toml").write_text('[[workload]]\nname = "mine/sleep/eval/cpu/fp32/b1/eager"\n'
                                      'command = ["/bin/true"]\n')
    return subprocess.run(
        [BIN.resolve() / "nightjar-runner", "profile", "mine/**", "--commands", "mine.toml", *more],
        cwd=folder, capture_output=True, text=True, timeout=60)


def test_an_output_without_a_folder_is_written(tmp_path):
    done = profile_mine(tmp_path, "--out", "before.json")
    assert done.returncode == 1 and "not profiled" in done.stdout, done.stderr
    assert json.loads((tmp_path / "before.json").read_text())["items"][0]["status"] == "unavailable"


@pytest.mark.parametrize("out, words", [
    ("absent/before.json", "there is no folder"), (".", "it is a folder; name a file"),
    ("mine.toml/before.json", "is no folder")])
def test_an_output_that_cannot_be_written_is_refused_before_anything_runs(tmp_path, out, words):
    done = profile_mine(tmp_path, "--out", out)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"nightjar-runner: cannot write {out}: ") and words in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_command_of_ones_own_is_unavailable(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text(
        '[[workload]]\nname = "mine/sleep/eval/cpu/fp32/b1/eager"\ncommand = ["/bin/true"]\n')
    done = subprocess.run([BIN / "nightjar-runner", "profile", "mine/**", "--commands", file],
                          capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and "unavailable" in done.stdout and "not profiled" in done.stdout


@pytest.mark.parametrize("text",
                         ["{}", "no JSON", '{"items": [{"workload": "x"}]}', '{"items": []}', None])
def test_a_file_that_is_no_profile_is_refused_in_one_line(tmp_path, text):
    file = tmp_path / "profile.json"
    if text is not None:
        file.write_text(text)
    done = subprocess.run([BIN / "nightjar", "profile-diff", file, file], capture_output=True,
                          text=True)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1 and str(file) in done.stderr


def test_memory_at_the_peak_is_divided_by_what_marked_it():
    taken = [(0, 1, 10), (1, 2, 20), (2, 3, 5), (3, 1, -10), (4, 1, 40), (5, 2, -20), (6, 9, -7)]
    marks = [(blocks.SAVED, 1, 2), (blocks.GRADIENT, 4, 1), (blocks.SAVED, 0, 1)]
    parts = blocks.split({"parameters": 100}, blocks.blocks_of(taken), marks)
    assert parts == {
        "parameters": 100, "gradients": 40, "activations": 20, "workspace": 5, "gradients_made": 40,
        "peak": 165}


def test_gpu_time_is_divided_into_active_moving_and_idle():
    activities = [("kernel", 1, 3), ("kernel", 2, 4), ("transfer", 3, 6), ("transfer", 9, 12)]
    assert gpu.divide((0, 10), activities) == {"active": 3, "moving": 3, "idle": 4}
    assert gpu.kind_of("Memcpy HtoD (Pageable -> Device)") == "transfer"
    assert gpu.kind_of("ampere_sgemm") == "kernel"
    windows = [(0, 10), (10, 20)]
    assert gpu.device_rows([("aten::mm", 1, 3), ("aten::mm", 11, 12)],
                           windows) == {"aten::mm": [2, 1]}


class Recorded:
    """An event as PyTorch's profiler has them."""

    def __init__(self, name, number, start, end, on_device=False):
        self.name, self.on_device = lambda: name, on_device
        self.correlation_id = self.linked_correlation_id = lambda: number
        self.start_ns, self.end_ns = lambda: start, lambda: end


def test_what_a_gpu_did_belongs_to_the_operator_that_started_it():
    events = [
        Recorded("aten::mm", 1, 0, 5),
        Recorded("cudaLaunchKernel", 1, 1, 2),
        Recorded("step", 2, 0, 9),
        Recorded("sgemm", 1, 3, 7, True),
        Recorded("step", 2, 3, 9, True),
        Recorded("Memset", 0, 8, 9, True)]
    assert gpu.activities(events, 1, lambda event: event.on_device) == [
        ("aten::mm", "kernel", pytest.approx(2e-9), pytest.approx(6e-9)),
        ("Memset", "transfer", pytest.approx(7e-9), pytest.approx(8e-9))]


def hinted(*products):
    return [(hint["kind"], hint["dtype"], hint["dimensions"], hint["multiple"], hint["flops"])
            for hint in gpu.hints([gpu.Product(*one) for one in products])]


def test_products_that_miss_tensor_cores_are_hinted_at_greatest_first():
    products = [("aten.mm", "fp16", (8, 8, 7), 10), ("aten.mm", "fp16", (8, 8, 8), 99),
                ("aten.mm", "fp16", (8, 8, 7), 10), ("aten.mm", "int8", (8, 16, 16), 50)]
    assert hinted(*products) == [("alignment", "int8", [8, 16, 16], 16, 50),
                                 ("alignment", "fp16", [8, 8, 7], 8, 20)]


def test_hints_know_tf32_fp64_convolutions_layouts_and_tiles():
    assert hinted(("aten.mm", "tf32", (8, 8, 6), 10),
                  ("aten.mm", "fp64", (8, 8, 7), 5)) == [("alignment", "tf32", [8, 8, 6], 4, 10),
                                                         ("alignment", "fp64", [8, 8, 7], 2, 5)]
    assert hinted(("aten.mm", "fp32", (8, 8, 7), 10)) == [("precision", "fp32", [8, 8, 7], 0, 10)]
    # Three input channels; as a product its dimensions are multiples.
    assert hinted(("aten.convolution", "fp16", (1024, 64, 24), 9, (3, 64), "NHWC")) == [
        ("alignment", "fp16", [1024, 64, 24], 8, 9)]
    assert hinted(("aten.convolution", "bf16", (1024, 128, 576), 9, (64, 128), "NCHW")) == [
        ("layout", "bf16", [1024, 128, 576], 0, 9)]
    assert hinted(("aten.mm", "fp16", (136, 1024, 64), 9)) == [
        ("tile", "fp16", [136, 1024, 64], 128, 9)]
    assert not hinted(("aten.mm", "fp16", (1016, 1024, 64), 9), ("aten.mm", "fp16", (8, 8, 64), 9))


def test_time_in_no_operator_is_what_no_thread_covers():
    inner = tree.Node("detach", 1.5, 3.5,
                      [tree.Node("aten::empty", 2, 3)])  # a range: its own second is mm's
    main = tree.Node(tree.ITERATION, 0, 10, [tree.Node("aten::mm", 1, 4, [inner])])
    other = tree.Node("autograd::engine::evaluate_function: X", 3, 8, [tree.Node("aten::mm", 3, 6)])
    _, rows, outside = tree.per_iteration([main, other])
    assert rows == {"aten::mm": ([5], [2]), "aten::empty": ([1], [1])}
    assert outside == [5]
