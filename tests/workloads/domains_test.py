"""The table of TorchBench's domains is read from a checkout, without running it."""

import json
import subprocess
import sys

import programs

programs.put_suite_on_path()
import torchbench_domains  # noqa: E402

MODELS = {
    "models/own": "class Model(BenchmarkModel):\n    task = NLP.TRANSLATION\n",
    "models/by_framework": "class Model(GraphModel):\n    pass\n",
    "models/by_own_base": "class Base(BenchmarkModel):\n    task = SPEECH.SYNTHESIS\n"
                          "class Model(Base):\n    pass\n",
    "models/says_nothing": "raise RuntimeError('it runs')\n"
                           "class Model(BenchmarkModel):\n    pass\n",
    "models/of_a_new_kind": "class Model(BenchmarkModel):\n    task = ROBOTICS.OTHER\n",
    "canary_models/early": "class Model(BenchmarkModel):\n    task = COMPUTER_VISION.DETECTION\n",
    "util/framework/gnn": "class GraphModel(BenchmarkModel):\n    task = GNN.CLASSIFICATION\n"}
FOUND = {
    "own": "language", "by_framework": "graphs", "by_own_base": "speech", "early": "vision"}


def checkout(folder):
    for name, source in MODELS.items():
        file = folder / "torchbenchmark" / name / "__init__.py"
        file.parent.mkdir(parents=True)
        file.write_text(source)
    return folder


def test_a_models_domain_is_the_task_that_its_class_declares_or_inherits(tmp_path):
    assert torchbench_domains.domains_of(checkout(tmp_path)) == FOUND


def test_the_table_is_as_the_program_writes_it(tmp_path):
    program = tmp_path / "torchbench_domains.py"
    program.write_text((programs.WORKLOADS / program.name).read_text())
    subprocess.run([sys.executable, program, checkout(tmp_path)], check=True)
    written = json.loads(program.with_suffix(".json").read_text())["domains"]
    kept = json.loads((programs.WORKLOADS / "torchbench_domains.json").read_text())["domains"]
    assert list(written) == list(kept)
    assert written["speech"] == ["torchbench/by_own_base"]
    assert sum(map(len, written.values())) == len(FOUND)


def test_what_is_no_checkout_is_wrong_use(tmp_path):
    done = subprocess.run([sys.executable, torchbench_domains.__file__, tmp_path],
                          capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (2, "torchbench_domains.py takes a checkout of "
                                              "TorchBench\n")
