"""`nightjar bisect run` in repositories of every kind: each commit is measured in the files that
git has for it, or not at all, and nothing of the user changes."""

import hashlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import time

import pytest

BIN = pathlib.Path(
    os.environ.get("NIGHTJAR_BIN",
                   pathlib.Path(__file__).resolve().parents[2] / "build" / "bin"))
COMMITS, CULPRIT = 7, 4
LEVEL = f"expr 10 + 10 '*' '(' $(cat n) '>=' {CULPRIT} ')'"


class Home:
    """A user with a home of their own, and what they do there."""

    def __init__(self, path):
        self.path = path
        for name in ("home", "tmp"):
            (path / name).mkdir()
        inherited = {name: value for name, value in os.environ.items()
                     if not name.startswith("GIT_") and not name.startswith("XDG_")}
        self.environment = {**inherited, "HOME": str(path / "home"), "TMPDIR": str(path / "tmp")}
        self.settings("user.name=n", "user.email=n@n", "protocol.file.allow=always")

    def settings(self, *pairs):
        for pair in pairs:
            self.git(self.path, "config", "--global", *pair.split("=", 1))

    def git(self, folder, *arguments, **environment):
        return subprocess.run(["git", "-C", folder, *map(str, arguments)], check=True,
                              capture_output=True, text=True, env={
                                  **self.environment, **environment}).stdout.strip()

    def commit(self, folder, message):
        self.git(folder, "add", "-A")
        self.git(folder, "commit", "-qm", message)

    def history(self, name="r", files=lambda number: {}, options=()):
        """A repository whose file `n` counts its commits."""
        folder = self.path / name
        self.git(self.path, "init", "-q", "-b", "main", *options, folder)
        for number in range(COMMITS):
            for path, text in {"n": str(number), **files(number)}.items():
                (folder / path).write_text(text)
            self.commit(folder, f"commit {number}")
        return folder

    def program(self, name, text):
        """An executable file."""
        path = self.path / name
        path.write_text("#!/bin/sh\n" + text + "\n")
        path.chmod(0o755)
        return path

    def marks(self):
        """A program that leaves a mark if somebody starts it."""
        return self.program("marks", f"touch '{self.path}/marked'; cat")

    def search(self, folder, *arguments, measure=LEVEL, good=f"HEAD~{COMMITS - 1}", bad="HEAD",
               **environment):
        return subprocess.run([
            BIN / "nightjar", "bisect", "run", "--repo", folder, "--good", good, "--bad", bad,
            "--measure", measure, "--json", *arguments], capture_output=True, text=True,
                              timeout=300, cwd=self.path, env={**self.environment, **environment})


@pytest.fixture
def home(tmp_path):
    return Home(tmp_path)


def everything_in(folder):
    """Names, kinds, files with their times: of work tree, index, refs, configuration, objects."""
    return {str(path.relative_to(folder)):
            (path.lstat().st_mode, path.is_file() and
             (path.lstat().st_mtime_ns, hashlib.sha256(path.read_bytes()).hexdigest()))
            for path in sorted(folder.rglob("*"))
            if not path.is_relative_to(folder / "home/.local")}


def culprit(done):
    return [step["commits"] for step in json.loads(done.stdout)["culprits"]] if done.stdout else []


def file_of(folder, home, revision):
    """Where a loose object lies."""
    name = home.git(folder, "rev-parse", revision)
    return folder / ".git/objects" / name[:2] / name[2:]


def steady(number):
    return {"steady": "always the same"}


STEADY = "test -f steady && " + LEVEL


def plain(home):
    return home.history(), {}


def blobless(home, what="blob:none"):
    origin = home.history("origin", steady)
    home.git(origin, "config", "uploadpack.allowFilter", "true")
    home.git(origin, "config", "uploadpack.allowAnySHA1InWant", "true")
    home.git(home.path, "clone", "-q", f"--filter={what}", f"file://{origin}", "r")
    return home.path / "r", dict(measure=STEADY)


