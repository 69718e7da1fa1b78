"""Asks nightjar what a workflow wants to know, and tells the answer in the job's summary, its
outputs and a comment on the pull request. Reads GitHub's environment variables and the inputs of
action.yml. Exit codes: 0 fine, 1 something is worse, 2 wrong use, 3 something broke."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

import comment
import paired

NOBODY = "0" * 40  # a push's "before" of a branch that is new


class WrongUse(Exception):
    pass


def given(name, required=False):
    value = os.environ.get(f"INPUT_{name}", "").strip()
    if required and not value:
        raise WrongUse(f"the input '{name.lower().replace('_', '-')}' is needed for this question")
    return value


def event():
    path = os.environ.get("GITHUB_EVENT_PATH")
    return json.loads(pathlib.Path(path).read_text()) if path else {}


def nightjar(*arguments):
    """(exit code, standard output) of nightjar, whose own messages go to the log. Raises where it
    could not answer."""
    done = subprocess.run(["nightjar", *arguments], stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode not in (0, 1):
        raise WrongUse(f"nightjar {arguments[0]} ended with {done.returncode}; see above")
    return done.returncode, done.stdout


def fenced(text):
    return f"```\n{text.rstrip()}\n```\n"


def tell(name, text):
    """Appends to a file that GitHub names in its environment; without it, prints."""
    path = os.environ.get(name)
    if not path:
        print(text)
        return
    with open(path, "a", encoding="utf-8") as out:
        out.write(text + "\n")


def bisect():
    pushed = event()
    good, bad = given("GOOD") or pushed.get("before"), given("BAD") or pushed.get("after")
    if not good or not bad or NOBODY in (good, bad):
        raise WrongUse("the inputs 'good' and 'bad' are needed: this event tells no range")
    state = pathlib.Path(os.environ.get("RUNNER_TEMP", tempfile.gettempdir())) / "search.json"
    search = ["bisect", "run", "--repo", given("REPOSITORY") or ".", "--good", good, "--bad", bad,
              "--measure", given("MEASURE", required=True), "--state", str(state)]
    for option, name in (("--build", "BUILD"), ("--threshold", "THRESHOLD"),
                         ("--direction", "DIRECTION"), ("--max-runs", "MAX_RUNS")):
        if given(name):
            search += [option, given(name)]
    _, text = nightjar(*search)
    _, answer = nightjar(*search, "--json")  # from the state, at once
    found = json.loads(answer)
    named = [commit for culprit in found["culprits"] for commit in culprit["commits"]]
    tell("GITHUB_OUTPUT", f"outcome={found['outcome']}\nculprits={' '.join(named)}")
    tell("GITHUB_STEP_SUMMARY", f"### Which commit?\n\n{fenced(text)}")
    return bool(named)


def sides():
    """(repository, base, head, number of the pull request)."""
    pull = event().get("pull_request")
    if not pull:
        raise WrongUse("'compare' is for the event pull_request; this event has no pull request")
    repository = given("REPOSITORY") or "."
    base, head = pull["base"]["sha"], pull["head"]["sha"]
    shared = paired.git(repository, "merge-base", base, head)
    return repository, shared, head, pull["number"]


def compare():
    repository, base, head, number = sides()
    with tempfile.TemporaryDirectory() as folder:
        files = paired.measure(pathlib.Path(folder), repository, (base, head),
                               given("BUILD"), given("MEASURE", required=True),
                               int(given("RUNS") or 12))
        options = ["compare", "--control", *files[0], "--treatment", *files[1]]
        options += ["--threshold", given("THRESHOLD") or "7%", "--fail-on", "worse"]
        options += [f"--{given('DIRECTION') or 'lower'}", "measure"]
        code, table = nightjar(*options, "--format", "markdown")
    verdict = "worse" if code == 1 else "fine"
    text = (f"### Compared with its base: {verdict}\n\n{table}\n"
            f"`{base[:12]}` and `{head[:12]}`, measured in turn.\n")
    tell("GITHUB_OUTPUT", f"outcome={verdict}")
    tell("GITHUB_STEP_SUMMARY", text)
    if given("COMMENT"):
        comment.put(number, given("COMMENT"), text, given("TOKEN"))
    return code == 1


def detect():
    series = given("SERIES", required=True)
    options = ["detect", series, "--fail-on", "worse"]
    options += ["--threshold", given("THRESHOLD") or "7%"]
    options += ["--direction", given("DIRECTION") or "lower"]
    code, text = nightjar(*options)
    tell("GITHUB_OUTPUT", f"outcome={'worse' if code == 1 else 'fine'}")
    tell("GITHUB_STEP_SUMMARY", f"### {series}\n\n{fenced(text)}")
    return code == 1


def main():
    questions = {"bisect": bisect, "compare": compare, "detect": detect}
    try:
        ask = questions.get(given("ASK", required=True))
        if ask is None:
            raise WrongUse(f"there is no question '{given('ASK')}'; there are: "
                           + ", ".join(questions))
        worse = ask()
    except (WrongUse, paired.Broken) as problem:
        print(f"::error::{problem}")
        return 2 if isinstance(problem, WrongUse) else 3
    return 1 if worse and given("FAIL_ON") != "never" else 0


if __name__ == "__main__":
    sys.exit(main())
