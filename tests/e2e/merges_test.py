"""`nightjar bisect run --into-merges`: which commit of a merged branch made it worse."""

import json
import os
import pathlib
import signal
import subprocess
import time

import pytest

BIN = pathlib.Path(
    os.environ.get("NIGHTJAR_BIN",
                   pathlib.Path(__file__).resolve().parents[2] / "build" / "bin"))
# 10, and 10 more for each file whose name begins with "slow"; nothing scatters.
MEASURE = "expr 10 + 10 '*' $(ls | grep -c ^slow)"


class Shape:
    """A repository that grows by commits of one file each, named by what they are for."""

    def __init__(self, path):
        self.path = path / "r"
        self.environment = {**os.environ, "HOME": str(path), "TMPDIR": str(path)}
        self.run("init", "-q", "-b", "main", self.path, folder=path)
        self.commit("first")

    def run(self, *arguments, folder=None):
        return subprocess.run([
            "git", "-c", "user.name=n", "-c", "user.email=n@n", "-c", "merge.conflictStyle=merge",
            "-C", folder or self.path, *map(str, arguments)], check=True, capture_output=True,
                              text=True, env=self.environment).stdout.strip()

    def commit(self, *names):
        for name in names:
            (self.path / name).write_text(name)
            self.run("add", "-A")
            self.run("commit", "-qm", name)

    def branch(self, name, *files, at="HEAD"):
        """The main line stays where it is."""
        self.run("checkout", "-q", "-b", name, at)
        self.commit(*files)
        self.run("checkout", "-q", "main")

    def merge(self, *names, options=()):
        self.run("merge", "-q", "--no-ff", "-m", f"merge {' '.join(names)}", *options, *names)

    def id(self, subject, among="--all"):
        return self.run("log", among, "--format=%H", "-1", f"--grep=^{subject}$")

    def command(self, *arguments, measure=MEASURE, good="first"):
        return [BIN / "nightjar", "bisect", "run", "--repo", self.path, "--good", self.id(good),
                "--bad", "main", "--measure", measure, *arguments]

    def search(self, *arguments, **options):
        done = subprocess.run(self.command("--into-merges", "--json", *arguments, **options),
                              capture_output=True, text=True, timeout=300, env=self.environment)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)


@pytest.fixture
def shape(tmp_path):
    return Shape(tmp_path)


def culprits(answer):
    return [step["commits"] for step in answer["culprits"]]


def blamed(answer):
    return [(one["merge"], one["blamed"], [culprits(branch) for branch in one["branches"]])
            for one in answer["inside_merges"]]


@pytest.mark.first
def test_the_commit_of_a_merged_branch_is_named(shape):
    shape.branch("topic", "a", "b", "slow", "c")
    shape.commit("d", "e")
    shape.merge("topic")
    shape.commit("f")
    answer = shape.search()
    assert culprits(answer) == [[shape.id("merge topic")]]
    assert blamed(answer) == [(shape.id("merge topic"), "branch", [[[shape.id("slow")]]])]
    (branch,) = answer["inside_merges"][0]["branches"]
    assert (branch["good"], branch["bad"]) == (shape.id("first"), shape.id("c"))
    assert branch["runs"] > 0 and branch["culprits"][0]["change"]["ratio"] == pytest.approx(
        2, rel=.01)
    text = subprocess.run(shape.command("--into-merges"), capture_output=True, text=True,
                          env=shape.environment)
    assert f"inside the merge {shape.id('merge topic')[:12]}, from " in text.stdout
    assert f"\n{shape.id('slow')} slow\n" in text.stdout
    assert "--into-merges" not in text.stdout
    without = subprocess.run(shape.command(), capture_output=True, text=True, env=shape.environment)
    assert without.stdout.endswith(
        "to go on in what the merge brought: the same command with --into-merges\n")


def test_of_several_branches_merged_at_once_the_one_that_did_it_is_named(shape):
    shape.branch("one", "a", "b")
    shape.branch("two", "c", "slow", "d")
    shape.branch("three", "e")
    shape.commit("f")
    shape.merge("one", "two", "three")
    answer = shape.search()
    merge = shape.id("merge one two three")
    assert culprits(answer) == [[merge]]
    assert blamed(answer) == [(merge, "branch", [[], [[shape.id("slow")]], []])]