def treeless(home):
    return blobless(home, "tree:0")


def treeless_without_checkout(home):
    folder, options = blobless(home, "tree:0")
    home.git(home.path, "clone", "-q", "--no-checkout", "--filter=tree:0",
             f"file://{home.path}/origin", "bare")
    shutil.rmtree(folder)
    return home.path / "bare", options


def sha256(home):
    return home.history(options=["--object-format=sha256"]), {}


def default_hash(home):
    return home.history(), dict(GIT_DEFAULT_HASH="sha256")


def rot13(home, scope="--local", name="rot13"):
    folder = home.history(files=lambda number: {".gitattributes": "*.dat filter=rot13",
                                                "secret.dat": f"frperg {number}"})
    for kind in ("clean", "smudge"):
        home.git(folder, "config", scope, f"filter.{name}.{kind}", "tr a-z n-za-m")
    home.git(folder, "config", scope, f"filter.{name}.required", "true")
    return folder, dict(measure="grep -q ^secret secret.dat && " + LEVEL)


def filter_of_a_folder_of_the_user(home):
    folder, options = rot13(home, "--local", "other")
    work = home.path / "home/work.config"
    work.write_text('[filter "rot13"]\n\tsmudge = tr a-z n-za-m\n\tclean = tr a-z n-za-m\n')
    home.settings(f"includeIf.gitdir:{home.path}/r/.path={work}")
    return folder, options


def attributes_of_the_clone(home):
    folder = home.history(files=lambda number: {"text": "one\n"})
    (folder / ".git/info/attributes").write_text("text eol=crlf\n")
    return folder, dict(measure="test $(wc -c < text) = 5 && " + LEVEL)


def cloned(home, *how):
    home.history("origin")
    home.git(home.path, "clone", "-q", *how, "r")
    return home.path / "r", {}


def alternates(home):
    return cloned(home, "--shared", "origin")


def shallow(home):
    return cloned(home, "--depth", COMMITS, f"file://{home.path}/origin")


def bare(home):
    return cloned(home, "--bare", "origin")


def linked_work_tree(home):
    origin = home.history("origin")
    home.git(origin, "worktree", "add", "-q", "--detach", home.path / "r")
    return home.path / "r", {}


def sparse(home):
    folder = home.history(files=lambda number: {f"only{number}": "", **steady(number)})
    home.git(folder, "sparse-checkout", "set", "--no-cone", "n", "steady")
    return folder, dict(measure="test ! -e only1 && " + STEADY)


def replaced(home):
    """The user has replaced the files of one commit."""
    folder = home.history(files=steady)
    old = home.git(folder, "rev-parse", "main:steady")
    (folder / "other").write_text("replaced")
    new = home.git(folder, "hash-object", "-w", "other")
    home.git(folder, "replace", old, new)
    (folder / "other").unlink()
    return folder, dict(measure="grep -q replaced steady && " + LEVEL)


def grafted(home, how):
    """Two commits that have nothing in common, but for what the user says."""
    folder = home.history()
    ancient = home.git(folder, "commit-tree", "main^{tree}", "-m", "ancient")
    first = home.git(folder, "rev-parse", f"HEAD~{COMMITS - 1}")
    if how == "grafts":
        (folder / ".git/info/grafts").write_text(f"{first} {ancient}\n")
    else:
        home.git(folder, "replace", "--graft", first, ancient)
    return folder, dict(measure="test \"$(git log --format=%s | tail -1)\" = ancient && " + LEVEL)


def grafts(home):
    return grafted(home, "grafts")


def replaced_parents(home):
    return grafted(home, "replace")


