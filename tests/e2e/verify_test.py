"""A verdict judged again from its own evidence: bundles of a real loop, whole and tampered with."""
import concurrent.futures
import copy
import json
import pathlib
import subprocess

import pytest
from loop_test import ALPHA, BETA, finish, first_night
from world import BIN, step

GOLDEN = pathlib.Path(__file__).parent / "golden"
KINDS = ["latency", "peak_cpu_memory", "dismissed"]


def verify(bundle, *options):
    text = bundle if isinstance(bundle, str) else json.dumps(bundle)
    return subprocess.run([BIN / "nightjar", "verify", "-", *options], input=text,
                          capture_output=True, text=True, timeout=60)


@pytest.fixture(scope="module")
def bundles(make_world):
    """Evidence of one night's regressions: two culprits by metric, and one that was dismissed."""
    w = make_world()
    first_night(w, step(ALPHA, 6, latency=1.2), step(BETA, 13, peak_cpu_memory=1.3),
                step(BETA, 9, latency=1.045))
    w.repo.grow(20)
    w.publish_nightly("2026-08-20")
    finish(w)
    found = [w.get(f"/api/v1/regressions/{r['id']}/evidence") for r in w.items("regressions")]
    kinds = {
        b["regression"]["metric"] if b["regression"]["culprit"] else b["regression"]["state"]: b
        for b in found}
    assert sorted(kinds) == sorted(KINDS)
    return kinds