def test_a_merge_inside_a_merged_branch_is_gone_into_as_well(shape):
    shape.branch("inner", "a", "slow", "b")
    shape.run("checkout", "-q", "-b", "outer")
    shape.commit("c")
    shape.merge("inner")
    shape.commit("d")
    shape.run("checkout", "-q", "main")
    shape.commit("e")
    shape.merge("outer")
    outer, inner = shape.id("merge outer"), shape.id("merge inner")
    assert blamed(shape.search()) == [(outer, "branch", [[[inner]]]),
                                      (inner, "branch", [[[shape.id("slow")]]])]


def test_where_only_both_sides_together_are_slow_the_merge_is_to_blame(shape):
    shape.branch("topic", "a", "half1", "b")
    shape.commit("c", "half2")
    shape.merge("topic")
    shape.commit("d")
    both = "expr 10 + 10 '*' '(' $(ls | grep -c ^half) / 2 ')'"
    answer = shape.search(measure=both)
    (inside,) = answer["inside_merges"]
    assert blamed(answer) == [(shape.id("merge topic"), "merge", [[]])]
    assert inside["branches"][0]["outcome"] == "not_reproduced"
    assert "its branch alone does not show the change" in inside["reason"]
    text = subprocess.run(shape.command("--into-merges", measure=both), capture_output=True,
                          text=True, env=shape.environment).stdout
    assert f"the merge {shape.id('merge topic')[:12]} itself is to blame: its branch alone" in text


def test_what_a_branch_took_from_the_main_line_is_not_its_own(shape):
    """The branch merged a slow main line and is slow itself, by one of its own commits."""
    shape.branch("topic", "a")
    shape.commit("slow1")
    shape.run("checkout", "-q", "topic")
    shape.run("merge", "-q", "--no-ff", "-m", "take main", "main")
    shape.commit("b", "slow2", "c")
    shape.run("checkout", "-q", "main")
    shape.commit("d")
    shape.merge("topic")
    answer = shape.search(good="slow1")
    took = shape.id("take main")
    assert blamed(answer) == [
        (shape.id("merge topic"), "branch", [[[took], [shape.id("slow2")]]]),
        (took, "nobody", [])]


def test_a_merge_that_only_took_what_was_there_does_not_explain_the_one_around_it(shape):
    shape.branch("topic", "a")
    shape.commit("slow1")
    shape.run("checkout", "-q", "topic")
    shape.run("merge", "-q", "--no-ff", "-m", "take main", "main")
    shape.run("checkout", "-q", "main")
    shape.commit("d")
    shape.run("merge", "-q", "--no-ff", "--no-commit", "topic")
    (shape.path / "slow2").write_text("of the merge itself")
    shape.run("add", "-A")
    shape.run("commit", "-qm", "merge topic")
    answer = shape.search(good="slow1")
    took = shape.id("take main")
    assert blamed(answer) == [(shape.id("merge topic"), "merge", [[[took]]]), (took, "nobody", [])]
    (outer, _) = answer["inside_merges"]
    assert outer["reason"] == "what its branch shows was there before the merge"


def test_a_culprit_that_is_no_merge_is_the_answer(shape):
    shape.branch("topic", "a", "b")
    shape.merge("topic")
    shape.run("checkout", "-q", "-b", "quick")
    shape.commit("c", "slow")
    shape.run("checkout", "-q", "main")
    shape.run("merge", "-q", "--ff-only", "quick")
    shape.commit("d")
    answer = shape.search()
    assert culprits(answer) == [[shape.id("slow")]] and answer["inside_merges"] == []


def test_a_history_of_its_own_has_no_good_end(shape):
    shape.run("checkout", "-q", "--orphan", "other")
    shape.run("rm", "-qrf", ".")
    shape.commit("slow")
    shape.run("checkout", "-q", "main")
    shape.commit("a")
    shape.merge("other", options=("--allow-unrelated-histories",))
    answer = shape.search(good="a")
    assert blamed(answer) == [(shape.id("merge other"), "merge", [])]
    assert "nothing in common" in answer["inside_merges"][0]["reason"]


def test_a_merge_that_keeps_none_of_the_branch_is_to_blame_itself(shape):
    shape.branch("topic", "a", "b")
    shape.commit("c")
    shape.run("merge", "-q", "--no-ff", "--no-commit", "-s", "ours", "topic")
    (shape.path / "slow").write_text("of the merge itself")
    shape.run("add", "-A")
    shape.run("commit", "-qm", "merge topic")
    assert blamed(shape.search()) == [(shape.id("merge topic"), "merge", [[]])]


def test_an_untestable_tip_leaves_the_merge_to_blame(shape):
    shape.branch("topic", "a", "slow", "broken")
    shape.commit("b")
    shape.merge("topic")
    answer = shape.search(measure="test -e b -o ! -e broken || exit 125; " + MEASURE)
    assert culprits(answer) == [[shape.id("merge topic")]]
    assert "its branch cannot be searched: the bad end" in answer["inside_merges"][0]["reason"]


