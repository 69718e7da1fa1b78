"""Makes a job of GitHub Actions a runner of a Nightjar service: finds or fetches nightjar-runner,
and becomes it. Reads GitHub's environment variables and the inputs of action.yml. Exit codes until
then: 2 wrong use, 3 something broke."""

import os
import pathlib
import re
import shlex
import shutil
import sys
import tempfile
import time

import program
from program import Broken, WrongUse

# What only `start` may set, so that the inputs and `options` cannot contradict each other.
OURS = ("--service", "--oidc", "--audience", "--until", "--idle", "--name", "--device", "--suite",
        "--doctor", "--cache", "--token-file", "--enrol")


def given(name):
    return os.environ.get(f"INPUT_{name}", "").strip()


def number(name, most):
    text = given(name)
    if not re.fullmatch(r"[0-9]+", text) or not 0 < int(text) <= most:
        raise WrongUse(f"the input '{name.lower()}' is {text!r}, and not a number from 1 to {most}")
    return int(text)


def require_token():
    """Before anything is fetched, says why GitHub would give this job no token."""
    if os.environ.get("GITHUB_EVENT_NAME", "").startswith("pull_request"):
        raise WrongUse("a job of a pull request is never let in, since a stranger may have written "
                       "what it runs; start this workflow by schedule, push or workflow_dispatch")
    if not os.environ.get("ACTIONS_ID_TOKEN_REQUEST_URL"):
        raise WrongUse("GitHub gives this job no token: the job needs 'permissions: {id-token: "
                       "write}'")


def runner_name():
    """GitHub's runner is the machine. Those that it hosts have names that others get, too."""
    if given("NAME"):
        return given("NAME")
    name = os.environ.get("RUNNER_NAME", "github")
    if os.environ.get("RUNNER_ENVIRONMENT") == "github-hosted":
        name += " " + os.environ.get("GITHUB_RUN_ID", "")
    return name.strip()


def further_options():
    try:
        words = shlex.split(given("OPTIONS"))
    except ValueError as error:
        raise WrongUse(f"the input 'options' cannot be read: {error}") from error
    for word in words:
        if word.partition("=")[0] in OURS:
            raise WrongUse(f"the input 'options' has {word}, for which the action has an input or "
                           "a value of its own")
    return words


def options_of(name, folder):
    """What nightjar-runner is started with, but for the time."""
    if not given("SERVICE"):
        raise WrongUse("the input 'service' is needed: the address of a Nightjar service")
    options = ["--service", given("SERVICE"), "--oidc", "github", "--name", name,
               "--idle", str(number("IDLE", 1_000_000)),
               "--cache", given("CACHE") or str(folder / "nightjar-cache")]
    for label in given("LABELS").split() + [f"variant={given('VARIANT')}"] * bool(given("VARIANT")):
        options += ["--label", label]
    for option in ("AUDIENCE", "DEVICE", "SUITE", "DOCTOR"):
        if given(option):
            options += [f"--{option.lower()}", given(option)]
    return options + further_options()


def tell(file, text):
    """Appends to a file that GitHub names in its environment."""
    if os.environ.get(file):
        with open(os.environ[file], "a", encoding="utf-8") as out:
            out.write(text + "\n")


def start():
    begun, minutes = time.monotonic(), number("MINUTES", 100_000)
    folder = pathlib.Path(os.environ.get("RUNNER_TEMP", tempfile.gettempdir()))
    require_token()
    name = runner_name()
    options = options_of(name, folder)
    if given("ARCHIVE"):
        path = program.unpacked(given("ARCHIVE"), given("SHA256"), folder)
    else:
        path = shutil.which(given("PROGRAM"))
    if not path:
        raise WrongUse(f"there is no program {given('PROGRAM')!r} here; run the job in the image "
                       "nightjar-runner, or name its 'program' or an 'archive'")
    print(f"{program.version(path)} as {name!r} for {given('SERVICE')}, for {minutes} minutes",
          flush=True)
    tell("GITHUB_OUTPUT", f"name={name}")
    tell("GITHUB_STEP_SUMMARY", f"This job is the runner `{name}` of {given('SERVICE')}. What it "
         "measures is shown there.")
    left = max(1, round(60 * minutes - (time.monotonic() - begun)))
    os.execv(path, [str(path), *options, "--until", str(left)])


def main():
    try:
        start()
    except (WrongUse, Broken) as problem:
        print(f"::error::{problem}")
        return 2 if isinstance(problem, WrongUse) else 3
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