@pytest.mark.first
@pytest.mark.parametrize("metric", ["latency", "peak_cpu_memory"])
def test_every_verdict_agrees(bundles, metric):
    done = verify(bundles[metric], "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    verdicts = json.loads(done.stdout)["verdicts"]
    assert [v["stage"] for v in verdicts] == ["screening", "confirmation", "wheels", "bisection"]
    assert [v["verdict"] for v in verdicts] == ["suspect_worse", "worse", "source", "culprit"]
    assert all(v["agrees"] for v in verdicts)


def test_a_dismissal_agrees_and_accuses_nobody(bundles):
    done = verify(bundles["dismissed"])
    assert done.returncode == 0, done.stdout + done.stderr
    assert "none is accused" in done.stdout


def test_the_text_says_whom_it_accuses_and_of_what(bundles):
    said = verify(bundles["latency"]).stdout
    regression = bundles["latency"]["regression"]
    assert regression["culprit"]["commits"][0] in said
    assert regression["workload"] in said and "latency" in said and "reported" in said


def is_list_of_figures(value):
    return isinstance(value,
                      list) and value and not any(isinstance(one, (dict, list)) for one in value)


def leaves(value, path=()):
    """Paths of all fields. Where a list has many alike (runs, jobs, figures), one of them stands
    for all."""
    if is_list_of_figures(value):
        yield *path, len(value) // 2
    elif isinstance(value, list) and path != ("changes",):
        for key in {0, len(value)
                    // 2} if path == ("builds", ) else {len(value) // 2} & set(range(len(value))):
            yield from leaves(value[key], (*path, key))
    elif isinstance(value, (dict, list)):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(inner, (*path, key))
    else:
        yield path


def another(value):
    if isinstance(value, bool) or value is None:
        return not value
    if isinstance(value, int):
        return value + 1
    if isinstance(value, float):
        return value * 1.01 + .001
    return value[:-1] + ("0" if not value.endswith("0") else "1")


def edited(bundle, path):
    copied = copy.deepcopy(bundle)
    place = copied
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = another(place[path[-1]])
    return copied


def name_of(path):
    """The field's own name: what a message must hold."""
    return next(key for key in reversed(path) if isinstance(key, str))


def not_noticed(bundle, path):
    """What is wrong with the answer to a bundle with this one field edited; None if nothing is."""
    done = verify(edited(bundle, path))
    if done.returncode not in (1, 2):
        return f"{path}: exit code {done.returncode} {done.stderr}"
    if name_of(path) not in done.stdout + done.stderr:
        return f"{path}: not named in {done.stdout + done.stderr}"
    return None


def complaints(bundle, paths):
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        return [wrong for wrong in pool.map(lambda path: not_noticed(bundle, path), paths) if wrong]


@pytest.mark.parametrize("kind", KINDS)
def test_every_edited_field_is_named(bundles, kind):
    bundle = bundles[kind]
    paths = list(leaves({key: value for key, value in bundle.items() if key != "seal"}))
    assert len(paths) > 150
    found = complaints(bundle, paths)
    assert not found, "\n".join(found[:20])


@pytest.mark.parametrize("path", [("seal", "sha256"), ("seal", "fields", "nightjar"),
                                  ("seal", "fields", "builds")])
def test_an_edited_seal_is_no_seal(bundles, path):
    bundle = copy.deepcopy(bundles["latency"])
    place = bundle["seal"] if len(path) == 2 else bundle["seal"]["fields"]
    place[path[-1]] = "00000000"
    done = verify(bundle)
    assert done.returncode == 1 and "/seal" in done.stdout


def unsealed(bundle):
    """The bundle as an earlier version wrote it, or as a person may cut it."""
    return {key: value for key, value in bundle.items() if key not in ("seal", "format_version")}


ACCUSATION = [("regression", "state"), ("regression", "workload"), ("regression", "metric"),
              ("regression", "unit"), ("regression", "night"), ("regression", "good"),
              ("regression", "bad"), ("regression", "culprit", "commits", 0),
              ("regression", "culprit", "probability"), ("regression", "culprit", "ratio"),
              ("regression", "culprit", "low"), ("regression", "culprit", "high")]


@pytest.mark.parametrize("metric", ["latency", "peak_cpu_memory"])
def test_the_accusation_is_derived_not_only_sealed(bundles, metric):
    bundle = unsealed(bundles[metric])
    assert verify(bundle).returncode == 0
    assert complaints(bundle,
                      [path for path in ACCUSATION if path != ("regression", "metric")]) == []
    assert verify(edited(bundle, ("regression", "metric"))).returncode in (1, 2)
    changes = range(len(bundle["changes"]))
    assert complaints(bundle, [("changes", change, "state") for change in changes]) == []


@pytest.mark.parametrize("kind,changes", [("latency", 6), ("dismissed", 2)])
def test_no_change_of_state_can_be_left_out(bundles, kind, changes):
    assert len(bundles[kind]["changes"]) == changes
    for left_out in range(changes):
        bundle = unsealed(copy.deepcopy(bundles[kind]))
        del bundle["changes"][left_out]
        done = verify(bundle)
        differs = done.returncode == 1 and "DIFFERS" in done.stdout
        assert differs, f"change {left_out}: {done.stdout}"


@pytest.mark.first
def test_an_innocent_commit_cannot_be_put_in_the_culprits_place(bundles):
    bundle = unsealed(copy.deepcopy(bundles["latency"]))
    search = next(c["evidence"]
                  for c in bundle["changes"]
                  if c["evidence"].get("stage") == "bisection")
    bundle["regression"]["culprit"]["commits"] = [search["commits"][3]]
    done = verify(bundle)
    assert done.returncode == 1 and "/regression/culprit/commits" in done.stdout


@pytest.mark.parametrize("cut", ["seal", "format_version"])
def test_a_seal_cannot_be_cut_off_alone(bundles, cut):
    bundle = copy.deepcopy(bundles["latency"])
    del bundle[cut]
    done = verify(bundle)
    assert done.returncode == 1 and cut in done.stdout


@pytest.fixture(scope="module")
def small_steps(make_world):
    """Evidence of one regression that two steps make together, each smaller than the threshold."""
    w = make_world()
    first_night(w, step(ALPHA, 6, latency=1.045), step(ALPHA, 14, latency=1.045))
    w.repo.grow(20)
    w.publish_nightly("2026-08-20")
    finish(w)
    bundle, = [w.get(f"/api/v1/regressions/{r['id']}/evidence") for r in w.items("regressions")]
    assert bundle["regression"]["culprit"]["commits"] == [w.repo.commits[6], w.repo.commits[14]]
    issue, = w.issues()
    first_line = next(line for line in issue.read_text().splitlines() if line.startswith("**"))
    assert "no single commit reaches the threshold of 7 %, but these 2 together do" in first_line
    return unsealed(bundle)


def test_contributors_are_accused_together(small_steps):
    done = verify(small_steps)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "several_small" in done.stdout and "these together" in done.stdout


@pytest.mark.parametrize("field", ["probability", "ratio", "low", "high"])
def test_an_edited_figure_of_all_contributors_differs(small_steps, field):
    assert complaints(small_steps, [("regression", "culprit", field)]) == []


@pytest.mark.parametrize("left_out", [0, 1])
def test_no_contributor_can_be_left_out_or_replaced(small_steps, left_out):
    commits = small_steps["regression"]["culprit"]["commits"]
    innocent = next(c["evidence"]["commits"][3]
                    for c in small_steps["changes"]
                    if "commits" in c["evidence"])
    other = [innocent if i == left_out else sha for i, sha in enumerate(commits)]
    for accused in (commits[:left_out] + commits[left_out + 1:], other):
        bundle = copy.deepcopy(small_steps)
        bundle["regression"]["culprit"]["commits"] = accused
        done = verify(bundle)
        assert done.returncode == 1 and "/regression/culprit/commits" in done.stdout, done.stdout


def test_an_accusation_of_contributors_cannot_be_deleted(small_steps):
    bundle = copy.deepcopy(small_steps)
    bundle["regression"]["culprit"] = None
    done = verify(bundle)
    assert done.returncode == 1 and "/regression/culprit is missing" in done.stdout


def test_a_bundle_survives_tools_that_write_numbers_otherwise(bundles):
    """jq and JavaScript write 1.0 as 1."""
    def whole(value):
        if isinstance(value, dict):
            return {key: whole(inner) for key, inner in reversed(value.items())}
        if isinstance(value, list):
            return [whole(inner) for inner in value]
        return int(value) if isinstance(value, float) and value.is_integer() else value
    done = verify(json.dumps(whole(bundles["latency"]), indent=3))
    assert done.returncode == 0, done.stdout


def old_bundle():
    return json.loads((GOLDEN / "bundle-before-seals.json").read_text())


def search_of(bundle):
    return next(c["evidence"]
                for c in bundle["changes"]
                if c["evidence"].get("stage") == "bisection")


def test_a_bundle_from_before_the_seals_is_judged_and_says_what_is_not_bound():
    done = verify(old_bundle(), "--json")
    said = json.loads(done.stdout)
    assert done.returncode == 0, done.stdout
    assert said["contradictions"] == [] and said["seal"] == {"present": False, "edited": []}
    assert [v["agrees"] for v in said["verdicts"]] == [True, True, True]
    assert "not bound" in verify(old_bundle()).stdout


def test_a_search_by_earlier_rules_agrees_if_todays_give_the_same_answer():
    said = verify(old_bundle()).stdout
    assert "made by rules 5; by rules 12, judged again, the answer is the same" in said


@pytest.mark.parametrize("field,value", [("commits", None), ("probability", .5), ("ratio", 1.3),
                                         ("low", 1.0), ("high", 1.5)])
def test_an_answer_by_earlier_rules_that_todays_do_not_give_differs(field, value):
    bundle = old_bundle()
    search = search_of(bundle)
    for place in (bundle["regression"]["culprit"], search["culprits"][0]):
        place[field] = value or [search["commits"][3]]
    done = verify(bundle)
    assert done.returncode == 1 and f"/culprits/0/{field}" in done.stdout, done.stdout
    assert "made by rules 5; by rules 12, judged again, /culprits" in done.stdout


def test_runs_that_do_not_lead_to_the_answer_differ_by_earlier_rules_too():
    bundle = old_bundle()
    del search_of(bundle)["runs"][-1]
    assert verify(bundle).returncode == 1


def test_builds_carry_their_hashes_and_runs_their_order(bundles):
    bundle = bundles["latency"]
    assert all(build["sha256"] for build in bundle["builds"])
    jobs = {job["id"] for job in bundle["jobs"]}
    assert {run["job"] for run in bundle["runs"]} == jobs
    assert all(job["spec"]["order"] for job in bundle["jobs"])


def tamper_sample(bundle):
    run = bundle["runs"][0]["result"]
    run["samples"]["latency"] = [1.5 * value for value in run["samples"]["latency"]]


def tamper_value(bundle):
    for change in bundle["changes"]:
        if change["evidence"].get("stage") == "bisection":
            change["evidence"]["runs"][3]["value"] *= 1.01


def tamper_culprit(bundle):
    for change in bundle["changes"]:
        for culprit in change["evidence"].get("culprits", []):
            culprit["probability"] = .5


def tamper_run(bundle):
    del bundle["runs"][-1]


def tamper_build(bundle):
    for run in bundle["runs"]:
        run["build"] = bundle["regression"]["good"]


def tamper_rules(bundle):
    for change in bundle["changes"]:
        change["evidence"]["rules"] = 1


@pytest.mark.parametrize(
    "tamper", [tamper_sample, tamper_value, tamper_culprit, tamper_run, tamper_build, tamper_rules])
def test_what_was_changed_differs(bundles, tamper):
    bundle = copy.deepcopy(bundles["latency"])
    tamper(bundle)
    done = verify(bundle)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "DIFFERS" in done.stdout


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"format": "nightjar-evidence"}'])
def test_what_is_no_bundle_is_refused_in_one_line(text):
    done = verify(text)
    assert done.returncode == 2
    assert done.stdout == "" and len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("path", [("changes", 1, "state"), ("changes", 0, "evidence", "stage"),
                                  ("changes", 1, "evidence", "verdict"), ("regression", "workload"),
                                  ("jobs", 0, "spec", "environments", 0, "version"),
                                  ("jobs", 0, "spec", "environments", 0, "git_version")])
def test_a_bundle_forges_no_line_and_steers_no_terminal(path):
    def said(text):
        bundle = old_bundle()
        place = bundle
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = text
        done = verify(bundle)
        return done.stdout + done.stderr
    forged = "seal          whole            agrees: no field was edited"
    hostile = said("\x1b[2J\x9b2J\u202e\n" + forged + "\n" + forged + "." * 100_000)
    assert hostile.count("\n") == said("x y").count("\n")
    assert not any(line.startswith("seal") and "whole" in line for line in hostile.splitlines())
    assert all(char.isprintable() or char == "\n" for char in hostile) and len(hostile) < 5000


def test_a_bundle_that_is_nested_without_end_is_refused(tmp_path):
    bundle = tmp_path / "bundle.json"
    deep = "[" * 100_000 + "]" * 100_000
    bundle.write_text('{"format": "nightjar-evidence", "builds": [], "changes": [], "runs": [], '
                      f'"regression": {{"metric": {deep}}}}}')
    done = subprocess.run([BIN / "nightjar", "verify", bundle], capture_output=True, text=True)
    assert done.returncode == 2 and "nested deeper than 64 levels" in done.stderr