def lfs_elsewhere(home, scope="--local", storage="../../store"):
    """Objects of Git LFS that lie where the user said, and nowhere else."""
    if not shutil.which("git-lfs"):
        pytest.skip("there is no git-lfs here")
    folder = home.path / "r"
    home.git(home.path, "init", "-q", "-b", "main", folder)
    home.git(folder, "lfs", "install", "--local", "--skip-repo")
    home.git(folder, "config", scope, "lfs.storage", storage)
    (folder / ".gitattributes").write_text("*.bin filter=lfs diff=lfs merge=lfs -text\n")
    for number in range(COMMITS):
        (folder / "n").write_text(str(number))
        (folder / "large.bin").write_text(f"large {number}")
        home.commit(folder, f"commit {number}")
    assert list((home.path / "store").rglob("*")) and not (folder / ".git/lfs/objects").exists()
    return folder, dict(measure="grep -q ^large large.bin && " + LEVEL)


def lfs_in_a_store_of_the_user(home):
    return lfs_elsewhere(home, "--global", str(home.path / "store"))


def crlf_that_never_comes_out_clean(home):
    folder = home.history(files=lambda number: {"dos": f"{number}\r\n"})
    (folder / ".git/info/attributes").write_text("dos text\n")
    return folder, dict(measure="grep -q '\r' dos && " + LEVEL)


def odd_names(home):
    folder = home.history('a "b"\n c')
    return folder, {}


def inside_its_temporary_folder(home):
    folder = home.history()
    (folder / "tmp").mkdir()
    return folder, dict(TMPDIR=str(folder / "tmp"))


def build_without_git(home):
    """As an image's build: it removes .git and cleans up, above which a repository lies."""
    folder, options = inside_its_temporary_folder(home)
    return folder, dict(options, build="rm -rf .git; git clean -fdxq; git checkout -q -- .; true")


def with_submodule(home, name="r"):
    home.git(home.path, "init", "-q", "-b", "main", "inner")
    (home.path / "inner/i").write_text("inner")
    home.commit(home.path / "inner", "inner")
    home.git(home.path, "init", "-q", "-b", "main", "outer")
    home.git(home.path / "outer", "submodule", "--quiet", "add", f"file://{home.path}/inner",
             "deep")
    home.commit(home.path / "outer", "outer")
    folder = home.history(name)
    home.git(folder, "reset", "-q", "--hard", f"HEAD~{COMMITS - 1}")
    home.git(folder, "submodule", "--quiet", "add", f"file://{home.path}/outer", "third party/dep")
    home.git(folder, "submodule", "--quiet", "update", "--init", "--recursive")
    for number in range(COMMITS):
        (folder / "n").write_text(str(number))
        (folder / "again").write_text(str(number))
        home.commit(folder, f"with {number}")
    return folder, dict(measure="test -f 'third party/dep/deep/i' && " + LEVEL)


def submodules_whose_remotes_are_gone(home):
    folder, options = with_submodule(home)
    for gone in ("inner", "outer"):
        (home.path / gone).rename(home.path / f"{gone} moved")
    return folder, options


def submodule_that_is_behind(home):
    """The user has not updated it, so what the commits need is at its remote alone."""
    folder, options = with_submodule(home)
    (home.path / "outer/new").write_text("new")
    home.commit(home.path / "outer", "new")
    home.git(folder, "update-index", "--cacheinfo",
             f"160000,{home.git(home.path / 'outer', 'rev-parse', 'HEAD')},third party/dep")
    home.git(folder, "commit", "-qm", "newer")
    for number in range(COMMITS):
        (folder / "n").write_text(str(number))
        (folder / "again").write_text(f"and again {number}")
        home.git(folder, "commit", "-qm", f"with {number}", "n", "again")
    return folder, dict(measure="test -f 'third party/dep/new' && " + LEVEL)


def submodule_at_another_address(home):
    folder, options = submodules_whose_remotes_are_gone(home)
    shutil.rmtree(folder / ".git/modules")
    home.settings(f"url.file://{home.path}/inner moved.insteadOf=file://{home.path}/inner",
                  f"url.file://{home.path}/outer moved.insteadOf=file://{home.path}/outer")
    return folder, options