def test_paths_limit_the_commits_of_a_branch_too(shape):
    shape.branch("topic", "a", "slow", "b")
    shape.commit("c")
    shape.merge("topic")
    (branch,) = shape.search("--path", "slow")["inside_merges"][0]["branches"]
    tested = {commit for share in branch["posterior"] for commit in share["commits"]}
    assert culprits(branch) == [[shape.id("slow")]] and shape.id("a") not in tested


def in_json(names):
    """The measure's number by these names, in a file."""
    return f"""x=$({MEASURE}); python3 -c "import json; json.dump({{n: $x for n in \
'{names}'.split()}}, open('out.json', 'w'))" """


def test_a_benchmark_in_a_file_is_followed_into_the_merge(shape):
    shape.branch("topic", "a", "slow", "b")
    shape.commit("c")
    shape.merge("topic")
    answer = shape.search("--measure-file", "out.json", "--only", "one", measure=in_json("one two"))
    assert blamed(answer) == [(shape.id("merge topic"), "branch", [[[shape.id("slow")]]])]
    assert answer["benchmark"] == answer["inside_merges"][0]["branches"][0]["benchmark"] == "one"


# In a file: the number of "slow" files, that of "late" ones, and one that never moves. A run is a
# line of the log.
THREE = """echo >> '{log}'; python3 -c "import glob, json
json.dump({{'slow': 10 + len(glob.glob('slow*')), 'late': 10 + len(glob.glob('late*')),
'still[1]': 10}}, open('out.json', 'w'))" """


def test_each_of_several_benchmarks_is_followed_into_its_merge(shape, tmp_path):
    shape.branch("topic", "a", "slow", "b", "late1", "late2", "c")
    shape.merge("topic")
    shape.commit("d")
    shape.branch("other", "e", "late3", "late4")
    shape.merge("other")
    log, state = tmp_path / "log", tmp_path / "state.json"
    options = ["--measure-file", "out.json", "--threshold", ".05", "--state", state]
    measure = THREE.format(log=log)
    answer = shape.search(*options, measure=measure)
    assert answer["did_not_move"] == ["still[1]"]
    found = {one["benchmark"]: one for one in answer["benchmarks"]}
    topic, other = shape.id("merge topic"), shape.id("merge other")
    assert blamed(found["slow"]) == [(topic, "branch", [[[shape.id("slow")]]])]
    # Both of late1 and late2 are steps.
    assert [one[:2] for one in blamed(found["late"])] == [(topic, "branch"), (other, "branch")]
    assert culprits(found["late"]["inside_merges"][0]["branches"][0]) == [
        [shape.id("late1")], [shape.id("late2")]]
    runs = len(log.read_text().splitlines())
    # The runs of the branch that both have as culprit were made once.
    kept = json.loads(state.read_text())
    assert runs == len(kept["runs"]) + sum(len(one["runs"]) for one in kept["inside_merges"])
    assert len(kept["inside_merges"]) == 2
    again = shape.search(*options, measure=measure)
    assert [blamed(one) for one in again["benchmarks"]] == [
        blamed(one) for one in answer["benchmarks"]]
    assert len(log.read_text().splitlines()) == runs
    text = subprocess.run(shape.command("--into-merges", *options, measure=measure),
                          capture_output=True, text=True, env=shape.environment).stdout
    assert text.count(f"inside the merge {topic[:12]}, from ") == 2
    assert "1 did not move: still[1]\n" in text


def test_a_search_that_was_killed_inside_a_merge_goes_on_there(shape, tmp_path):
    shape.branch("topic", "a", "b", "slow", "c")
    shape.commit("d")
    shape.merge("topic")
    state, log = tmp_path / "state.json", tmp_path / "log"
    measure = f"echo >> '{log}'; {MEASURE}"
    process = subprocess.Popen(shape.command("--into-merges", "--state", state, measure=measure),
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               env=shape.environment)
    while not (state.exists() and "inside_merges" in state.read_text()):
        assert process.poll() is None
        time.sleep(.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    before = json.loads(state.read_text())
    kept = len(before["runs"]) + sum(len(one["runs"]) for one in before["inside_merges"])
    log.write_text("")
    answer = shape.search("--state", state, measure=measure)
    (branch,) = answer["inside_merges"][0]["branches"]
    assert culprits(branch) == [[shape.id("slow")]]
    assert answer["runs"] + branch["runs"] == kept + len(log.read_text().splitlines())
