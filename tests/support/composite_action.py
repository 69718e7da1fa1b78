"""Runs a composite action as GitHub's runner does: its steps by `sh -e`, with their own environment
and GitHub's variables and files. Knows no expression but those that our actions have."""
import os
import re
import subprocess

import yaml


class CompositeAction:
    """One job on a runner with an empty file system below `folder`."""

    def __init__(self, action, folder, environment):
        self.action, self.folder = action, folder
        self.described = yaml.safe_load((action / "action.yml").read_text())
        self.process = None
        (folder / "temp").mkdir(parents=True)
        (folder / "home").mkdir()
        self.environment = {
            "PATH": os.environ["PATH"], "HOME": str(folder / "home"), "LANG": "C.UTF-8",
            "RUNNER_TEMP": str(folder / "temp"), "GITHUB_ACTION_PATH": str(action),
            "GITHUB_EVENT_NAME": "schedule", "GITHUB_RUN_ID": "9876",
            "RUNNER_ENVIRONMENT": "self-hosted", "RUNNER_NAME": folder.name, **environment}
        for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY"):
            self.environment[name] = str(folder / name.lower())
            (folder / name.lower()).touch()

    def start(self, **inputs):
        """Starts its only step; its log is said()."""
        known = self.described["inputs"]
        assert set(inputs) <= set(known), "no such input"
        missing = [name for name, one in known.items()
                   if one.get("required") and name not in inputs]
        assert not missing, f"required: {missing}"
        values = {name: inputs.get(name, one.get("default", "")) for name, one in known.items()}
        step, = self.described["runs"]["steps"]
        assert step["shell"] == "sh"
        script = self.folder / "temp" / "step.sh"
        script.write_text(step["run"])
        with open(self.folder / "log", "ab") as log:
            self.process = subprocess.Popen(
                ["sh", "-e", script], cwd=self.folder, stdout=log, stderr=log,
                stdin=subprocess.DEVNULL,
                env=self.environment | {name: evaluated(text, values)
                                        for name, text in step["env"].items()})
        return self.process

    def run(self, **inputs):
        return self.start(**inputs).wait(120)

    def said(self):
        return (self.folder / "log").read_text()

    def outputs(self):
        lines = (self.folder / "github_output").read_text().splitlines()
        return dict(line.split("=", 1) for line in lines)


def evaluated(text, inputs):
    name = re.fullmatch(r"\$\{\{ inputs\.([a-z0-9-]+) \}\}", text)
    assert name, f"{text} is no expression that this double knows"
    return inputs[name[1]]