def submodule_with_its_own_git_folder(home):
    folder = home.history()
    inner = home.history("r/dep")
    home.git(folder, "submodule", "--quiet", "add", "./dep", "dep")
    home.git(folder, "config", "--file", ".gitmodules", "submodule.dep.url", "file:///nowhere")
    for number in range(COMMITS):
        (folder / "n").write_text(str(number))
        (folder / "again").write_text(str(number))
        home.commit(folder, f"with {number}")
    assert (inner / ".git").is_dir()
    return folder, dict(measure="test -f dep/n && " + LEVEL)


def hooks_and_templates(home):
    """Which would end every checkout."""
    fails = home.path / "templates/hooks"
    fails.mkdir(parents=True)
    for name in ("post-checkout", "post-index-change", "reference-transaction"):
        (fails / name).write_text("#!/bin/sh\nexit 1\n")
        (fails / name).chmod(0o755)
    folder, options = with_submodule(home)
    home.settings(f"init.templateDir={home.path}/templates", f"core.hooksPath={fails}")
    home.git(folder, "config", "core.hooksPath", fails)
    return folder, dict(options, build="git checkout -q HEAD",
                        GIT_TEMPLATE_DIR=str(home.path / "templates"))


def words_of_the_user(home):
    home.settings("log.showSignature=true", "color.ui=always", "log.date=relative",
                  "i18n.logOutputEncoding=latin1", "core.pager=false", "diff.external=/bin/false",
                  "alias.read-tree=status", "fetch.recurseSubmodules=true", "core.fsmonitor=true")
    return home.history(), {}


FOUND = [plain, blobless, treeless, treeless_without_checkout, sha256, default_hash, rot13,
         filter_of_a_folder_of_the_user, attributes_of_the_clone, alternates, shallow, bare,
         linked_work_tree, sparse, replaced, grafts, replaced_parents, lfs_elsewhere,
         lfs_in_a_store_of_the_user, crlf_that_never_comes_out_clean, odd_names,
         inside_its_temporary_folder, build_without_git, with_submodule,
         submodules_whose_remotes_are_gone, submodule_that_is_behind, submodule_at_another_address,
         submodule_with_its_own_git_folder, hooks_and_templates, words_of_the_user]


@pytest.mark.parametrize("case", [pytest.param(case, marks=pytest.mark.first) if case in (
    blobless, submodules_whose_remotes_are_gone) else case for case in FOUND])
def test_the_culprit_is_found_and_nothing_of_the_user_changes(home, case):
    folder, options = case(home)
    (folder / "untracked").write_text("the user's own")
    before = everything_in(home.path)
    arguments = ["--build", options.pop("build")] if "build" in options else []
    done = home.search(folder, *arguments, **options)
    assert culprit(done) == [[home.git(folder, "rev-parse", f"HEAD~{COMMITS - 1 - CULPRIT}")]], \
        done.stderr
    assert done.returncode == 0
    assert everything_in(home.path) == before


def blob_gone(home):
    folder = home.history()
    file_of(folder, home, f"HEAD~{COMMITS - 1 - 3}:n").unlink()
    return folder, "unable to read"


def blob_damaged(home):
    folder = home.history()
    file = file_of(folder, home, f"HEAD~{COMMITS - 1 - 3}:n")
    file.chmod(0o644)
    file.write_bytes(file.read_bytes()[:9] + b"damage")
    return folder, "corrupt"


def tree_gone(home):
    folder = home.history()
    file_of(folder, home, f"HEAD~{COMMITS - 1 - 3}^{{tree}}").unlink()
    return folder, "failed to unpack tree"


def filter_that_fails(home):
    folder = home.history(files=lambda number: {".gitattributes": "*.bin filter=store",
                                                "f.bin": "gone" if number == 3 else "here"})
    home.git(folder, "config", "filter.store.smudge", "grep here")
    home.git(folder, "config", "filter.store.required", "true")
    return folder, "smudge filter store failed"


