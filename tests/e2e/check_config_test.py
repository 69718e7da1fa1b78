"""`nightjard --check-config` tries out what a configuration names, and `--local-runner` takes
workloads of one's own."""

import subprocess

import pytest

from world import BIN, git

COMMANDS = """\
[[workload]]
name = "mine/sort/eval/cpu/fp32/b1/eager"
command = ["sh", "sort.sh"]
torch = false
"""


@pytest.fixture
def place(tmp_path):
    """A folder with a configuration whose places are all there."""
    (tmp_path / "wheels").mkdir()
    (tmp_path / "wheels" / "torch-2.15.0.dev20260820+cpu-cp311-cp311-linux_x86_64.whl").touch()
    (tmp_path / "repository").mkdir()
    git(tmp_path / "repository", "init", "-q", "-b", "main")
    git(tmp_path / "repository", "commit", "-q", "--allow-empty", "-m", "first")
    (tmp_path / "nightjar.toml").write_text("""\
[service]
data = "data"
port = 0
port_file = "port"
[source]
directory = "wheels"
[repository]
url = "repository"
[night]
workloads = ["mine/**"]
on_new_build = false
[report]
directory = "reports"
""")
    return tmp_path


def check(place, *more):
    return subprocess.run([BIN / "nightjard", "--config", place / "nightjar.toml",
                           "--check-config", *more], capture_output=True, text=True, timeout=120)


@pytest.mark.first
def test_what_a_configuration_names_is_tried_out(place):
    sound = check(place)
    assert (sound.returncode, sound.stderr) == (0, "")
    next((place / "wheels").iterdir()).unlink()
    (place / "chat").write_text("http://127.0.0.1:1/hooks/the-chat-token\n")
    with open(place / "nightjar.toml", "a") as config:
        config.write('[chat]\nurl_file = "chat"\nformat = "slack"\n')
    (place / "repository").rename(place / "elsewhere")
    found = check(place)
    assert found.returncode == 1 and "not all that it names can be used" in found.stdout
    assert "[repository] url: cannot fetch" in found.stderr
    assert "[source] directory: " in found.stderr
    assert "[chat] url_file: http://127.0.0.1:1 does not answer" in found.stderr
    assert "the-chat-token" not in found.stderr
    assert not (place / "data").exists()
    assert check(place, "--offline").returncode == 0


def test_a_local_runner_has_workloads_of_ones_own(place, world):
    (place / "mine.toml").write_text(COMMANDS)
    (place / "sort.sh").write_text("exit 0\n")
    refused = subprocess.run([BIN / "nightjard", "--config", place / "nightjar.toml", "--commands",
                              place / "mine.toml"], capture_output=True, text=True, timeout=60)
    assert refused.returncode == 2 and "--local-runner" in refused.stderr
    w = world()
    w.start("nightjard", BIN / "nightjard", "--config", w.config, "--local-runner", "--commands",
            place / "mine.toml")
    w.wait("the daemon to listen", w.port_file.exists, 30)
    w.wait("the runner to register", lambda: w.items("runners"))
    assert "mine/sort/eval/cpu/fp32/b1/eager@1" in w.items("runners")[0]["workloads"]
