"""What starts pilots on Kubernetes and Buildkite: valid by the published schema, and with what
measuring needs. No cluster is asked."""
import copy
import json
import re
import subprocess

import jsonschema
import pytest
import yaml

from conftest import ROOT

KUBERNETES = ROOT / ".cache" / "testdata" / "kubernetes.json"
JOB = yaml.safe_load((ROOT / "deploy/kubernetes/pilot.yaml").read_text())
PIPELINE = yaml.safe_load((ROOT / "deploy/buildkite/pipeline.yml").read_text())
# Schema of a command step, from Buildkite's documentation. Leaves out what this pipeline does not
# need.
COMMAND_STEP = {
    "type": "object", "additionalProperties": False, "required": ["command"], "properties": {
        "label": {"type": "string"}, "key": {"type": "string"}, "command": {"type": "string"},
        "agents": {"type": "object", "additionalProperties": {"type": "string"}},
        "concurrency": {"type": "integer", "minimum": 1}, "concurrency_group": {"type": "string"},
        "timeout_in_minutes": {"type": "integer", "minimum": 1},
        "cancel_on_build_failing": {"type": "boolean"},
        "retry": {"type": "object", "additionalProperties": False,
                  "properties": {"automatic": {"type": "boolean"}}},
        "env": {"type": "object", "additionalProperties": {"type": "string"}}}}


def complaints(job):
    schema = json.loads(KUBERNETES.read_text()) | {"$ref": "#/$defs/io.k8s.api.batch.v1.Job"}
    return [error.message for error in jsonschema.Draft202012Validator(schema).iter_errors(job)]


def pod():
    return JOB["spec"]["template"]["spec"]


def until(command):
    return int(re.search(r"--until (\d+)", command)[1])


@pytest.mark.skipif(not KUBERNETES.exists(), reason="deploy/build --tests fetches the schema")
def test_the_job_is_one_by_the_published_schema():
    assert complaints(JOB) == []
    # The schema tells.
    for path, value in ((("spec", "backofLimit"), 0), (("spec", "backoffLimit"), "none"),
                        (("spec", "template", "spec", "restartPolicy"), ["Never"])):
        wrong = copy.deepcopy(JOB)
        place = wrong
        for name in path[:-1]:
            place = place[name]
        place[path[-1]] = value
        assert complaints(wrong), path


def test_the_pod_has_whole_cpus_of_its_own():
    """Guaranteed quality of service, which the static CPU manager gives cores of their own."""
    for container in pod()["containers"]:
        resources = container["resources"]
        assert resources["requests"] == resources["limits"]
        assert resources["limits"]["cpu"].isdigit() and "memory" in resources["limits"]
        assert resources["limits"]["nvidia.com/gpu"] == "1"


def test_the_pod_has_no_rights_and_ends_with_its_slice():
    assert pod()["securityContext"]["runAsNonRoot"] is True
    assert pod()["automountServiceAccountToken"] is False
    (container, ) = pod()["containers"]
    assert container["securityContext"]["allowPrivilegeEscalation"] is False
    assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    command = container["args"][0]
    assert JOB["spec"]["activeDeadlineSeconds"] - until(command) >= 600
    assert '--doctor "$DOCTOR"' in command


def test_the_agent_is_told_what_its_gpu_measures():
    (container, ) = pod()["containers"]
    command = container["args"][0]
    given = {one["name"]: one.get("value") for one in container["env"]}
    assert given["DEVICE"] == "cuda" and given["VARIANT"].startswith("cu")
    assert given["DOCTOR"] == "advisory"  # a cloud's clocks are not locked: a note, no dead pod
    for words in ('--device "$DEVICE"', '--label "variant=$VARIANT"', '--label "$LABEL"'):
        assert words in command, words


def test_the_pipeline_is_one_command_step():
    assert list(PIPELINE) == ["steps"]
    (step, ) = PIPELINE["steps"]
    jsonschema.validate(step, COMMAND_STEP)
    assert step["timeout_in_minutes"] * 60 - until(step["command"]) >= 600
    assert re.findall(r"(?<!\$)\$(?!\$)", step["command"]) == []  # the upload would fill them in


@pytest.mark.parametrize("command", [
    pod()["containers"][0]["args"][0],
    PIPELINE["steps"][0]["command"].replace("$$", "$")])
def test_the_commands_are_bash_and_name_options_that_there_are(command):
    assert subprocess.run(["bash", "-n"], input=command, text=True).returncode == 0
    help_text = subprocess.run([ROOT / "build/bin/nightjar-runner", "--help"], text=True,
                               capture_output=True, check=True).stdout
    for option in re.findall(r"--[a-z-]+", command):
        assert option in help_text, option