def submodule_commit_gone(home):
    folder, _ = with_submodule(home)
    nobody = "1234567890" * 4
    home.git(folder, "reset", "-q", "--hard", f"HEAD~{COMMITS - 1 - 1}")
    home.git(folder, "update-index", "--cacheinfo", f"160000,{nobody},third party/dep")
    (folder / "n").write_text("2")
    home.git(folder, "add", "n")
    home.git(folder, "commit", "-qm", "gone")
    home.git(folder, "commit", "-qm", "gone, too", "--allow-empty")
    home.git(folder, "reset", "-q", "--hard", "HEAD")
    return folder, nobody


def submodule_file_gone(home):
    """Git itself ends well where it checks such a submodule out."""
    folder, _ = with_submodule(home)
    inner = folder / ".git/modules/third party/dep/modules/deep"
    name = home.git(inner, f"--work-tree={inner}", "rev-parse", "HEAD:i")
    for pack in (inner / "objects/pack").iterdir():
        pack.rename(home.path / pack.name)
    for pack in home.path.glob("pack-*.pack"):
        subprocess.run(["git", f"--git-dir={inner}", "unpack-objects", "-q"], check=True,
                       stdin=pack.open(), env=home.environment)
    (inner / "objects" / name[:2] / name[2:]).unlink()
    return folder, "unable to read"


@pytest.mark.parametrize("case", [blob_gone, blob_damaged, tree_gone, filter_that_fails])
def test_a_commit_whose_files_git_cannot_make_is_untestable(home, case):
    folder, words = case(home)
    before = everything_in(folder)
    done = home.search(folder, measure="if test -f n; then " + LEVEL + "; else echo 90; fi")
    bad, worse = (home.git(folder, "rev-parse", f"HEAD~{COMMITS - 1 - number}")
                  for number in (CULPRIT - 1, CULPRIT))
    assert culprit(done) == [[bad, worse]], done.stderr
    told = [line for line in done.stderr.splitlines() if line.startswith(bad[:12])]
    assert told and all("is untestable: git cannot make its work tree; git said: " in line and
                        words in line for line in told)
    end = home.search(folder, good=bad)
    assert end.returncode == 3
    assert f"the good end {bad[:12]} cannot be tested: git cannot make" in end.stderr
    assert words in end.stderr.splitlines()[-1]
    assert everything_in(folder) == before


def blobless_without_its_origin(home):
    folder, _ = blobless(home)
    (home.path / "origin").rename(home.path / "moved")
    return folder, "does not appear to be a git repository"


@pytest.mark.parametrize("case", [blobless_without_its_origin, submodule_file_gone,
                                  submodule_commit_gone])
def test_an_end_without_all_its_files_is_not_measured(home, case):
    folder, words = case(home)
    before = everything_in(folder)
    done = home.search(folder, good="HEAD~1", measure="touch '%s/measured'; echo 1" % home.path)
    assert (done.returncode, done.stdout) == (3, "")
    assert "good end" in done.stderr and words in done.stderr.splitlines()[-1]
    assert everything_in(folder) == before and not (home.path / "measured").exists()


def another_owner(home):
    return dict(GIT_TEST_ASSUME_DIFFERENT_OWNER="1"), "dubious ownership"


def broken_settings(home):
    (home.path / "home/.gitconfig").write_text("[core\n")
    return {}, "bad config line 1 in file"


def no_repository(home):
    shutil.rmtree(home.path / "r/.git")
    return {}, "not a git repository"


def no_git(home):
    return dict(PATH="/nowhere"), "is it installed?"


@pytest.mark.parametrize("case", [another_owner, broken_settings, no_repository, no_git])
def test_what_git_says_of_a_repository_is_repeated(home, case):
    folder = home.history()
    options, words = case(home)
    done = home.search(folder, **options)
    assert done.returncode in (2, 3) and len(done.stderr.splitlines()) == 1
    assert words in done.stderr


def test_a_commit_beyond_a_shallow_clone_says_how_to_get_it(home):
    origin = home.history("origin")
    home.git(home.path, "clone", "-q", "--depth", 3, f"file://{origin}", "r")
    done = home.search(home.path / "r", good=home.git(origin, "rev-parse", f"HEAD~{COMMITS - 1}"))
    assert done.returncode == 2 and "--unshallow" in done.stderr


