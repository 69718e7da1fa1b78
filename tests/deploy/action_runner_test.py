"""deploy/action-runner without a service: where it gets its program from, what it starts it with,
and what it refuses. tests/e2e/action_runner_test.py has real programs."""
import hashlib
import tarfile

import pytest

from composite_action import CompositeAction
from conftest import ROOT

# Says its version, or how it was started.
PROGRAM = """#!/bin/sh
[ "$1" = --version ] && echo "nightjar-runner 1.2.3" && exit
for word; do printf '%s\\n' "$word"; done >"$HOME/started"
"""
SERVICE = "https://nightjar.example.org"
TOKEN = {"ACTIONS_ID_TOKEN_REQUEST_URL": "http://127.0.0.1:1/token"}


@pytest.fixture
def pod(tmp_path):
    return CompositeAction(ROOT / "deploy" / "action-runner", tmp_path / "pod-1", TOKEN)


def program(folder, text=PROGRAM):
    path = folder / "nightjar-runner"
    path.write_text(text)
    path.chmod(0o755)
    return path


def started(pod):
    """{option: its values} of the program's last start."""
    words = (pod.folder / "home" / "started").read_text().splitlines()
    options = {}
    for name, value in zip(words[::2], words[1::2]):
        options.setdefault(name, []).append(value)
    return options


def test_its_inputs_become_options(pod, tmp_path):
    assert pod.run(service=SERVICE, program=str(program(tmp_path)), minutes="30", device="cuda",
                   variant="cu130", labels="pool=a\nrack=b", suite="nightly",
                   options="--commands 'my file'") == 0, pod.said()
    options = started(pod)
    assert 1700 < int(options.pop("--until")[0]) <= 1800
    assert options == {
        "--service": [SERVICE], "--oidc": ["github"], "--name": ["pod-1"], "--idle": ["300"],
        "--cache": [str(pod.folder / "temp" / "nightjar-cache")], "--device": ["cuda"],
        "--label": ["pool=a", "rack=b", "variant=cu130"], "--suite": ["nightly"],
        "--doctor": ["advisory"], "--commands": ["my file"]}
    assert "nightjar-runner 1.2.3 as 'pod-1'" in pod.said()


def test_runners_that_github_hosts_get_the_name_of_their_run(pod, tmp_path):
    pod.environment |= {"RUNNER_ENVIRONMENT": "github-hosted", "RUNNER_NAME": "GitHub Actions 3"}
    assert pod.run(service=SERVICE, program=str(program(tmp_path))) == 0
    assert pod.outputs() == {"name": "GitHub Actions 3 9876"}


def test_an_archive_runs_only_if_its_bytes_are_the_right_ones(pod, tmp_path):
    archive = tmp_path / "runner.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        tar.add(program(tmp_path), "opt/bin/nightjar-runner")
    assert pod.run(service=SERVICE, archive=str(archive), sha256="0" * 64) == 3
    assert "nothing of it was run" in pod.said()
    right = hashlib.sha256(archive.read_bytes()).hexdigest()
    assert pod.run(service=SERVICE, archive=str(archive), sha256=right) == 0, pod.said()
    assert started(pod)["--service"] == [SERVICE]


def test_a_program_of_another_system_is_one_clear_line(pod, tmp_path):
    broken = program(tmp_path, "#!/bin/sh\necho 'libgit2.so.1: not found' >&2; exit 127\n")
    assert pod.run(service=SERVICE, program=str(broken)) == 3
    assert f"::error::{broken} ended with 127: libgit2.so.1: not found" in pod.said()


@pytest.mark.parametrize("inputs, environment, says", [
    ({"service": ""}, {}, "the input 'service' is needed"),
    ({"minutes": "soon"}, {}, "the input 'minutes' is 'soon'"),
    ({"program": "no-such-program"}, {}, "there is no program 'no-such-program'"),
    ({"archive": "https://example.org/a.tar"}, {}, "the input 'sha256' is needed"),
    ({"options": "--enrol=once"}, {}, "the input 'options' has --enrol=once"),
    ({"options": "'"}, {}, "the input 'options' cannot be read"),
    ({}, {"ACTIONS_ID_TOKEN_REQUEST_URL": ""}, "permissions: {id-token: write}"),
    ({}, {"GITHUB_EVENT_NAME": "pull_request_target"}, "a job of a pull request"),
])
def test_wrong_use_is_one_clear_line(pod, inputs, environment, says):
    pod.environment |= environment
    assert pod.run(**{"service": SERVICE} | inputs) == 2
    assert says in pod.said() and "Traceback" not in pod.said()