def test_no_setting_of_a_repository_starts_a_program(home):
    folder, options = with_submodule(home)
    signed = home.git(folder, "cat-file", "commit", "HEAD").replace(
        "\n\n",
        "\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n a\n -----END PGP SIGNATURE-----\n\n", 1)
    (folder / "signed").write_text(signed + "\n")
    home.git(folder, "reset", "-q", "--hard",
             home.git(folder, "hash-object", "-t", "commit", "-w", "signed"))
    (folder / "signed").unlink()
    marks = home.marks()
    for key in ("gpg.program", "gpg.ssh.program", "core.fsmonitor", "core.pager", "pager.log",
                "pager.config", "core.editor", "diff.external", "core.alternateRefsCommand",
                "core.gitProxy", "core.askPass", "remote.origin.uploadpack", "remote.origin.vcs",
                "uploadpack.packObjectsHook", "interactive.diffFilter", "diff.x.textconv",
                "diff.x.command", "merge.x.driver", "sequence.editor", "receive.procReceiveRefs",
                "submodule.x.update"):
        home.git(folder, "config", key, marks)
    for key in ("alias.log", "alias.read-tree", "alias.rev-parse", "alias.submodule",
                "submodule.third party/dep.update"):
        home.git(folder, "config", key, f"!{marks}")
    home.git(folder, "config", "log.showSignature", "true")
    (folder / ".git/info/attributes").write_text("* diff=x merge=x\n")
    (folder / ".git/hooks/post-checkout").write_text(marks.read_text())
    (folder / ".git/hooks/post-checkout").chmod(0o755)
    done = home.search(folder, bad=f"HEAD~{COMMITS - 1 - CULPRIT}", **options)
    facts = json.loads(done.stdout)["culprits"][0]["facts"][0]
    assert (facts["author"], facts["subject"]) == ("n", f"with {CULPRIT}")
    assert not (home.path / "marked").exists()


STARTERS = {
    "hook": ["commit", "-q", "--allow-empty", "-m", "more"],
    "alias": ["search"],
    "rebase": ["rebase", "-q", "--exec", "sh ../search.sh", "HEAD~1"],
    "bisect": ["bisect", "run", "sh", "../search.sh"],
}


@pytest.mark.parametrize("how", STARTERS)
def test_a_search_that_git_starts_measures_its_own_work_trees(home, how):
    folder = home.history()
    wanted = home.git(folder, "rev-parse", f"HEAD~{COMMITS - 1 - CULPRIT}")
    ends = [home.git(folder, "rev-parse", f"HEAD~{back}") for back in (COMMITS - 1, 0)]
    script = home.program("search.sh", (
        f"cd '{folder}'; '{BIN}/nightjar' bisect run --good {ends[0]} --bad {ends[1]} --json "
        "--build 'git clean -fdxq && git checkout -q -- .' --measure '"
        'test "$(git rev-parse HEAD)" = "$NIGHTJAR_COMMIT" && test -z "$GIT_DIR$GIT_INDEX_FILE" && '
        + LEVEL.replace("'*'", '"*"').replace("'('", '"("').replace("')'", '")"').replace(
            "'>='", '">="') + f"' > '{home.path}/out' 2> '{home.path}/said'"))
    (folder / "untracked").write_text("the user's own")
    (folder / ".git/hooks/post-commit").write_text(f"#!/bin/sh\nsh '{script}'\n")
    if how == "hook":
        (folder / ".git/hooks/post-commit").chmod(0o755)
    home.git(folder, "config", "alias.search", f"!sh '{script}'")
    if how == "bisect":
        home.git(folder, "bisect", "start", "HEAD", f"HEAD~{COMMITS - 1}")
    named = dict(GIT_DIR=str(folder / ".git"), GIT_WORK_TREE=str(folder)) if how == "alias" else {}
    home.git(folder, *STARTERS[how], **named)
    answer = json.loads((home.path / "out").read_text() or "{}")
    assert answer, (home.path / "said").read_text()
    assert [step["commits"] for step in answer["culprits"]] == [[wanted]]
    assert (folder / "untracked").read_text() == "the user's own"


LOSSES = {"says so": "exit 125", "breaks": "echo no >&2; exit 1", "crashes": "kill -9 $$",
          "hangs": "sleep 60", "prints nothing": "exit 0"}


@pytest.mark.parametrize("how", LOSSES)
def test_a_lost_run_condemns_no_commit_not_even_an_end(home, how):
    """Every fourth run is lost, the first among them."""
    folder = home.history()
    log = home.path / "log"
    log.touch()
    lose = f"k=$(wc -l < '{log}'); echo >> '{log}'; test $((k % 4)) != 0 || {{ {LOSSES[how]}; }}; "
    done = home.search(folder, "--timeout", ".5", measure=lose + LEVEL)
    assert culprit(done) == [[home.git(folder, "rev-parse", f"HEAD~{COMMITS - 1 - CULPRIT}")]], \
        done.stderr
    assert done.stderr.count(" is lost, it is measured again") >= 3
    assert "untestable" not in done.stderr.replace("it is untestable (exit", "")


@pytest.mark.parametrize("back, told", [(COMMITS - 1 - CULPRIT + 1, "is untestable: its measure"),
                                        (0, "the bad end")])
def test_a_commit_that_loses_three_of_four_runs_after_its_first_is_untestable(home, back, told):
    folder = home.history()
    lost = home.git(folder, "rev-parse", f"HEAD~{back}")
    lose = f'test "$NIGHTJAR_COMMIT" != {lost} || ! test -e again || exit 1; touch again; '
    done = home.search(folder, measure=lose + LEVEL)
    assert told in done.stderr and "ended with exit code 1" in done.stderr
    if back:
        wanted = home.git(folder, "rev-parse", f"HEAD~{COMMITS - 1 - CULPRIT}")
        assert done.returncode == 0 and culprit(done) == [[lost, wanted]]
    else:
        assert done.returncode == 3 and "cannot be tested" in done.stderr.splitlines()[-1]


def test_without_a_state_file_what_was_measured_is_offered_at_the_next_start(home):
    folder = home.history()
    wait = home.path / "wait"
    measure = f"test ! -e '{wait}' || sleep 60; echo >> '{home.path}/log'; {LEVEL}"
    arguments = [BIN / "nightjar", "bisect", "run", "--repo", folder, "--good",
                 f"HEAD~{COMMITS - 1}", "--bad", "HEAD", "--measure", measure]
    process = subprocess.Popen(arguments, stderr=subprocess.PIPE, text=True, env=home.environment)
    states = home.path / "home/.local/state/nightjar"
    while not list(states.glob("*.json")):
        assert process.poll() is None
        time.sleep(.02)
    process.send_signal(signal.SIGINT)
    said = process.communicate(timeout=30)[1]
    (state,) = states.glob("*.json")
    assert process.returncode == 1
    assert said.endswith(f"nightjar: stopped; the same command with --state {state} goes on\n")
    measured = len(json.loads(state.read_text())["runs"])
    assert measured > 0
    copy = home.path / "copy.json"
    shutil.copy(state, copy)
    done = home.search(folder, measure=measure)
    assert (f"an earlier search kept {measured} runs; to go on from there: --state {state}"
            in done.stderr)
    assert not list(states.iterdir())  # it is answered
    again = home.search(folder, "--state", copy, measure=measure)
    assert json.loads(again.stdout)["runs"] == json.loads(done.stdout)["runs"]


def test_nothing_is_kept_in_the_repository(home):
    folder = home.history()
    before = everything_in(folder)
    done = home.search(folder, XDG_STATE_HOME=str(folder / "state"))
    assert done.returncode == 0 and everything_in(folder) == before


@pytest.mark.parametrize("place", ["missing", "file"])
def test_a_temporary_folder_that_cannot_be_used_is_named(home, place):
    (home.path / "file").touch()
    done = home.search(home.history(), TMPDIR=str(home.path / place))
    assert done.returncode == 3 and len(done.stderr.splitlines()) == 1
    assert f"{home.path / place} for work trees" in done.stderr and "TMPDIR" in done.stderr


def test_control_bytes_of_a_measure_and_of_a_commit_reach_no_terminal(home):
    folder = home.history()
    home.git(folder, "-c", "user.name=red \x1b[31m", "commit", "-q", "--amend", "-m",
             "sub\x1b]0;title\x07 \u202e")
    for printed, shown in {r"\033[32m12.5\033[0m": r"'\x1b[32m12.5\x1b[0m'",
                           r"12.5\0ms": r"'12.5\x00ms'", r" 10 %%\r12.5": r"'10 %\x0d12.5'",
                           r"\3771": r"'\xff1'"}.items():
        done = home.search(folder, measure=f"printf '{printed}'")
        assert f"printed {shown}; its last line must be one number" in done.stderr.splitlines()[-1]
        assert not set(done.stderr) & set("\x1b\r\0\x07")
    done = subprocess.run([
        BIN / "nightjar", "bisect", "run", "--repo", folder, "--good", "HEAD~2", "--bad", "HEAD",
        "--measure", f"expr 10 + 10 '*' '(' $(git rev-list --count HEAD) '>' {COMMITS - 1} ')'"],
                          capture_output=True, text=True, env=home.environment)
    assert "sub ]0;title" in done.stdout, done.stderr
    assert not set(done.stdout + done.stderr) & set("\x1b\x07\u202e")


def test_a_path_leaves_only_the_commits_that_changed_something_there(home):
    folder = home.history(files=lambda number: {"side": str(number // 2)})
    done = home.search(folder, "--path", "side")
    commits = home.git(folder, "rev-list", "--first-parent", "--reverse", "HEAD", "--",
                       "side").split()
    assert "searching 3 commits" in done.stderr, done.stderr
    assert culprit(done) == [[commits[CULPRIT // 2]]]
    missing = home.search(folder, "--path", "nowhere")
    assert missing.returncode == 2 and "no commit in between changed a --path" in missing.stderr


def test_a_commit_that_breaks_a_flaky_test_is_named_with_failure_rates(home):
    folder = home.history()
    done = home.search(folder, "--find", "broken", measure=f"test $(cat n) -lt {CULPRIT}")
    step = json.loads(done.stdout)["culprits"][0]
    assert step["commits"] == [home.git(folder, "rev-parse", f"HEAD~{COMMITS - 1 - CULPRIT}")]
    assert step["change"]["ratio"] is None
    assert step["before"]["location"] == 0 and step["after"]["location"] == 1
    quiet = home.search(folder, "--find", "broken", measure="true")
    assert quiet.returncode == 1 and json.loads(quiet.stdout)["outcome"] == "not_reproduced"


def memory_groups():
    """The folder in which this process's groups of memory can be made; None: there is none."""
    for line in pathlib.Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        folder = pathlib.Path("/sys/fs/cgroup/memory" + path)
        if controllers == "memory" and os.access(folder, os.W_OK):
            return folder
    return None


@pytest.mark.skipif(not memory_groups(), reason="no groups of memory (cgroup v1) can be made here")
def test_a_search_leaves_the_groups_of_other_living_programs_alone(home):
    dead = subprocess.Popen(["true"])
    dead.wait()
    living = memory_groups() / f"nightjar-run-{os.getpid()}"
    left_over = memory_groups() / f"nightjar-run-{dead.pid}"
    for group in (living, left_over):
        group.mkdir()
    try:
        home.search(home.history(), "--find", "broken", measure="true")
        assert living.is_dir() and not left_over.exists()
    finally:
        living.rmdir()
